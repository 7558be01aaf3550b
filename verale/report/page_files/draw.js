// Drawings: images with outlined patches, and bars.

const UNIT = 100; // a side of a picture, in its own coordinates
const AROUND = 1.5; // how many cells a close-up shows around a patch whose receptive field is not known
const FRAMED = 3; // of so many outlined patches all receptive fields are framed, of more that which is pointed at

function rectangle(grid, row, column) {
  const width = UNIT / grid.columns, height = UNIT / grid.rows;
  return { x: column * width, y: row * height, width, height };
}

function cellOf(grid, patch) {
  if (!grid) return null;
  const cell = patch - grid.tokens;
  return cell < 0 || cell >= grid.rows * grid.columns ? null : [Math.floor(cell / grid.columns), cell % grid.columns];
}

// Rows and columns count from 0, as in files and in a terminal.
function cellName(cell) {
  return "row " + cell[0] + ", column " + cell[1];
}

function patchName(grid, patch) {
  const cell = cellOf(grid, patch);
  if (grid && patch < grid.tokens) return "patch " + patch + ", the class token";
  return cell ? "patch " + patch + ": " + cellName(cell) : "patch " + patch;
}

// The same within a sentence.
function patchInWords(grid, patch) {
  const [name, cell] = patchName(grid, patch).split(": ");
  return cell ? name + " (" + cell + ")" : name;
}

// What a patch can depend on, as a box of the picture; null where it is not known, is all of the image, or is nothing.
function fieldOf(cell) {
  if (!data.fields || !cell) return null;
  const [height, width] = data.fields.size, [top, bottom] = data.fields.rows[cell[0]], [left, right] = data.fields.columns[cell[1]];
  if (top === bottom || left === right) return null;
  return { x: (left * UNIT) / width, y: (top * UNIT) / height, width: ((right - left) * UNIT) / width, height: ((bottom - top) * UNIT) / height };
}

// The same in words: "columns 0 to 13, rows 4 to 17".
function fieldName(cell) {
  const [[top, bottom], [left, right]] = [data.fields.rows[cell[0]], data.fields.columns[cell[1]]];
  return top === bottom || left === right ? "nothing of the image" : "columns " + left + " to " + (right - 1) + ", rows " + top + " to " + (bottom - 1);
}

// The frame of a receptive field: dashes on a dark line are visible on any image, and are no cell's outline.
function frame(box) {
  return box ? el("svg:g", { class: "field" }, el("svg:rect", { ...box, class: "below" }), el("svg:rect", { ...box, class: "dashes" })) : "";
}

// Two strokes, one dark and one light, are visible on any image.
function outline(box, attributes = {}) {
  return el("svg:g", attributes,
    el("svg:rect", { ...box, class: "under" }), el("svg:rect", { ...box, class: "over" }));
}

function background(grid, uri) {
  if (uri) return el("svg:image", { href: uri, width: UNIT, height: UNIT, preserveAspectRatio: "none" });
  const lines = [];
  for (let i = 0; grid && i <= grid.columns; i++) lines.push("M" + (i * UNIT) / grid.columns + " 0V" + UNIT);
  for (let i = 0; grid && i <= grid.rows; i++) lines.push("M0 " + (i * UNIT) / grid.rows + "H" + UNIT);
  return el("svg:path", { d: lines.join(""), class: "lines" });
}

// Cells without statements lie in shadow.
function shadow(grid, patches) {
  return cells(grid, (patch) => (patches.has(patch) ? null : el("svg:path", { class: "shadow" })));
}

// What each patch adds (orange) or takes (blue), the strongest colour for the most.
function warmth(grid, heat) {
  const most = Math.max(...[...heat.values()].map(Math.abs));
  return cells(grid, (patch) => {
    const value = heat.get(patch) || 0;
    if (!value || !most) return null;
    return el("svg:path", { class: value > 0 ? "adds" : "takes", "fill-opacity": (0.75 * Math.abs(value)) / most });
  });
}

// A path in the shape of each cell that gets one.
function cells(grid, make) {
  const group = el("svg:g", {});
  for (let cell = 0; cell < grid.rows * grid.columns; cell++) {
    const path = make(cell + grid.tokens);
    if (!path) continue;
    const box = rectangle(grid, Math.floor(cell / grid.columns), cell % grid.columns);
    path.setAttribute("d", "M" + box.x + " " + box.y + "h" + box.width + "v" + box.height + "h" + -box.width + "z");
    group.append(path);
  }
  return group;
}

