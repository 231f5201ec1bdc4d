/** What waits for a person, where they see it without looking at the page: its title and its icon. */

const icon = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]"));

/** @param {string} title @param {number} waiting  how many runs wait for an answer */
export function showAttention(title, waiting) {
  const wanted = waiting ? `(${waiting}) ${title}` : title;
  if (document.title !== wanted) document.title = wanted;
  const name = waiting === 0 ? "icon" : `waiting-${Math.min(waiting, 10)}`;
  const href = `/assets/icons/${name}.svg`;
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}
