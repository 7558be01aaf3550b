// One certificate: first the explanation for people, then what is proved, the margins, and the statements in full.

const MARKED = 12; // of so many outlined patches, the prototypes are numbered that they are most like
const RIVALS = 12; // how many are shown before "Show all"

async function drawDetail(row) {
  const detail = await detailOf(row), uri = imageOf(row);
  const certificate = detail && JSON.parse(detail.text).predicate;
  const match = rows.match[row] ? el("small", { class: "match" }, " " + rows.match[row]) : "";
  const title = el("h2", { tabindex: "-1", id: "title" }, el("bdi", {}, rows.image[row] || rows.name[row]), match);
  const article = document.getElementById("detail");
  article.replaceChildren(steps(row), title, verdict(row));
  if (certificate) {
    const stated = statementsOf(certificate, detail), groups = grouped(stated);
    const [drawn, ...more] = figure(row, detail, certificate, groups, uri);
    article.append(explanation(row, detail, certificate, stated), el("div", { class: "columns" },
      el("div", { class: "seen" }, drawn, scores(detail), ...more),
      el("div", {}, detail.account ? account(row, detail, certificate, stated, uri) : "", enough(row, detail, certificate, stated),
        detail.narrower && !detail.narrower.long ? el("p", { class: "quiet" }, ...narrower(detail.narrower)) : "", detail.account ? classByClass(detail) : "")));
    article.append(cards(row, detail, stated, uri), words(stated));
    article.append(el("div", { class: "columns even" }, summary(row, detail, certificate, stated), margins(row, detail, certificate)));
    article.append(statements(detail, stated, groups, uri));
  } else article.append(summary(row, detail, certificate));
  article.append(digests(row, detail));
  return title;
}

function steps(row) {
  const position = state.shown.indexOf(row);
  const to = (text, other) => (other === undefined ? "" : el("a", { href: "#certificate-" + other }, text));
  return el("nav", { "aria-label": "Certificates", class: "steps" }, el("a", { href: "#list" }, "Back to the list"),
    to("Previous", state.shown[position - 1]), to("Next", position < 0 ? undefined : state.shown[position + 1]));
}

function verdict(row) {
  const told = ", " + data.words.labelled;
  if (rows.predicted[row] === null) return el("p", { class: "verdict" }, badge(rows.status[row]), " the network’s answer is not known", ...(rows.label[row] === null ? [] : ["; the true class is ", named(rows.label[row]), told]));
  const label = rows.label[row] === null ? "" : rows.label[row] === rows.predicted[row] ? ["the network is right" + told] : [el("b", { class: "wrong" }, "✗ the network is wrong"), ": the true class is ", named(rows.label[row]), told];
  const proved = rows.status[row] === "PROVED" ? el("span", { class: "quiet" }, (rows.label[row] === null ? "" : ". ") + "What is proved is that the statements are enough for this class, and not that the class is right.") : "";
  return el("p", { class: "verdict" }, el("span", { class: "hidden" }, "The network’s answer: "), "class ", el("b", { class: "answer" }, named(rows.predicted[row])), " ", badge(rows.status[row]), " ", rows.scope[row] && rows.scope[row] + (label ? "; " : ". "), ...label, proved);
}

