/** Requests to one run over one socket: one after another, one Response each, dialled when first needed. */

import { Disconnected, open } from "./socket.js";

/** @import { Response } from "./types.js" */
/** @import { Connection } from "./socket.js" */

export const REQUEST_MILLIS = 30_000;

/** The run refused; `message` is for the person. */
export class RequestFailed extends Error {
  /** @param {Response} response */
  constructor(response) {
    super(response.diagnostic?.summary ?? response.error ?? "The run refused.");
    this.code = response.diagnostic?.code ?? "";
  }
}

/** @returns {string} 32 random hex digits */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Requests {
  #path;
  #clientId;
  /** @type {Promise<Connection> | null} */
  #connection = null;
  /** @type {Map<string, { resolve: (response: Response) => void, reject: (error: Error) => void }>} */
  #pending = new Map();
  /** Requests without their Response. */
  #under = 0;

  /**
   * @param {string} runId
   * @param {string} clientId  the same for every socket of this page (WP-IDENTITY)
   */
  constructor(runId, clientId) {
    this.#path = `/runs/${runId}/ws`;
    this.#clientId = clientId;
  }

  /**
   * Ask, and wait for the Response.
   *
   * @param {string} type
   * @param {object} [fields]
   * @param {number} [millis]  0 waits as long as it takes
   * @returns {Promise<Response>}
   * @throws {RequestFailed} the run said no
   * @throws {Disconnected} it is not known what became of the request
   */
  async ask(type, fields = {}, millis = REQUEST_MILLIS) {
    this.#under += 1;
    try {
      return await this.#answer(type, fields, millis);
    } finally {
      this.#under -= 1;
    }
  }

  /** End the connection unless something is asked. */
  rest() {
    if (this.#under === 0) this.close();
  }

  /** @param {string} type @param {object} fields @param {number} millis @returns {Promise<Response>} */
  async #answer(type, fields, millis) {
    this.#connection ??= this.#dial();
    const connection = await this.#connection;
    const request_id = newId();
    /** @type {Promise<Response>} */
    const answer = new Promise((resolve, reject) => {
      this.#pending.set(request_id, { resolve, reject });
      if (millis) setTimeout(() => this.#settle(request_id, new Disconnected("no answer")), millis);
    });
    connection.send({ type, protocol_version: 1, request_id, client_id: this.#clientId, ...fields });
    const response = await answer;
    if (!response.ok) throw new RequestFailed(response);
    return response;
  }

  /** End the connection; what is pending is rejected. It is dialled again when something is asked. */
  close() {
    this.#connection?.then(
      (connection) => connection.close(),
      () => {},
    );
    this.#lost("closed");
  }

  async #dial() {
    try {
      return await open(
        this.#path,
        (message) => this.#received(message),
        (reason) => this.#lost(reason),
      );
    } catch (error) {
      this.#connection = null;
      throw error;
    }
  }

  /** @param {any} message */
  #received(message) {
    if (message.type === "protocol_error") {
      for (const id of [...this.#pending.keys()]) this.#settle(id, new Disconnected(message.message));
    } else {
      this.#settle(message.request_id, message);
    }
  }

  /** @param {string} reason */
  #lost(reason) {
    this.#connection = null;
    for (const id of [...this.#pending.keys()]) this.#settle(id, new Disconnected(reason));
  }

  /**
   * @param {string} id
   * @param {Response | Error} outcome
   */
  #settle(id, outcome) {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    if (outcome instanceof Error) waiting?.reject(outcome);
    else waiting?.resolve(outcome);
  }
}