// The whole image with outlined patches and the frames of their receptive fields; a click on a patch calls `choose` with it. Where every patch has statements,
// none is outlined until it is pointed at.
function picture(grid, uri, patches, heat, every, description, choose, marks) {
  const named = [...patches.keys()].filter((patch) => cellOf(grid, patch));
  const svg = el("svg:svg", { viewBox: "-1 -1 102 102", role: "img", class: "picture", "aria-label": description },
    background(grid, uri), heat.size ? warmth(grid, heat) : patches.size ? shadow(grid, patches) : "");
  const shape = (every ? "patch plain" : "patch") + (every || named.length > FRAMED ? "" : " framed");
  for (const patch of named) {
    const cell = cellOf(grid, patch);
    const group = outline(rectangle(grid, ...cell), { "data-patch": patch, class: shape, on: { click: () => choose(patch) } });
    group.prepend(frame(fieldOf(cell)));
    group.append(el("svg:title", {}, patchName(grid, patch) + (patches.get(patch) ? ", " + plural(patches.get(patch), "statement") : "") + (data.fields ? "; depends on " + fieldName(cell) : "")));
    if (marks.has(patch)) group.append(mark(rectangle(grid, ...cell), marks.get(patch).map(String)));
    svg.append(group);
  }
  return svg;
}

// The numbers of prototypes in a cell's frame, one below the other.
function mark(box, numbers) {
  const size = Math.min(box.height / (numbers.length + 1), (1.3 * box.width) / Math.max(...numbers.map((one) => one.length)));
  const x = box.x + box.width / 2, top = box.y + box.height / 2 + size / 3 - ((numbers.length - 1) * size) / 2;
  return el("svg:text", { class: "mark", "font-size": size, "text-anchor": "middle", "stroke-width": size / 6 }, numbers.map((one, line) => el("svg:tspan", { x, y: top + line * size }, one)));
}

// A close-up: one cell of an image and all that its patch can depend on, or else its surroundings; without a cell, or
// if a patch can depend on the whole image, that. A description makes it a picture of its own.
function closeUp(grid, uri, cell, description, framed = true) {
  const drawing = (view, ...parts) => el("svg:svg", { viewBox: view.join(" "), preserveAspectRatio: "none", class: "close", ...(description ? { role: "img", "aria-label": description } : { "aria-hidden": "true" }) },
    background(grid, uri), ...parts);
  if (!cell || grid.rows * grid.columns === 1) return drawing([0, 0, UNIT, UNIT]);
  const box = rectangle(grid, ...cell), field = fieldOf(cell);
  if (data.whole) return drawing([0, 0, UNIT, UNIT], outline(box));
  return drawing(field ? viewOf(box, field) : around(box), field && framed ? frame(field) : "", outline(box));
}

// A square view of a cell and its receptive field, with room for the frame.
function viewOf(box, field) {
  const left = Math.min(box.x, field.x), top = Math.min(box.y, field.y);
  const wide = Math.max(box.x + box.width, field.x + field.width) - left, high = Math.max(box.y + box.height, field.y + field.height) - top;
  const side = Math.min(UNIT, Math.max(wide, high)), room = side / 30;
  const start = (from, length) => Math.min(Math.max(0, from + length / 2 - side / 2), UNIT - side) - room;
  return [start(left, wide), start(top, high), side + 2 * room, side + 2 * room];
}

// A view of a cell and some cells around it.
function around(box) {
  const width = Math.min(UNIT, box.width * (1 + 2 * AROUND)), height = Math.min(UNIT, box.height * (1 + 2 * AROUND));
  return [Math.min(Math.max(0, box.x - AROUND * box.width), UNIT - width), Math.min(Math.max(0, box.y - AROUND * box.height), UNIT - height), width, height];
}

// A lead: solid as far as it is proved, dashed as far as it reaches for the image itself.
function bar(proved, ahead, most) {
  const share = (value) => Math.max(0, Math.min(100, 100 * (value / most)));
  const parts = [el("svg:rect", { class: "proved", width: share(proved), height: 10 })];
  if (ahead > proved) {
    parts.push(el("svg:rect", { class: "open", x: share(proved), width: share(ahead) - share(proved), y: 0.5, height: 9 }));
  }
  return el("svg:svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" }, ...parts);
}
