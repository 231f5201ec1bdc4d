/** Pieces of output by event, in order, bounded by their length. Pure. */

/** @typedef {{ sequence: number, text: string }} Piece */

export class Pieces {
  /** @type {Piece[]} */
  list = [];
  /** Characters held. */
  length = 0;
  /** Everything after this sequence, up to `through`, is held: output as a piece, other events as nothing. */
  after = 0;
  through = 0;

  /** @param {number} after  nothing is held, and what comes next follows this sequence */
  reset(after) {
    this.list = [];
    this.length = 0;
    this.after = this.through = after;
  }

  /** @param {number} through @param {Piece | null} piece */
  append(through, piece) {
    this.through = through;
    if (!piece) return;
    this.list.push(piece);
    this.length += piece.text.length;
  }

  /** @param {Piece[]} pieces @param {number} through  everything up to it is held then */
  extend(pieces, through) {
    for (const piece of pieces) this.append(piece.sequence, piece);
    this.through = through;
  }

  /** @param {number} after @param {Piece[]} pieces  what lies between `after` and what is held */
  prepend(after, pieces) {
    this.after = after;
    this.list = [...pieces, ...this.list];
    for (const { text } of pieces) this.length += text.length;
  }

  /** Drop the oldest until at most `bound` characters are held. @param {number} bound */
  trimStart(bound) {
    let drop = 0;
    while (this.length > bound && drop < this.list.length - 1) {
      const piece = /** @type {Piece} */ (this.list[drop]);
      this.length -= piece.text.length;
      this.after = piece.sequence;
      drop += 1;
    }
    if (drop) this.list.splice(0, drop);
  }

  /** Drop the newest until at most `bound` characters are held. @param {number} bound */
  trimEnd(bound) {
    while (this.length > bound && this.list.length > 1) {
      const piece = /** @type {Piece} */ (this.list.pop());
      this.length -= piece.text.length;
      this.through = piece.sequence - 1;
    }
  }

  /** Forget what is at or before `sequence`. @param {number} sequence */
  dropThrough(sequence) {
    let drop = 0;
    for (const piece of this.list) {
      if (piece.sequence > sequence) break;
      this.length -= piece.text.length;
      drop += 1;
    }
    this.list.splice(0, drop);
    this.after = Math.max(this.after, sequence);
  }

  /** @param {number} sequence @returns {Piece[]} the pieces after it */
  later(sequence) {
    const first = this.list.findIndex((piece) => piece.sequence > sequence);
    return first < 0 ? [] : this.list.slice(first);
  }
}

/** @param {{ sequence: number, type: string, data: any }} event @returns {Piece | null} its output, if it is some */
export function pieceOf({ sequence, type, data }) {
  const text = type === "subprocess_output" || type === "output" ? data?.content : undefined;
  return typeof text === "string" && text !== "" ? { sequence, text } : null;
}

/** @param {string} text @returns {number} how many lines end in it */
export function linesIn(text) {
  let found = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) found += 1;
  return found;
}

/**
 * Cut text into parts of about `length`, never between the halves of a surrogate pair.
 *
 * @param {string} text
 * @param {number} length
 */
export function* cut(text, length) {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + length, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}
