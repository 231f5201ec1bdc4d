/**
 * The shapes of the client wire that this page reads (docs/wire/client.md) and of the listing (docs/wire/gateway.md).
 *
 * @typedef {{ id: string, code: string, summary: string, detail?: string | null, hint?: string | null }} Diagnostic
 *
 * @typedef {object} RunEvent
 * @property {number} sequence
 * @property {string} run_id
 * @property {string} timestamp
 * @property {string} type
 * @property {string} text
 * @property {Diagnostic | null} diagnostic
 * @property {string | null} status
 * @property {Record<string, unknown> & { kind: string } | null} data
 * @property {boolean} [truncated]
 *
 * @typedef {object} Subscribed
 * @property {"subscribed"} type
 * @property {string} run_id
 * @property {number} latest_sequence
 *
 * @typedef {object} EventBatch
 * @property {"event_batch"} type
 * @property {RunEvent[]} events
 * @property {number} through_sequence
 * @property {string} store_id
 * @property {number} history_after_sequence
 * @property {boolean} rebootstrap
 *
 * @typedef {{ type: "event", event: RunEvent }} SingleEvent
 *
 * @typedef {object} ProtocolError
 * @property {"protocol_error"} type
 * @property {string} code
 * @property {string} message
 * @property {Diagnostic | null} diagnostic
 *
 * @typedef {object} Response
 * @property {string} request_id
 * @property {boolean} ok
 * @property {string | null} error
 * @property {Diagnostic | null} diagnostic
 * @property {{ action: string, status: string } | null} ack
 * @property {RunEvent[]} events
 * @property {{ sequence: number, status: string } | null} snapshot
 *
 * @typedef {{ reason: string | null, descendants: string | null, survivors: number }} Aftermath
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
 * @property {Aftermath | null} aftermath
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
