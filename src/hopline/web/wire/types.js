/**
 * The shapes of the client wire that this page reads (docs/wire/client.md) and of the listing (docs/wire/gateway.md).
 *
 * @typedef {import("./wire.js").Ack} Ack
 * @typedef {import("./wire.js").ActiveExecution} ActiveExecution
 * @typedef {import("./wire.js").ActiveExecutionsChunk} ActiveExecutionsChunk
 * @typedef {import("./wire.js").Diagnostic} Diagnostic
 * @typedef {import("./wire.js").RunEvent} RunEvent
 * @typedef {import("./wire.js").Subscribed} Subscribed
 * @typedef {import("./wire.js").EventBatch} EventBatch
 * @typedef {import("./wire.js").SingleEvent} SingleEvent
 * @typedef {import("./wire.js").ProtocolError} ProtocolError
 * @typedef {import("./wire.js").Response} Response
 * @typedef {import("./wire.js").RunSnapshot} RunSnapshot
 * @typedef {import("./wire.js").Span} Span
 *
 * @typedef {object} Row
 * @property {string} id
 * @property {string} name
 * @property {string} status
 * @property {boolean} live
 * @property {string[]} command
 * @property {string} cwd
 * @property {string} runner
 * @property {number} generation
 * @property {string} started_at
 * @property {string | null} ended_at
 * @property {number | null} exit_code
 * @property {number | null} signal
 * @property {string | null} waiting
 * @property {number} bytes
 * @property {number[]} rates
 * @property {string | null} descendants
 * @property {number} survivors
 * @property {boolean} pty
 * @property {number | null} columns
 * @property {number | null} rows
 *
 * @typedef {object} RunsFrame
 * @property {"runs"} type
 * @property {boolean} full
 * @property {string} hostname
 * @property {string} now
 * @property {Row[]} rows
 * @property {string[]} removed
 * @property {string[]} unreadable
 * @property {number} older
 */

export {};
