/**
 * Lets xterm.js live under `style-src 'self'`: it makes style elements and style attributes, which the policy refuses,
 * where a constructed sheet and the CSSOM, which it allows, do the same.
 */

let done = false;

/** Adapt this document, once. Nothing else on this page makes style elements or sets style attributes. */
export function allowTerminalStyles() {
  if (done) return;
  done = true;
  const create = document.createElement.bind(document);
  /** @param {string} name @param {ElementCreationOptions} [options] */
  const createElement = (name, options) => {
    return name.toLowerCase() === "style" ? sheetInstead(create("template")) : create(name, options);
  };
  document.createElement = /** @type {typeof document.createElement} */ (createElement);

  const set = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style" && this instanceof HTMLElement) this.style.cssText = value;
    else set.call(this, name, value);
  };
}

/**
 * An inert element whose text goes to a constructed sheet until it is removed.
 *
 * @param {HTMLElement} element
 */
function sheetInstead(element) {
  const sheet = new CSSStyleSheet();
  let text = "";
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", {
    get: () => text,
    set: (value) => {
      text = String(value);
      sheet.replaceSync(text);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adopted) => adopted !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
