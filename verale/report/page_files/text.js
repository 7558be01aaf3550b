// Text: HTML elements, and the data that the page contains.

const data = JSON.parse(document.getElementById("data").textContent);
const rows = data.rows, count = rows.name.length;

// An element. Strings become text, never markup, because names come from files that anybody may have written.
function el(tag, attributes = {}, ...children) {
  const element = tag.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, action] of Object.entries(value)) element.addEventListener(event, action);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
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

// A certificate in the page: [its statements, its image], or null where the page leaves them out.
function embedded(row) {
  if (rows.full[row] < 0) return null;
  return document.getElementById("d" + rows.full[row]).textContent.trim().split(" ");
}

async function inflateText(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

async function inflate(base64) {
  return JSON.parse(await inflateText(base64));
}
