/**
 * Keeps a page from answering a program's questions to its terminal (where is the cursor, what are you, which colour):
 * each page would answer, late, and again at every replay. Whoever is attached raw answers.
 */

/** @import { Terminal } from "@xterm/xterm" */

/** @param {Terminal} terminal */
export function silence({ parser }) {
  const swallow = () => true;
  for (const id of [
    { final: "c" },
    { prefix: ">", final: "c" },
    { prefix: "=", final: "c" },
    { final: "n" },
    { prefix: "?", final: "n" },
    { intermediates: "$", final: "p" },
    { prefix: "?", intermediates: "$", final: "p" },
    { prefix: ">", final: "q" },
  ]) {
    parser.registerCsiHandler(id, swallow);
  }
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, swallow);
  parser.registerDcsHandler({ intermediates: "+", final: "q" }, swallow);
  for (const code of [4, 10, 11, 12]) parser.registerOscHandler(code, (data) => data.includes("?"));
}