// What is proved, in the checker's words.
function summary(row, detail, certificate, stated) {
  const status = rows.status[row], lines = [];
  if (detail && detail.claim) {
    const prefixes = { PROVED: "Proved by the checker: ", NOT_AUDITED: "Claimed by the certificate, not checked for this page: " };
    lines.push(el("p", {}, el("b", {}, prefixes[status] || "Claimed, but not proved: "), el("bdi", {}, detail.claim)));
  }
  if (rows.claims[row].length) {
    const meaning = { entailment: "the class follows from the statements", instance: "the statements are true of this image's latents", minimality: "no statement can be dropped by the reference ranges" };
    meaning.picture = "the network’s first layers give, for the bytes of the picture, latents of which the statements are true";
    meaning.deployment = "the head, computed in float32, gives the class too";
    lines.push(el("ul", { class: "claims" }, rows.claims[row].map(([claim, state]) => {
      const [name, how] = claim.split(" (");
      if (name === "minimality" && state === "not checked") return el("li", {}, el("b", {}, state), ": whether a statement could be left out (minimality)");
      return el("li", {}, el("b", {}, state), ": " + (meaning[name] || name) + " (" + name + (how ? ", " + how : ")"));
    })));
  }
  if (rows.caveat[row] && !certificate) lines.push(el("p", { class: "reason" }, el("b", {}, rows.caveat[row] + ": "), "perhaps no latents satisfy the statements"));
  if (rows.message[row] && status !== "PROVED") lines.push(el("p", { class: "reason" }, el("b", {}, "Why: "), el("bdi", {}, rows.message[row])));
  if (!detail && rows.size[row] !== null) lines.push(el("p", {}, "Its statements are left out of this page, see “What is missing”."));
  if (certificate) {
    if (stated.length) lines.push(el("p", {}, leftOpen(detail, certificate, stated)));
    lines.push(el("p", { class: "quiet" }, "Latents are what the network’s first layers compute of the image, one list of numbers a patch; its last layers, the head, compare them with the prototypes."));
  }
  return el("section", { "aria-labelledby": "exactly" }, el("h3", { id: "exactly" }, !certificate ? "What is known" : status === "PROVED" ? "What is proved, exactly" : "What is claimed, exactly"), ...lines);
}

// The explanation as a sentence; before it, if it is too long to be read, that it is, and what can be asked instead.
function explanation(row, detail, certificate, stated) {
  const parts = detail.conditions, commas = parts.some((part) => part.includes(","));
  const joined = parts.length > 2 || commas ? parts.slice(0, -1).map((part) => part + "; ").join("") + (parts.length > 1 ? "and " : "") + parts[parts.length - 1] : listed(parts);
  const known = parts.length ? " whenever " + joined + "." : " whatever the image shows: it follows from the network’s last layers alone.";
  const claimed = rows.status[row] === "PROVED" ? "" : el("b", {}, "Claimed, not proved here: ");
  const asked = detail.narrower;
  const long = asked && asked.long ? el("p", { class: "long" }, el("b", {}, asked.long), " ", asked.why, " ", detail.scores.length > 1 ? "The network’s scores stand below the picture, and beside it what is proved of their points. " : "", ...narrower(asked)) : "";
  return el("section", { "aria-labelledby": "why" }, el("h3", { id: "why", class: "hidden" }, "Why"), long,
    el("p", { class: "lead" }, claimed, "The class is ", el("b", {}, named(certificate.predicted)), known), ahead(row, detail, certificate));
}

// How far the class is ahead: proved over every class, and on this image over the network's second choice.
function ahead(row, detail, certificate) {
  const least = leastLead(certificate), second = detail.second, label = rows.label[row], by = (one) => detail.ahead[one] + " points ahead of class ";
  if (least === null) return "";
  const close = detail.account && detail.account.rival !== second ? [" Class ", named(detail.account.rival), " is only the class over which the proof leaves least."] : [];
  const other = label !== null && label !== second && label !== certificate.predicted && detail.ahead[label] !== undefined;
  const here = second === null || detail.ahead[second].startsWith("-") ? [] : [" On this image it is about " + by(second), named(second), ", the network’s second choice" + (label === second ? " and the true class, " + data.words.labelled : ""),
    ...(other ? [", and about " + by(label), named(label), ", the true class, " + data.words.labelled] : []), ".", ...close];
  return el("p", { class: "ahead" }, (rows.status[row] === "PROVED" ? "Proved: at least " : "Claimed, not proved here: at least ") + least + " points ahead of every other class, wherever this holds.", ...here);
}

