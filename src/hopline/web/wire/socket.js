/** One WebSocket of this gateway: JSON messages in and out, opened within a deadline, closed once. */

export const CONNECT_MILLIS = 5000;

/** The gateway could not be reached, or the connection ended while something was asked. */
export class Disconnected extends Error {}

/** The gateway is there and does not let this page in any more. */
export class Refused extends Error {}

/**
 * @typedef {object} Connection
 * @property {(message: object) => void} send
 * @property {() => void} close  no callback follows
 */

/**
 * Open a socket.
 *
 * @param {string} path  below this origin; nothing is ever sent to another
 * @param {(message: any, size: number) => void} onMessage  a parsed message and its length in characters
 * @param {(reason: string) => void} onClose  once, after the connection has ended by itself
 * @returns {Promise<Connection>}
 * @throws {Disconnected} the gateway is not there
 * @throws {Refused} it is, and wants to be opened anew
 */
export async function open(path, onMessage, onClose) {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}${path}`);
  let over = false;
  const opened = await new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), CONNECT_MILLIS);
    socket.onopen = () => (clearTimeout(timer), resolve(true));
    socket.onclose = () => (clearTimeout(timer), resolve(false));
  });
  if (!opened) {
    socket.onopen = socket.onclose = null;
    socket.close();
    throw (await refused()) ? new Refused("this page's session is over") : new Disconnected("unreachable");
  }
  socket.onclose = (event) => {
    if (over) return;
    over = true;
    onClose(event.reason || (event.code === 1000 ? "closed" : "lost"));
  };
  socket.onmessage = ({ data }) => {
    if (over) return;
    try {
      onMessage(JSON.parse(data), data.length);
    } catch (error) {
      over = true;
      socket.close();
      onClose(error instanceof Error ? error.message : "not understood");
    }
  };
  return {
    send: (message) => socket.send(JSON.stringify(message)),
    close: () => {
      over = true;
      socket.close();
    },
  };
}

/** A browser does not say why a socket did not open; a plain request does. */
async function refused() {
  try {
    const answer = await fetch("/", { cache: "no-store", credentials: "same-origin" });
    return answer.status === 403;
  } catch {
    return false;
  }
}
