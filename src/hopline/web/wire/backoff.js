/** Waits between attempts: half a second, doubled to eight, until one succeeds (docs/wire/client.md, "Resume"). */

export const FIRST_MILLIS = 500;
export const LONGEST_MILLIS = 8000;

export class Backoff {
  #next = FIRST_MILLIS;

  /** How long to wait before the next attempt. */
  take() {
    const wait = this.#next;
    this.#next = Math.min(wait * 2, LONGEST_MILLIS);
    return wait;
  }

  /** An attempt succeeded. */
  reset() {
    this.#next = FIRST_MILLIS;
  }
}

/** A timer that can be cut short: by the network coming back, by the page being shown, by a person. */
export class Pause {
  /** @type {(() => void) | null} */
  #end = null;

  /** @param {number} millis */
  wait(millis) {
    return new Promise((/** @type {(_: void) => void} */ resolve) => {
      const timer = setTimeout(() => this.skip(), millis);
      this.#end = () => (clearTimeout(timer), (this.#end = null), resolve());
    });
  }

  /** End the wait now, if there is one. */
  skip() {
    this.#end?.();
  }
}
