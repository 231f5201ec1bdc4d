/** A module that did not come is remembered by the browser as broken; only a new load of the page asks for it again. */

const POLL_MILLIS = 1000;

/** @param {() => boolean} reachable  whether the gateway is there again */
export function reloadOnce(reachable) {
  const timer = setInterval(() => {
    if (!reachable()) return;
    clearInterval(timer);
    location.reload();
  }, POLL_MILLIS);
}
