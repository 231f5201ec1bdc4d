/**
 * Keeps a flood from drowning the page: leaves the stream while there is more than can be shown, comes back to exactly
 * where it was, or, when that is hopelessly far behind and the person follows what is live, to the newest. Pure.
 */

/** Characters that wait to be shown, past which the stream is left, and below which it is taken up again. */
export const HIGH = 6_000_000;
export const LOW = 500_000;
/** Characters behind, by estimate, past which a page that follows goes on with the newest instead. */
export const HOPELESS = 8_000_000;
/** How long a page must be hidden before its stream is left. */
export const HIDDEN_MILLIS = 10_000;

export class Pace {
  /** Characters of one event, on average of late. */
  #each = 300;
  #held = false;

  /** A message came. @param {number} events @param {number} size */
  received(events, size) {
    if (events) this.#each += (size / events - this.#each) * Math.min(0.5, events / 100);
  }

  /**
   * What to do now that this many characters wait.
   *
   * @param {number} backlog
   * @returns {"hold" | "resume" | null}
   */
  decide(backlog) {
    if (!this.#held && backlog > HIGH) {
      this.#held = true;
      return "hold";
    }
    if (this.#held && backlog < LOW) {
      this.#held = false;
      return "resume";
    }
    return null;
  }

  /** Whether this many events are too many to be shown one after another. @param {number} behind */
  hopeless(behind) {
    return behind * this.#each > HOPELESS;
  }
}
