// One certificate: the image, what is proved, the margins, the statements patch by patch.

const RIVALS = 12; // how many are shown before "Show all"

async function drawDetail(row) {
  const parts = embedded(row);
  const detail = parts && (await inflate(parts[0]));
  const certificate = detail && JSON.parse(detail.text).predicate;
  const match = rows.match[row] ? el("small", { class: "match" }, " " + rows.match[row]) : "";
  const title = el("h2", { tabindex: "-1", id: "title" }, el("bdi", {}, rows.image[row] || rows.name[row]), match);
  const article = document.getElementById("detail");
  article.replaceChildren(steps(row), title, summary(row, detail, certificate));
  if (certificate) {
    const groups = grouped(certificate, detail);
    article.append(el("div", { class: "columns" },
      figure(row, detail, certificate, groups, parts[1]), margins(detail, certificate)));
    if (detail.questions) article.append(again(detail.questions, certificate));
    article.append(statements(detail, certificate, groups, parts[1]));
  }
  article.append(digests(row, detail));
  return title;
}

function steps(row) {
  const position = state.shown.indexOf(row);
  const to = (text, other) => (other === undefined ? "" : el("a", { href: "#certificate-" + other }, text));
  return el("nav", { "aria-label": "Certificates", class: "steps" }, el("a", { href: "#list" }, "Back to the list"),
    to("Previous", state.shown[position - 1]), to("Next", position < 0 ? undefined : state.shown[position + 1]));
}

function summary(row, detail, certificate) {
  const status = rows.status[row], lines = [];
  const label = rows.label[row] === null || rows.label[row] === rows.predicted[row] ? "" : [", the true class is ", named(rows.label[row])];
  lines.push(el("p", {}, badge(status), " class ", el("b", {}, named(rows.predicted[row])), ...label));
  if (detail && detail.claim) {
    const prefixes = { PROVED: "Proved by the checker: ", NOT_AUDITED: "Claimed by the certificate, not checked for this page: " };
    lines.push(el("p", { class: "lead" }, el("b", {}, prefixes[status] || "Claimed, but not proved: "), el("bdi", {}, detail.claim)));
  }
  if (rows.claims[row]) {
    const meaning = { entailment: "the class follows from the statements", instance: "the statements are true of this image's latents", minimality: "no statement can be dropped" };
    lines.push(el("ul", { class: "claims" }, rows.claims[row].split(", ").map((claim) => {
      const [name, ...state] = claim.split(" ");
      return el("li", {}, el("b", {}, state.join(" ")), ": " + (meaning[name] || name) + " (" + name + ")");
    })));
  }
  if (rows.caveat[row]) lines.push(el("p", { class: "reason" }, el("b", {}, rows.caveat[row] + ": "), "perhaps no latents satisfy the statements"));
  if (rows.message[row] && status !== "PROVED") lines.push(el("p", { class: "reason" }, el("b", {}, "Why: "), el("bdi", {}, rows.message[row])));
  if (!detail && rows.size[row] !== null) lines.push(el("p", {}, "Its statements are left out of this page, see “What is missing”."));
  if (certificate) lines.push(el("p", { class: "quiet" }, data.notProved));
  return el("div", {}, ...lines);
}

// The statements by patch, sorted by patch; statements about activations are under null, at the end.
function grouped(certificate, detail) {
  const groups = new Map();
  certificate.statements.forEach((statement, number) => {
    const patch = statement.patch ?? null;
    if (!groups.has(patch)) groups.set(patch, []);
    groups.get(patch).push({ ...statement, similarity: detail.similarity[number] ?? null, attained: detail.attained[number] ?? null });
  });
  return new Map([...groups].sort(([a], [b]) => (a === null) - (b === null) || a - b));
}

function figure(row, detail, certificate, groups, uri) {
  const counts = new Map();
  for (const [patch, own] of groups) {
    if (patch !== null) counts.set(patch, own.length);
    else for (const one of own) if (one.attained !== null) counts.set(one.attained, (counts.get(one.attained) || 0) + 1);
  }
  const which = groups.has(null) ? "where the stated activations are attained" : "that have statements";
  const description = (uri ? "The image" : "The latent grid") + " with outlines around the " + plural(counts.size, "patch") + " " + which + ", of " + certificate.patches;
  if (!detail.grid) return el("p", {}, "The positions of the " + certificate.patches + " patches in the image are unknown.");
  const choose = (patch) => {
    const target = document.getElementById("patch-" + patch);
    if (target) { target.scrollIntoView({ block: "start" }); target.focus(); }
  };
  const guess = detail.grid.assumed ? " The grid is assumed to be square." : "";
  const match = uri && rows.match[row] ? el("b", { class: "match" }, " The image is " + rows.match[row] + ".") : "";
  return el("figure", {}, picture(detail.grid, uri, counts, description, choose), el("figcaption", {}, description + "." + guess, match));
}

