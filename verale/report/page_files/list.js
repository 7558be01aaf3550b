// The list of certificates: filtered, sorted, and shown page by page.

const PER_PAGE = 50;
const MATRIX = 20, MISTAKES = 30; // the most classes of a matrix, and the most lines of mistakes without one
const NUMBER = (text) => (text === null ? null : Number(text));
const COLUMNS = [
  { key: "name", title: "Image", show: imageCell, of: (row) => rows.image[row] || rows.name[row] },
  { key: "status", title: "Verdict", show: (row) => [badge(rows.status[row]), el("small", {}, rows.caveat[row] || (scopes.size > 1 ? rows.scope[row] : ""))], of: (row) => rows.status[row] },
  { key: "predicted", title: "Class", show: (row) => [named(rows.predicted[row]), isWrong(row) ? el("small", { class: "wrong" }, "✗ wrong") : ""], of: (row) => rows.predicted[row] },
  { key: "label", title: "True class, " + data.words.labelled, show: (row) => named(rows.label[row]), of: (row) => rows.label[row] },
  { key: "why", title: "Why: what has to hold", of: (row) => rows.why[row], show: whyCell },
  { key: "size", title: "Statements", number: true, narrow: false, of: (row) => rows.size[row],
    show: (row) => [String(rows.size[row] ?? ""), rows.bounds[row] === null ? "" : el("small", {}, rows.bounds[row])] },
  { key: "margin", title: "Proved lead", number: true, narrow: false, of: (row) => NUMBER(rows.margin[row]), show: (row) => rows.margin[row] ?? "" },
];
let shownColumns = []; // those that have something to say
let names = []; // in which the search looks
let scopes = new Set(); // a list says from where on each is proved only where not all are alike
const collator = new Intl.Collator();

function beginList() {
  names = rows.name.map((name, row) => (rows.image[row] + " " + name).toLowerCase());
  scopes = new Set(rows.scope.filter(Boolean));
  shownColumns = COLUMNS.filter((column) => rows[column.key].some((value) => value !== null));
}

const state = { order: "", falling: false, page: 0, shown: [] };
const filters = ["text", "class", "label", "status", "correct"].map((name) => document.getElementById("f-" + name));

function named(index) {
  return el("bdi", {}, className(index));
}

// Whether the class is another one than the label says; null where either is not known.
function isWrong(row) {
  return rows.label[row] === null || rows.predicted[row] === null ? null : rows.predicted[row] !== rows.label[row];
}

function imageCell(row) {
  const uri = imageOf(row);
  const image = uri ? el("img", { src: uri, alt: "", class: "thumbnail", loading: "lazy" }) : el("span", { class: "thumbnail" });
  const second = rows.image[row] ? el("small", {}, el("bdi", {}, rows.name[row])) : "";
  const match = rows.match[row] ? el("small", { class: "match" }, rows.match[row]) : "";
  return el("div", { class: "of" }, image, el("span", {}, el("a", { href: "#certificate-" + row }, el("bdi", {}, rows.image[row] || rows.name[row])), second, match));
}

// The explanation in a few words, with the pictures of its first prototypes.
function whyCell(row) {
  const pictures = rows.prototypes[row].map((prototype) => picturesOf({ grid: data.grid }, { prototype, attained: null }).training);
  return el("div", { class: "why" }, el("span", {}, pictures.filter(Boolean).map((one) => closeUp(data.grid, one.uri, one.cell, undefined, false))), el("small", {}, rows.why[row]));
}

function keeps(row) {
  const [text, ofClass, label, status, correct] = filters.map((filter) => (filter ? filter.value : ""));
  const wrong = isWrong(row);
  return names[row].includes(text.trim().toLowerCase()) && (ofClass === "" || String(rows.predicted[row]) === ofClass)
    && (label === "" || String(rows.label[row]) === label) && (status === "" || rows.status[row] === status)
    && (correct === "" || wrong === (correct === "no"));
}

function order(shown) {
  const column = shownColumns.find((one) => one.key === state.order);
  if (!column) return shown.sort((a, b) => Boolean(isWrong(b)) - Boolean(isWrong(a)) || a - b); // wrong ones first
  const sign = state.falling ? -1 : 1;
  const known = new Map(shown.map((row) => [row, column.of(row)]));
  shown.sort((a, b) => {
    const x = known.get(a), y = known.get(b);
    if (x === null || y === null) return (x === null) - (y === null) || a - b; // unknown values come last
    return sign * (typeof x === "string" ? collator.compare(x, y) : x - y) || a - b;
  });
}

function sortBy(key) {
  state.falling = state.order === key && !state.falling;
  state.order = key;
  select();
  document.querySelector('[data-sort="' + key + '"]').focus();
}

// Filters and sorts again, and shows the first page.
function select() {
  state.shown = [...Array(count).keys()].filter(keeps);
  order(state.shown);
  state.page = 0;
  drawList();
}

function turn(page) {
  state.page = page;
  drawList();
  document.getElementById("count").scrollIntoView({ block: "nearest" });
}