// A question with a shorter answer, and where the reader gets what it needs.
function narrower(asked) {
  return [asked.ask, " ", el("code", {}, asked.command), " (the file: “Save the certificate”, below; verale: see the foot of this page)"];
}

// What the words mean.
function words(stated) {
  const said = [data.words.prototypes, stated.some((one) => one.patch === undefined) ? data.words.activations : "",
    stated.some((one) => one.patch !== undefined) ? data.words.observables : ""].filter(Boolean);
  return stated.length ? el("details", { id: "words", class: "printed" }, el("summary", {}, "What the words mean"), said.map((one) => el("p", {}, one))) : "";
}

// How much the statements are about, and that nothing else has to hold.
function leftOpen(detail, certificate, stated) {
  const nothing = "Nothing else has to hold of the latents. ", these = stated.length === 1 ? "This statement is about " : "These " + stated.length + " statements are about ";
  if (!detail.bounded) return nothing;
  const [prototypes, pairs] = detail.bounded, all = prototypes === detail.count;
  const patches = pairs && certificate.patches > 1 ? ", in " + pairs + " of all " + detail.count * certificate.patches + " pairs of a patch and a prototype" : "";
  const together = stated.some(isSum) && !all ? " one by one, and about all others together" : "";
  return nothing + these + (all ? "all " + detail.count + " prototypes" : prototypes + " of the " + detail.count + " prototypes") + together + patches + ".";
}

// That this is enough, whether it is proved and by which checker, what is not, and the button that proves it here.
function enough(row, detail, certificate, stated) {
  const proved = rows.status[row] === "PROVED", own = named(certificate.predicted);
  const checker = rows.run[row] === null ? "that shares no code with what found the statements" : rows.run[row].words;
  const how = rows.pictured[row] && data.words.computed[rows.pictured[row]];
  const isOfThese = stated.length && rows.claims[row].some(([claim, state]) => claim === "instance" && state === "proved");
  const where = stated.length ? "wherever this holds" : "whatever the picture shows", each = stated.length ? "for every picture whose latents satisfy them" : where;
  const guaranteed = how ? ["from the bytes of the picture: " + how + ", the network’s first layers compute latents that satisfy the statements; and " + each + ", the network’s last layers give class ", own]
    : [isOfThese ? "of the latents given for this image, which the network’s first layers are said to compute: what is stated is true of them, and " : "of latents, which the network’s first layers compute: ", where + ", the network’s last layers give class ", own];
  const first = proved ? [el("b", {}, "This is enough, and it is proved"), ", " , ...guaranteed, ", in exact arithmetic. By a checker " + checker + "."]
    : [el("b", {}, "Not proved here"), ": that this is enough for class ", own, "."];
  const open = [rows.unproved[row], data.words.shown].filter(Boolean).join(" ");
  return el("section", { class: proved ? "enough" : "enough open", "aria-labelledby": "enough" }, el("h3", { id: "enough", class: "hidden" }, "Is this enough?"),
    el("p", { class: "guaranteed" }, ...first), rows.caveat[row] ? el("p", { class: "reason" }, el("b", {}, rows.caveat[row] + ": "), "perhaps no latents satisfy the statements.") : "",
    el("p", { class: "quiet" }, open), detail.questions ? again(detail, certificate) : "");
}

// By patch; statements about activations are under null. The order is that of each group's first statement.
function grouped(stated) {
  const groups = new Map();
  for (const one of stated) {
    const patch = one.patch ?? null;
    if (!groups.has(patch)) groups.set(patch, []);
    groups.get(patch).push(one);
  }
  return groups;
}