function margins(detail, certificate) {
  const rivals = certificate.margins.map((text, rival) => ({ rival, proved: text === null ? null : fromHex(text), ahead: detail.ahead[rival] === undefined ? null : Number(detail.ahead[rival]) }))
    .filter((one) => one.proved !== null).sort((a, b) => a.proved - b.proved);
  const known = detail.ahead.length > 0;
  const body = el("tbody");
  const fill = (shown) => { // the bars of a table share a scale
    const most = Math.max(Number.MIN_VALUE, ...shown.map((one) => Math.max(one.proved, one.ahead ?? 0)));
    body.replaceChildren(...shown.map((one) => el("tr", {}, el("th", { scope: "row", tabindex: "-1" }, named(one.rival)),
      el("td", { class: "bars" }, bar(one.proved, one.ahead ?? 0, most)),
      el("td", { class: "number" }, outward(one.proved, false, 4)), known ? el("td", { class: "number" }, String(one.ahead)) : "")));
  };
  fill(rivals.slice(0, RIVALS));
  const rest = rivals.length <= RIVALS ? "" : el("button", { type: "button", id: "all-rivals", on: { click: (event) => {
    fill(rivals);
    event.target.remove();
    body.querySelectorAll("th")[RIVALS].focus();
  } } }, "Show all " + rivals.length + " rivals");
  const open = known ? "Solid: the margin that follows from the statements. Dashed: how much farther the class is ahead at this image (float64)." : "The margin that follows from the statements; how far the class is ahead at this image is unknown without its latents.";
  return el("section", { "aria-labelledby": "margins" }, el("h3", { id: "margins" }, "Margins, rival by rival"), el("p", { class: "quiet" }, open),
    el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Rival"), el("th", { scope: "col" }, el("span", { class: "hidden" }, "Bar")),
      el("th", { scope: "col", class: "number" }, "At least"), known ? el("th", { scope: "col", class: "number" }, "Here, about") : "")), body), rest);
}

function statements(detail, certificate, groups, uri) {
  const section = el("section", { "aria-labelledby": "statements" }, el("h3", { id: "statements" }, plural(certificate.statements.length, "statement")));
  if (!certificate.statements.length) section.append(el("p", {}, "None are needed: the class follows from the head alone."));
  for (const [patch, own] of groups) section.append(group(detail, patch, own, uri));
  return section;
}

function group(detail, patch, own, uri) {
  const cell = patch === null ? null : cellOf(detail.grid, patch);
  const heading = patch === null ? "Activations" : patchName(detail.grid, patch)[0].toUpperCase() + patchName(detail.grid, patch).slice(1);
  const observable = patch === null ? "Activation" : data.head ? data.head.observable : "Observable";
  const light = (on) => () => document.querySelectorAll('.picture [data-patch="' + patch + '"]').forEach((one) => one.classList.toggle("on", on));
  const head = el("tr", {}, el("th", { scope: "col" }, "Prototype"),
    patch === null ? "" : el("th", { scope: "col", class: "number" }, "Similarity, about"), el("th", { scope: "col", class: "number" }, observable + " in"));
  return el("section", { class: "group", id: "patch-" + patch, tabindex: "-1", on: { mouseenter: light(true), mouseleave: light(false), focusin: light(true), focusout: light(false) } },
    el("div", { class: "this" }, cell && uri ? closeUp(detail.grid, uri, cell) : "", el("h4", {}, heading), el("p", { class: "quiet" }, plural(own.length, "statement"))),
    el("table", {}, el("thead", {}, head), el("tbody", {}, own.map((one) => statement(detail, one, uri)))));
}

function statement(detail, one, uri) {
  if (one.except) {
    const all = one.except.length ? "every other prototype" : "every prototype";
    return el("tr", {}, el("th", { scope: "row" }, all), el("td", { class: "number" }, "at most " + outward(fromHex(one.upper), true)));
  }
  const [lower, upper] = one.interval, shown = "[" + outward(fromHex(lower), false) + ", " + outward(fromHex(upper), true) + "]";
  return el("tr", {}, el("th", { scope: "row" }, prototype(detail, one, uri)),
    one.patch === undefined ? "" : el("td", { class: "number" }, one.similarity ?? ""), el("td", { class: "number", title: "exactly [" + lower + ", " + upper + "]" }, shown));
}

function prototype(detail, one, uri) {
  const [votes, image, row, column, embeddedAt] = data.prototypes[one.prototype] || [null, null, null, null, null];
  const training = embeddedAt === null ? null : data.training[embeddedAt];
  const here = one.attained === null ? null : cellOf(detail.grid, one.attained);
  const inside = training && detail.grid && row < detail.grid.rows && column < detail.grid.columns;
  const lines = ["prototype " + one.prototype];
  if (votes !== null) lines.push(el("small", {}, "for class ", named(votes)));
  if (one.attained !== null) lines.push(el("small", {}, "greatest, in float64, at " + patchName(detail.grid, one.attained)));
  if (image !== null) lines.push(el("small", {}, "training image " + image + ", row " + (row + 1) + ", column " + (column + 1)));
  return el("span", { class: "prototype" }, here && uri ? closeUp(detail.grid, uri, here) : "",
    inside ? closeUp(detail.grid, training, [row, column]) : "", el("span", {}, ...lines));
}

function digests(row, detail) {
  const certificate = detail && JSON.parse(detail.text);
  const named = [["Certificate", rows.name[row]], ["SHA-256", rows.sha256[row]]];
  if (certificate) {
    named.push(...certificate.subject.map((one) => [one.name === "head" ? "Head" : "Latents", one.digest.sha256]));
    named.push(["Paradigm", certificate.predicate.paradigm], ["Written by", certificate.predicate.generator.name + " " + certificate.predicate.generator.version]);
  }
  if (rows.run[row] !== null) {
    const run = data.runs[rows.run[row]];
    named.push(["Audited with", "kernel " + run.kernel + ", checker " + run.checker]);
  }
  const list = el("dl", { class: "digests" }, named.filter(([, value]) => value !== null).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("bdi", {}, value)))));
  const save = detail ? el("button", { type: "button", id: "save", on: { click: () => saveAs(rows.name[row], detail.text) } }, "Save the certificate") : "";
  const more = certificate && certificate.extensions ? el("details", {}, el("summary", {}, "Extensions, which nothing here checks"), el("pre", { tabindex: "0" }, JSON.stringify(certificate.extensions, null, 1))) : "";
  return el("section", { "aria-labelledby": "digests" }, el("h3", { id: "digests" }, "Digests"), list, save, more);
}

// Saves the certificate's own bytes, for an audit.
function saveAs(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
