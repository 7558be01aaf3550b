// Text: HTML elements, and the data that the page contains.

const data = JSON.parse(document.getElementById("data").textContent);
let rows, count; // the list, column by column; `begin` reads it

async function begin() {
  rows = await inflate("rows");
  count = rows.name.length;
}

// A text whose characters that are not printable are written as escapes, as verale.report.templates.printable_on_pages
// does, but for those that HTML shows as spaces. Names come from files that anybody may have written: one that overrides
// the direction of what follows would turn the digits of proved numbers around. Joiners within a word or an emoji stay.
function printable(text) {
  return text.replace(/(?![\t\n\r\f]|(?<=[\p{L}\p{M}\p{S}])[\u200c\u200d](?=[\p{L}\p{M}\p{S}]))[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0).toString(16);
    return code.length < 3 ? "\\x" + code.padStart(2, "0") : code.length < 5 ? "\\u" + code.padStart(4, "0") : "\\U" + code.padStart(8, "0");
  });
}

// An element. Strings become printable text, never markup.
function el(tag, attributes = {}, ...children) {
  const element = tag.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, action] of Object.entries(value)) element.addEventListener(event, action);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, printable(String(value)));
  }
  const shown = children.flat().filter((child) => child !== null && child !== undefined && child !== "");
  element.append(...shown.map((child) => (child instanceof Node ? child : printable(String(child)))));
  return element;
}

function className(index) {
  return index === null ? "" : data.classes && index < data.classes.length ? data.classes[index] : String(index);
}

function plural(number, noun) {
  return number + " " + noun + (number === 1 ? "" : noun.endsWith("ch") ? "es" : "s");
}

function badge(status) {
  return el("span", { class: "badge " + status }, status.replace("_", " "));
}

// The details of a certificate, or null where the page leaves them out. A block has those of some, column by column.
async function detailOf(row) {
  const number = rows.full[row];
  if (number < 0) return null;
  const block = data.blocks.findLastIndex((first) => first <= number), place = number - data.blocks[block];
  const detail = Object.fromEntries(Object.entries(await inflate("d" + block)).map(([name, values]) => [name, values[place]]));
  return { ...detail, heat: lines(detail.heat) };
}

// The lines of a table that the page holds column by column.
function lines(columns) {
  return columns[0].map((_, line) => columns.map((column) => column[line]));
}

// The image of a certificate, or null.
function imageOf(row) {
  return rows.shown[row] < 0 ? null : document.getElementById("i" + rows.shown[row]).textContent;
}

async function inflateText(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// What an element of the page holds, inflated.
async function inflated(id) {
  return inflateText(document.getElementById(id).textContent.trim());
}

async function inflate(id) {
  return JSON.parse(await inflated(id));
}