function figure(row, detail, certificate, groups, uri) {
  const counts = new Map();
  for (const [patch, own] of groups) {
    if (patch !== null) counts.set(patch, (counts.get(patch) || 0) + own.length);
    else for (const one of own) if (one.attained !== null) counts.set(one.attained, (counts.get(one.attained) || 0) + 1);
  }
  if (!detail.grid) return [el("p", {}, "The positions of the " + certificate.patches + " patches in the image are unknown.")];
  const cells = certificate.patches - detail.grid.tokens, every = counts.size >= cells;
  const single = cells === 1; // then neither outlines nor colours tell anything
  if (single && !uri) return [el("p", {}, "The image is one patch.")];
  const told = new Map(single ? [] : detail.heat), heat = new Map([...told].map(([patch, value]) => [patch, Number(value)]));
  const hot = [...heat].filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([patch]) => patch);
  const alone = !counts.size && hot.length > 0; // statements about no patch: then that which decides most is outlined
  if (alone) counts.set(hot[0], 0);
  const which = alone ? "that decides most" : groups.has(null) ? "most like the prototypes shown" : "that statements are about";
  const what = single || !counts.size ? "" : every ? "Every patch has statements" : "Outlined: the " + (counts.size === 1 ? "patch " : counts.size + " patches ") + which;
  const hottest = hot.map((patch) => patchName(detail.grid, patch));
  const colours = hottest.length ? [el("span", { class: "swatch adds", "aria-hidden": "true" }), " Orange: for class ", named(certificate.predicted), ", the strongest patch by about " + told.get(hot[0]) + " points. ",
    el("span", { class: "swatch takes", "aria-hidden": "true" }), " Blue: for class ", named(detail.second), ", the runner-up, the network’s second choice."] : [];
  const description = (uri ? "The image" : "The latent grid") + (what && ". " + what) + (hottest.length ? ". Most of the lead comes from " + listed(hottest) : "");
  const choose = (patch) => {
    openStatements();
    const target = document.getElementById("patch-" + patch) || document.getElementById("patch-null");
    if (target) { target.scrollIntoView({ block: "start" }); target.focus(); }
  };
  const unknown = uri || single ? "" : "This page has no image, and draws its patches. ";
  const guess = detail.grid.assumed && !single ? " The grid is assumed to be square." : "";
  const known = rows.known[row];
  const match = uri && known ? el(rows.match[row] ? "b" : "span", rows.match[row] ? { class: "match" } : {}, " " + known) : "";
  const frames = data.fields && counts.size && !every && counts.size <= FRAMED ? "Dashed: all of the image that " + (counts.size === 1 ? "it" : "each") + " can depend on. " : "";
  const marks = new Map();
  for (const one of detail.account ? detail.account.stated : []) {
    const at = detail.attained[one.statement] ?? null;
    if (at !== null && counts.size <= MARKED) marks.set(at, [...(marks.get(at) || []), one.prototype]);
  }
  const drawn = el("figure", {}, picture(detail.grid, uri, single ? new Map() : counts, heat, every, description, choose, marks),
    el("figcaption", {}, unknown, what && what + ". ", frames, ...colours, guess, match, single || !hot.length || marks.has(hot[0]) ? "" : plainness(detail, hot[0], "The strongest of them")));
  return [drawn, heat.size ? patchByPatch(detail) : "", !single && counts.size ? fields(detail, [...counts.keys()]) : ""];
}

// The frames as a table.
function fields(detail, patches) {
  const squares = el("p", { class: "quiet" }, data.words.squares, data.fields && patches.length > FRAMED ? el("span", { class: "screen" }, " Pointing at a patch shows its frame. The table has all of them.") : "");
  if (!data.fields) return el("details", { class: "printed" }, el("summary", {}, "What a square is"), squares);
  const [height, width] = data.fields.size;
  const cells = patches.sort((a, b) => a - b).map((patch) => cellOf(detail.grid, patch)).filter(Boolean);
  const share = (cell) => { const box = fieldOf(cell); return box ? Math.ceil((100 * box.width * box.height) / UNIT ** 2) + " %" : "0 %"; };
  return el("details", {}, el("summary", {}, "What a square is, and what each patch can depend on"), squares,
    el("p", { class: "quiet" }, "The receptive field of each patch named here, in pixels of the image as the network gets it (" + width + " by " + height + "). Nothing outside of it changes what the network computes for the patch. " + data.words.fields),
    el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Patch"), el("th", { scope: "col" }, "Receptive field"), el("th", { scope: "col", class: "number" }, "Of the image"))),
      el("tbody", {}, cells.map((cell) => el("tr", {}, el("th", { scope: "row" }, cellName(cell)), el("td", {}, fieldName(cell)), el("td", { class: "number" }, share(cell)))))));
}

