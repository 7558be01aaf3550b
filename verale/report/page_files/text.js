// Text: readable numbers, HTML elements, and the data that the page contains.
"use strict";

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

// The exact number of a C99 hex float, as certificates spell it.
function fromHex(text) {
  const [, sign, lead, rest = "", exponent] = /^(-?)0x([01])(?:\.([0-9a-f]+))?p([+-]\d+)$/.exec(text);
  return (sign ? -1 : 1) * Number("0x" + lead + rest) * 2 ** (Number(exponent) - 4 * rest.length);
}

// A decimal with so many digits, rounded down or up, so that a stated interval stays true.
function outward(value, up, digits = 6) {
  if (value === 0) return "0";
  const [mantissa, tens] = Math.abs(value).toExponential(100).split("e");
  const all = mantissa.replace(".", "");
  let head = Number(all.slice(0, digits)), exponent = Number(tens);
  if (/[1-9]/.test(all.slice(digits)) && up === value > 0) head += 1;
  if (String(head).length > digits) exponent += 1;
  const kept = String(head).replace(/0+$/, "");
  let text;
  if (exponent < -5 || exponent >= 15) {
    text = kept[0] + (kept.length > 1 ? "." + kept.slice(1) : "") + "e" + (exponent < 0 ? "" : "+") + exponent;
  } else if (exponent < 0) text = "0." + "0".repeat(-exponent - 1) + kept;
  else if (kept.length <= exponent + 1) text = kept + "0".repeat(exponent + 1 - kept.length);
  else text = kept.slice(0, exponent + 1) + "." + kept.slice(exponent + 1);
  return (value < 0 ? "-" : "") + text;
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
