// Drawings: images with outlined patches, and bars.

const UNIT = 100; // a side of a picture, in its own coordinates
const AROUND = 1.5; // how many cells a close-up shows around its patch

function rectangle(grid, row, column) {
  const width = UNIT / grid.columns, height = UNIT / grid.rows;
  return { x: column * width, y: row * height, width, height };
}

function cellOf(grid, patch) {
  if (!grid) return null;
  const cell = patch - grid.tokens;
  return cell < 0 || cell >= grid.rows * grid.columns ? null : [Math.floor(cell / grid.columns), cell % grid.columns];
}

function cellName(cell) {
  return "row " + (cell[0] + 1) + ", column " + (cell[1] + 1);
}

function patchName(grid, patch) {
  const cell = cellOf(grid, patch);
  if (grid && patch < grid.tokens) return "patch " + patch + ", the class token";
  return cell ? "patch " + patch + ": " + cellName(cell) : "patch " + patch;
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

// The whole image with outlined patches; a click on a patch calls `choose` with it. Where every patch has statements,
// none is outlined until it is pointed at.
function picture(grid, uri, patches, heat, every, description, choose) {
  const named = [...patches.keys()].filter((patch) => cellOf(grid, patch));
  const svg = el("svg:svg", { viewBox: "-1 -1 102 102", role: "img", class: "picture", "aria-label": description },
    background(grid, uri), heat.size ? warmth(grid, heat) : patches.size ? shadow(grid, patches) : "");
  for (const patch of named) {
    const box = rectangle(grid, ...cellOf(grid, patch));
    const group = outline(box, { "data-patch": patch, class: every ? "patch plain" : "patch", on: { click: () => choose(patch) } });
    group.append(el("svg:title", {}, patchName(grid, patch) + ", " + plural(patches.get(patch), "statement")));
    svg.append(group);
  }
  return svg;
}

// A close-up: one cell of an image and its surroundings; without a cell the whole image.
function closeUp(grid, uri, cell, description) {
  const drawing = (view, ...parts) => el("svg:svg", { viewBox: view.join(" "), preserveAspectRatio: "none", class: "close", ...(description ? { role: "img", "aria-label": description } : { "aria-hidden": "true" }) },
    background(grid, uri), ...parts);
  if (!cell || grid.rows * grid.columns === 1) return drawing([0, 0, UNIT, UNIT]);
  const box = rectangle(grid, ...cell);
  const width = Math.min(UNIT, box.width * (1 + 2 * AROUND)), height = Math.min(UNIT, box.height * (1 + 2 * AROUND));
  const x = Math.min(Math.max(0, box.x - AROUND * box.width), UNIT - width);
  const y = Math.min(Math.max(0, box.y - AROUND * box.height), UNIT - height);
  return drawing([x, y, width, height], outline(box));
}

// A lead: solid as far as it is proved, dashed as far as it reaches for the image itself.
function bar(proved, ahead, most) {
  const share = (value) => Math.max(0, Math.min(100, (100 * value) / most));
  const parts = [el("svg:rect", { class: "proved", width: share(proved), height: 10 })];
  if (ahead > proved) {
    parts.push(el("svg:rect", { class: "open", x: share(proved), width: share(ahead) - share(proved), y: 0.5, height: 9 }));
  }
  return el("svg:svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" }, ...parts);
}
