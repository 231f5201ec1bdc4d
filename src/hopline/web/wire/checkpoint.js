/**
 * Puts the list of active executions together: whole in a batch, or in parts directly after the last frame of one
 * (docs/wire/client.md, "Deferred checkpoints"). A list is told when its digest matches, and never half.
 */

/** @import { ActiveExecution, ActiveExecutionsChunk, EventBatch } from "./types.js" */

export const MAX_PARTS = 256;
/** Code points of one part, each at most two of a string's units. */
const MAX_PART_LENGTH = 2 * 65_536;

/** The parts are not what the contract promises: whoever reads them hangs up and dials again. */
export class Fault extends Error {}

/** @typedef {{ id: string, through: number, store: string, floor: number, parts: number, payloads: string[] }} Transfer */

export class Checkpoint {
  #onList;
  #onFault;
  /** @type {Transfer | null} */
  #transfer = null;
  /** Changes with every batch, so that a list whose digest took longer than the next batch is dropped. */
  #epoch = 0;

  /** @param {(list: ActiveExecution[]) => void} onList @param {() => void} onFault  a digest that was wrong */
  constructor(onList, onFault) {
    this.#onList = onList;
    this.#onFault = onFault;
  }

  /**
   * Take every message of a stream, in order.
   *
   * @param {any} message
   * @throws {Fault}
   */
  heard(message) {
    switch (message.type) {
      case "event_batch":
        return this.#batch(message);
      case "active_executions_chunk":
        return this.#part(message);
      case "subscribed":
        this.#transfer = null;
        this.#epoch += 1;
        return;
      default:
        if (this.#transfer?.payloads.length) throw new Fault("a message between the parts of a list");
    }
  }

  /** A new batch supersedes what was under way. @param {EventBatch} batch */
  #batch(batch) {
    this.#transfer = null;
    this.#epoch += 1;
    if (Array.isArray(batch.active_executions)) this.#onList(batch.active_executions);
    else if (batch.active_executions_checkpoint_id) {
      const { active_executions_checkpoint_id: id, through_sequence: through, store_id: store, history_after_sequence: floor } = batch;
      this.#transfer = { id, through, store, floor, parts: 0, payloads: [] };
    }
  }

  /** @param {ActiveExecutionsChunk} chunk */
  #part(chunk) {
    const transfer = this.#transfer;
    if (!transfer) throw new Fault("a part of a list that was not announced");
    const same =
      chunk.checkpoint_id === transfer.id &&
      chunk.through_sequence === transfer.through &&
      chunk.store_id === transfer.store &&
      chunk.history_after_sequence === transfer.floor &&
      (transfer.parts === 0 || chunk.parts === transfer.parts);
    const inBounds = chunk.parts >= 1 && chunk.parts <= MAX_PARTS && chunk.payload.length <= MAX_PART_LENGTH;
    if (!same || !inBounds || chunk.part !== transfer.payloads.length) throw new Fault("a part that does not belong here");
    transfer.parts = chunk.parts;
    transfer.payloads.push(chunk.payload);
    if (transfer.payloads.length < transfer.parts) return;
    this.#transfer = null;
    void this.#whole(transfer);
  }

  /** @param {Transfer} transfer */
  async #whole({ id, payloads }) {
    const text = payloads.join("");
    const epoch = this.#epoch;
    try {
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
      if (Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") !== id) throw new Fault("another digest");
      if (epoch === this.#epoch) this.#onList(JSON.parse(text));
    } catch {
      if (epoch === this.#epoch) this.#onFault();
    }
  }
}
