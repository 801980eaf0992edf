// Elements from plain data. Whatever comes from outside becomes text, never markup.

/** Make an element. `attributes`: class, aria-*, listeners as functions (`onclick`), booleans set or leave out. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

/** Put children into an element in place of what was there. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child != null && child !== false));
}

export const byId = (id) => document.getElementById(id);

/** A meter from 0 to 1 that is also readable as text beside it. */
export function meter(share) {
  const bar = make("span", { class: "meter", "aria-hidden": "true" }, make("span"));
  bar.firstChild.style.width = `${Math.round(Math.max(0, Math.min(1, share)) * 100)}%`;
  return bar;
}