// The numbers behind the colours.
function patchByPatch(detail) {
  const ordered = detail.heat.filter(([, value]) => value !== "0").sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const name = (patch) => { const cell = cellOf(detail.grid, patch); return cell ? cellName(cell) : patchName(detail.grid, patch); };
  return el("details", {}, el("summary", {}, "How much each patch decides"),
    el("p", { class: "quiet" }, "What a patch adds to the lead over ", named(detail.second), ", the runner-up, in points: for each prototype that is most like this patch, its activation times the difference of the two classes’ weights. Computed in float64 from this image; not part of the proof."),
    el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Patch"), el("th", { scope: "col", class: "number" }, "Adds, about"))),
      el("tbody", {}, ordered.map(([patch, value]) => el("tr", {}, el("th", { scope: "row" }, name(patch)), el("td", { class: "number" }, value))))));
}

function margins(row, detail, certificate) {
  const rivals = certificate.margins.map((text, rival) => ({ rival, proved: text === null ? null : fromHex(text), ahead: Number(detail.ahead[rival] ?? 0), told: detail.ahead[rival] }))
    .filter((one) => one.proved !== null).sort((a, b) => a.proved - b.proved);
  const known = detail.ahead.length > 0;
  const kind = (rival) => {
    const said = [rival === detail.second ? "second choice" : "", rival === rows.label[row] ? "true class, " + data.words.labelled : ""].filter(Boolean);
    return said.length ? el("small", {}, said.join("; ")) : "";
  };
  const body = el("tbody");
  const fill = (shown) => { // the bars of a table share a scale
    const most = Math.max(Number.MIN_VALUE, ...shown.map((one) => Math.max(one.proved, one.ahead)));
    body.replaceChildren(...shown.map((one) => el("tr", {}, el("th", { scope: "row", tabindex: "-1" }, named(one.rival), kind(one.rival)),
      el("td", { class: "bars" }, bar(one.proved, one.ahead, most)),
      el("td", { class: "number" }, below(one.proved)), known ? el("td", { class: "number" }, one.told) : "")));
  };
  const first = rivals.filter((one, index) => index < RIVALS || one.rival === detail.second || one.rival === rows.label[row]);
  fill(first);
  const rest = rivals.length === first.length ? "" : el("button", { type: "button", id: "all-rivals", on: { click: (event) => {
    fill(rivals);
    event.target.remove();
    body.querySelectorAll("th")[RIVALS].focus(); // the first that may be new
  } } }, "Show all " + rivals.length + " other classes");
  const small = " A proved lead is smaller than the image’s own, because the statements say nothing about the rest of the image. Any lead above 0 decides the class." + (detail.account ? " The points above round each part, so they may leave a little less." : "");
  const open = "Solid: the lead over each class, in points, " + (rows.status[row] === "PROVED" ? "that follows from the statements. " : "that the certificate claims; it is not proved here. ") + (known ? "Dashed: the lead of this image, computed in float64." : "The lead of this image is unknown without its latents.") + small;
  return el("section", { "aria-labelledby": "margins" }, el("h3", { id: "margins" }, "The lead over every other class"), el("p", { class: "quiet" }, open),
    el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Class"), el("th", { scope: "col" }, el("span", { class: "hidden" }, "Bar")),
      el("th", { scope: "col", class: "number" }, "At least"), known ? el("th", { scope: "col", class: "number" }, "This image, about") : "")), body), rest);
}

function openStatements() {
  document.getElementById("all-statements").open = true;
}