function drawList() {
  const last = Math.max(0, Math.ceil(state.shown.length / PER_PAGE) - 1);
  const from = state.page * PER_PAGE, to = Math.min(from + PER_PAGE, state.shown.length);
  const heading = (column) => {
    const sorted = state.order !== column.key ? null : state.falling ? "descending" : "ascending";
    const arrow = el("span", { "aria-hidden": "true" }, sorted === null ? "" : state.falling ? " ▼" : " ▲");
    const button = el("button", { type: "button", class: "plain", "data-sort": column.key, on: { click: () => sortBy(column.key) } }, column.title, arrow);
    return el("th", { role: "columnheader", scope: "col", "aria-sort": sorted, class: classesOf(column) }, button);
  };
  const known = (column, row) => row !== undefined && column.key === "label" && rows.label[row] === rows.predicted[row]; // the class says it
  const classesOf = (column, row) => [column.number ? "number" : "", column.narrow === false || known(column, row) ? "wide" : ""].join(" ").trim() || null;
  // On narrow screens lines are blocks, which are no table cells: roles say what they are, and data-title what they hold.
  const line = (row) => el("tr", { role: "row", class: isWrong(row) ? "mistaken" : null }, shownColumns.map((column, index) => el(index ? "td" : "th",
    { class: index ? classesOf(column, row) : "image", role: index ? "cell" : "rowheader", scope: index ? null : "row", "data-key": column.key, "data-title": column.title },
    column.show ? column.show(row) : String(column.of(row) ?? ""))));
  document.getElementById("table").replaceChildren(
    el("caption", { class: "hidden" }, "Certificates; the buttons in the first row sort them"),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, shownColumns.map(heading))),
    el("tbody", { role: "rowgroup" }, state.shown.slice(from, to).map(line)));
  const filtered = state.shown.length === count ? "" : " that match the filters, of " + count + " in all";
  document.getElementById("count").textContent = state.shown.length
    ? from + 1 + " to " + to + " of " + state.shown.length + filtered : "No certificate matches the filters, of " + count + " in all";
  const step = (text, page, off) => el("button", { type: "button", disabled: off, on: { click: () => turn(page) } }, text);
  const pick = el("select", { "aria-label": "Page", on: { change: (event) => turn(Number(event.target.value)) } },
    Array.from({ length: last + 1 }, (_, page) => el("option", { value: page, selected: page === state.page }, page + 1 + " of " + (last + 1))));
  document.getElementById("pages").replaceChildren(...(last ? [
    step("Previous", state.page - 1, state.page === 0), pick, step("Next", state.page + 1, state.page === last)] : []));
}

// How many images of each true class get which class, as a table whose numbers filter the list; of many classes only
// those that are taken for another.
function drawConfusion() {
  const place = document.getElementById("confusion");
  if (!place) return;
  const counts = new Map();
  for (let row = 0; row < count; row++) {
    if (isWrong(row) === null) continue;
    const key = rows.label[row] + " " + rows.predicted[row];
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const pairs = [...counts].map(([key, number]) => [...key.split(" ").map(Number), number]);
  const inOrder = (of) => [...new Set(pairs.map(of))].sort((a, b) => a - b);
  const pick = ([label, predicted], text) => el("button", { type: "button", class: "plain", "aria-label": text + " of true class " + className(label) + " with class " + className(predicted), on: { click: () => choose({ class: predicted, label }) } }, text);
  const labels = inOrder(([label]) => label), classes = inOrder(([, predicted]) => predicted);
  if (Math.max(labels.length, classes.length) > MATRIX) {
    const mistakes = pairs.filter(([label, predicted]) => label !== predicted).sort((a, b) => b[2] - a[2]).slice(0, MISTAKES);
    place.append(el("table", {}, el("thead", {}, el("tr", {}, ["True class", "Class"].map((title) => el("th", { scope: "col" }, title)), el("th", { scope: "col", class: "number" }, "Images"))),
      el("tbody", {}, mistakes.map((pair) => el("tr", {}, el("th", { scope: "row" }, named(pair[0])), el("td", {}, named(pair[1])), el("td", { class: "number" }, pick(pair, String(pair[2]))))))));
    return;
  }
  const cell = (label, predicted) => {
    const number = counts.get(label + " " + predicted);
    return el("td", { class: label === predicted ? "number right" : number ? "number wrong" : "number" }, number ? pick([label, predicted], String(number)) : "");
  };
  place.append(el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "True class ↓, class →"), classes.map((one) => el("th", { scope: "col", class: "number" }, named(one))))),
    el("tbody", {}, labels.map((label) => el("tr", {}, el("th", { scope: "row" }, named(label)), classes.map((predicted) => cell(label, predicted)))))));
}

// Shows the images of some classes alone.
function choose(wanted) {
  form.reset();
  for (const [name, value] of Object.entries(wanted)) document.getElementById("f-" + name).value = value;
  select();
  document.getElementById("list").focus();
}
