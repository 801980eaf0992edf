// Questions to the person at the page. Whoever decides something gives a name; it is remembered in this browser.

import { byId, fill, make } from "./dom.js";

const NAME = "trainmaster.name";

/** Ask for a signed decision; gives the fields, `by` among them, or null when it was called off. */
export async function decide({ title, text, confirm, isGrave = false, fields = [] }) {
  const by = make("input", { name: "by", required: true, maxlength: "128", autocomplete: "name", value: localStorage.getItem(NAME) ?? "" });
  const answer = await ask({
    title,
    text,
    confirm,
    isGrave,
    parts: [...fields.map(({ name, element, text: said }) => labelled(said, withName(element, name))), labelled("Your name, for the record", by)],
  });
  if (answer) localStorage.setItem(NAME, answer.by);
  return answer;
}

/** Ask for the token of the feed. */
export function askToken(text) {
  const token = make("input", { name: "token", type: "password", required: true, autocomplete: "off" });
  return ask({ title: "This feed asks for a token", text, confirm: "Open", parts: [labelled("Token", token)] });
}

function ask({ title, text, confirm, isGrave = false, parts }) {
  const dialog = byId("dialog");
  const form = make(
    "form",
    { method: "dialog" },
    make("h2", {}, title),
    text && make("p", {}, text),
    parts,
    make(
      "div",
      { class: "buttons" },
      make("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"),
      make("button", { class: isGrave ? "main grave" : "main", value: "yes" }, confirm),
    ),
  );
  fill(dialog, form);
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes" ? read(form) : null), { once: true });
    dialog.returnValue = "";
    dialog.showModal();
    const empty = [...form.querySelectorAll("input")].find((input) => !input.value && input.required);
    (empty ?? form.querySelector("button.main")).focus();
  });
}

function read(form) {
  const values = {};
  for (const field of form.querySelectorAll("input, select")) {
    values[field.name] = field.type === "checkbox" ? field.checked : field.value.trim();
  }
  return values;
}

function withName(element, name) {
  element.name = name;
  return element;
}

function labelled(text, input) {
  const isBox = input.type === "checkbox";
  return make("label", { class: isBox ? "field box" : "field" }, isBox ? [input, text] : [make("span", {}, text), input]);
}