function toStatements() {
  openStatements();
  const heading = document.getElementById("statements");
  heading.scrollIntoView({ block: "start" });
  heading.focus({ preventScroll: true });
}

// All statements, folded: those first that add or take most.
function statements(detail, stated, groups, uri) {
  const section = el("section", { "aria-labelledby": "statements" }, el("h3", { id: "statements", tabindex: "-1" }, plural(stated.length, "statement")));
  if (!stated.length) section.append(el("p", {}, "None are needed: the class follows from the head alone."));
  else {
    section.append(el("details", { id: "all-statements", class: "printed" }, el("summary", {}, stated.length === 1 ? "The statement, exactly" : "All " + stated.length + " statements, exactly"),
      ...[...groups].map(([patch, own]) => group(detail, patch, own, uri))));
  }
  return section;
}

function group(detail, patch, own, uri) {
  const cell = patch === null ? null : cellOf(detail.grid, patch);
  const heading = patch === null ? "Activations" : patchName(detail.grid, patch)[0].toUpperCase() + patchName(detail.grid, patch).slice(1);
  const observable = patch === null ? "Activation" : observableName();
  const light = (on) => () => document.querySelectorAll('.picture [data-patch="' + patch + '"]').forEach((one) => one.classList.toggle("on", on));
  const added = !detail.account && own.some((one) => Number(one.adds) !== 0);
  const head = el("tr", {}, el("th", { scope: "col" }, "Prototype"),
    patch === null ? "" : el("th", { scope: "col", class: "number" }, "Similarity, about"),
    added ? el("th", { scope: "col", class: "number" }, "Adds to the lead, about") : "", el("th", { scope: "col", class: "number" }, observable));
  return el("section", { class: "group", id: "patch-" + patch, tabindex: "-1", on: { mouseenter: light(true), mouseleave: light(false), focusin: light(true), focusout: light(false) } },
    el("div", { class: "this" }, cell && uri ? closeUp(detail.grid, uri, cell) : "", el("h4", {}, heading), el("p", { class: "quiet" }, plural(own.length, "statement"))),
    el("table", {}, el("thead", {}, head), el("tbody", {}, own.map((one) => statement(detail, one, added, uri)))));
}

function statement(detail, one, added, uri) {
  const exact = (end) => (end ? "exactly " + end : "no bound");
  const title = one.except || isSum(one) ? exact(one.upper ?? one.lower) : one.interval.includes(null) ? one.interval.map(exact).join(", ") : "exactly [" + one.interval.join(", ") + "]";
  return el("tr", { class: one.except || isSum(one) ? "clause" : null }, el("th", { scope: "row" }, isSum(one) ? sumInWords(one) : one.except ? meantBy(one.except, detail.count) : prototype(detail, one, uri)),
    one.patch === undefined ? "" : el("td", { class: "number" }, one.similarity ?? ""),
    added ? el("td", { class: "number" }, Number(one.adds) === 0 ? "" : one.adds) : "",
    el("td", { class: "number", title }, boundsInWords(one)));
}

// A statement about one prototype.
function inWords(detail, one) {
  const name = "prototype " + one.prototype, bounds = boundsInWords(one);
  if (one.patch === undefined) return name + " is active " + bounds;
  return (detail.grid && detail.grid.rows * detail.grid.columns === 1 ? "" : patchInWords(detail.grid, one.patch) + ", ") + name + ": " + observableName().toLowerCase() + " " + bounds;
}

// The ends of a statement, in the certificate's own numbers.
function boundsInWords(one) {
  return between(...(one.except || isSum(one) ? [one.lower ?? null, one.upper ?? null] : one.interval));
}

// A sum: what all prototypes that are not the class's own give other classes together.
function isSum(one) {
  return one.rivals !== undefined;
}

function sumInWords(one) {
  return "points that all prototypes of other classes give " + (one.rivals === null ? "any other class" : listed(one.rivals.map(className)));
}

// The prototypes that a clause speaks of, where a long list is only counted: the table of all statements has all of it.
function inShort(detail, clause) {
  const counted = (numbers) => numbers.length + (detail.count === null ? "" : " of the " + detail.count) + " prototypes";
  return meantBy(clause.except, detail.count, (numbers) => (numbers.length > NAMED ? counted(numbers) : prototypesNamed(numbers)));
}

function observableName() {
  return data.observable || "Observable";
}

// What a prototype stands for, and the cells to show: of its training image, and of the image where it is attained.
function picturesOf(detail, one) {
  const [votes, image, row, column, embeddedAt] = data.prototypes[one.prototype] || [null, null, null, null, null];
  const grid = detail.grid, inside = embeddedAt !== null && grid && row < grid.rows && column < grid.columns;
  const at = one.patch ?? one.attained, whole = data.pictures[one.prototype], part = data.parts[one.prototype];
  const training = part ? { uri: data.training[part[0]], cell: [part[1], part[2]] } : whole !== undefined ? { uri: data.training[whole], cell: null } : inside ? { uri: data.training[embeddedAt], cell: [row, column] } : null;
  return { votes, image: part ? null : image, row, column, training,
    here: at === null ? null : cellOf(grid, at) };
}

function prototype(detail, one, uri) {
  const { votes, image, row, column, training, here } = picturesOf(detail, one);
  const lines = ["prototype " + one.prototype];
  if (votes !== null) lines.push(el("small", {}, "for class ", named(votes)));
  if (one.attained !== null) lines.push(el("small", {}, "greatest, in float64, at " + patchName(detail.grid, one.attained)));
  if (image !== null) lines.push(el("small", {}, "training image " + image + ", " + cellName([row, column])));
  if (data.origins[one.prototype]) lines.push(el("small", { class: "origin" }, data.origins[one.prototype]));
  return el("span", { class: "prototype" }, one.patch === undefined && here && uri ? closeUp(detail.grid, uri, here) : "",
    training ? closeUp(detail.grid, training.uri, training.cell) : "", el("span", {}, ...lines));
}

function digests(row, detail) {
  const certificate = detail && JSON.parse(detail.text);
  const named = [["Certificate", rows.name[row]], ["SHA-256", rows.sha256[row]]];
  if (certificate) {
    named.push(...certificate.subject.map((one) => [one.name[0].toUpperCase() + one.name.slice(1), one.digest.sha256]));
    named.push(["Paradigm", certificate.predicate.paradigm], ["Other paradigms that were tried", rows.others[row]], ["Written by", certificate.predicate.generator.name + " " + certificate.predicate.generator.version]);
  }
  if (rows.run[row] !== null) {
    const run = rows.run[row];
    named.push(["Audited with", "kernel " + run.kernel + (run.variable && ", named by " + run.variable) + ", checker " + run.checker]);
  }
  const times = [["explained", rows.explain[row]], ["audited", rows.audit[row]]].filter(([, seconds]) => seconds !== null);
  if (times.length) named.push(["Time", times.map(([what, seconds]) => what + " in " + seconds + " s").join(", ")]);
  const list = el("dl", { class: "digests" }, named.filter(([, value]) => value !== null).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("bdi", {}, value)))));
  const save = detail ? el("button", { type: "button", id: "save", on: { click: () => saveAs(rows.name[row], detail.text) } }, "Save the certificate") : "";
  const more = certificate && certificate.extensions ? el("details", {}, el("summary", {}, "Extensions, which nothing here checks"), el("pre", { tabindex: "0" }, JSON.stringify(certificate.extensions, null, 1))) : "";
  return el("section", { "aria-labelledby": "digests" }, el("h3", { id: "digests" }, "The certificate’s file"), save,
    el("details", { id: "all-digests", class: "printed" }, el("summary", {}, "Digests, paradigm and times"), list), more);
}

// Saves the certificate's own bytes, for an audit.
function saveAs(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
