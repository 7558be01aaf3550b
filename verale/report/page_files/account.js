// Why the class is ahead: its prototypes with their points, what all others take back, and what is left; then what
// else is stated. All numbers are those of verale/report/account.py, which add up as they stand here.

const CARDS = 6; // how many further statements are shown before "all of them"
const ONE_BY_ONE = 2; // of more prototypes that follow from statements, the lines are folded
const AT_ONCE = 5, FIRST = 3; // of more prototypes with statements than can be seen at once, all but the first are folded

// The statements, each with what is known of it: those of the account first, then those that add or take most at this
// image; sums and clauses last.
function statementsOf(certificate, detail) {
  const place = new Map(detail.account ? detail.account.stated.map((line, index) => [line.statement, index]) : []);
  const rank = (one) => place.get(one.number) ?? place.size;
  const weight = (one) => (isSum(one) ? -3 : one.except ? (one.upper === undefined ? -1 : -2) : Math.abs(Number(one.adds)));
  const all = certificate.statements.map((statement, number) => ({ ...statement, number,
    similarity: detail.similarity[number] ?? null, attained: detail.attained[number] ?? null, adds: detail.adds[number] ?? null, standing: detail.standing[number] ?? null }));
  return all.sort((a, b) => rank(a) - rank(b) || weight(b) - weight(a) || a.number - b.number);
}

function points(text, unit = "points") {
  return el("span", { class: "points" }, el("b", {}, text.replace("-", "−")), el("span", { class: "hidden" }, " " + unit));
}

// The account as a list of lines, each with its points at the right.
function account(row, detail, certificate, stated, uri) {
  const told = detail.account, own = () => named(certificate.predicted);
  const of = (number) => stated.find((one) => one.number === number);
  const line = (name, what, number) => el("li", { class: name }, el("div", {}, what), points(number));
  const product = (one) => [el("span", { class: "product" }, one.similarity + " × " + one.weight + " ="), points(one.points)];
  const also = (one) => "prototype " + one.prototype + " at least " + one.similarity;
  const given = told.taken.startsWith("-"), first = told.stated.length > AT_ONCE ? FIRST : told.stated.length;
  const stand = (one) => el("li", {}, ...card(detail, of(one.statement), uri), ...product(one));
  const folded = (name, summary, lines, sum) => el("li", { class: name }, el("details", { class: "printed" }, el("summary", {}, ...summary), lines), points(sum));
  const sum = told.total === null ? null : of(told.total);
  return el("section", { "aria-labelledby": "cards" }, el("h3", { id: "cards", class: "hidden" }, "Why, in points"),
    el("p", { class: "quiet" }, "Activation × weight = points. ", data.words.activations, " The weights are what class ", own(), " has more than class ", named(told.rival), ", the closest class of this proof: over it least is proved."),
    el("ul", { class: "prototypes account" },
      told.stated.slice(0, first).map(stand),
      first < told.stated.length ? folded("more", ["and " + (told.stated.length - first) + " more prototypes that are as active as stated, at least"], el("ul", { class: "prototypes account" }, told.stated.slice(first).map(stand)), sumOf(told.stated.slice(first))) : "",
      told.implied.length > ONE_BY_ONE ? folded("implied", ["and " + plural(told.implied.length, "more prototype") + " of class ", own(), ", which the statements bound too, at least"],
        el("ul", { class: "plain-list" }, told.implied.map((one) => el("li", {}, also(one) + " (× " + one.weight + " = " + one.points + ")"))), told.by_implied)
        : told.implied.map((one) => el("li", { class: "implied" }, el("div", {}, "and, which the statements bound too, " + also(one)), ...product(one))),
      told.start ? line("line", ["head start of class ", own(), " (bias)"], told.start) : "",
      told.rest ? line("line", ["further prototypes of class ", own(), ", at least"], told.rest) : "",
      line("line total", "together, at least", told.together),
      sum ? el("li", { class: "clause" }, el("div", {}, el("span", { class: "says" }, sumClause(sum)), el("small", {}, "one of the statements, like those above")), points("-" + told.taken))
        : line("line", given ? "all prototypes of other classes together give it, at least" : "all prototypes of other classes together take back, at most", given ? told.taken.slice(1) : "-" + told.taken),
      line("line lead-line", [rows.status[row] === "PROVED" ? "so class " : "if all of this holds, class ", own(), " leads every other class by at least", rounding(certificate, told)], told.lead)));
}

// The sum of lines, exactly: all have the same decimals.
function sumOf(lines) {
  const places = lines[0].points.length - lines[0].points.indexOf(".") - 1;
  const sum = lines.reduce((all, one) => all + BigInt(one.points.replace(".", "")), 0n);
  const digits = String(sum < 0n ? -sum : sum).padStart(places + 1, "0");
  return (sum < 0n ? "-" : "") + digits.slice(0, -places) + "." + digits.slice(-places);
}

// Why the sum of the lines is another number than the lead of the certificate.
function rounding(certificate, told) {
  const least = leastLead(certificate);
  if (Number(told.lead) > Number(least)) return el("small", {}, "The certificate itself has no more than " + least + ".");
  return Number(told.lead) === Number(least) ? "" : el("small", {}, "Each part is rounded against class ", named(certificate.predicted), ". The certificate has at least " + least + ".");
}

// The least lead that the certificate has over another class; null without another class.
function leastLead(certificate) {
  const leads = certificate.margins.filter((one) => one !== null).map(fromHex);
  return leads.length ? below(leads.reduce((one, other) => Math.min(one, other))) : null;
}

function sumClause(one) {
  return ["all prototypes of other classes together take back at most " + upperEnd(one.upper) + " points for " + (one.rivals === null ? "any other class" : "any of these classes (" + listed(one.rivals.map(className)) + ")")];
}

// For each of the classes that come closest what the class gets and what is taken back: proved, and at this image.
function classByClass(detail) {
  const told = detail.account, own = () => named(told.predicted), here = detail.now.length > 0;
  const all = told.closest.flatMap((one, index) => [one.given, one.taken, ...(detail.now[index] || [])]).map(Number);
  const most = Math.max(Number.MIN_VALUE, ...all);
  const share = (value) => Math.max(0, Math.min(100, 100 * (Number(value) / most)));
  const strip = (y, solid, dashed, name) => [el("svg:rect", { class: name, width: share(solid), y, height: 8 }),
    Number(dashed) > Number(solid) ? el("svg:rect", { class: "open", x: share(solid), width: Math.max(0, Math.min(99.5, share(dashed)) - share(solid)), y: y + 0.5, height: 7 }) : ""];
  const cell = (proved, about) => el("td", { class: "number" }, proved.replace("-", "−"), about === undefined ? "" : el("small", {}, "here about " + about.replace("-", "−")));
  const line = (one, index) => {
    const [given, taken] = detail.now[index] || [one.given, one.taken];
    return el("tr", {}, el("th", { scope: "row" }, named(one.rival)),
      el("td", { class: "bars" }, el("svg:svg", { viewBox: "0 0 100 18", preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" }, ...strip(0, one.given, given, "proved"), ...strip(10, here ? taken : one.taken, one.taken, "back"))),
      cell(one.given, here ? given : undefined), cell(one.taken, here ? taken : undefined), el("td", { class: "number" }, one.lead.replace("-", "−")));
  };
  return el("details", { id: "by-class", class: "printed" }, el("summary", {}, "Class by class: which, and how much"),
    el("p", { class: "quiet" }, "Upper bar: the points that its own prototypes give ", own(), " more than this class, solid as far as they are proved", here ? ", dashed as far as they reach for this image" : "", ". Lower bar: the points that all prototypes of other classes give this class more than ", own(), here ? ", solid for this image, dashed to the most" : "", "."),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Class by class" }, el("table", { class: "by-class" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Class"), el("th", { scope: "col" }, el("span", { class: "hidden" }, "Bars")),
      el("th", { scope: "col", class: "number" }, "Gets at least"), el("th", { scope: "col", class: "number" }, "Others take back at most"), el("th", { scope: "col", class: "number" }, "Leads by at least"))), el("tbody", {}, told.closest.map(line)))));
}

// The scores of the network, class by class: those that are greatest.
function scores(detail) {
  if (detail.scores.length < 2) return "";
  const all = detail.scores.map(([, score]) => Number(score)), least = Math.min(0, ...all), most = Math.max(...all) - least;
  return el("section", { "aria-labelledby": "scores" }, el("h3", { id: "scores" }, "The network’s own score for each class, in points"),
    el("table", { class: "scores" }, el("thead", { class: "hidden" }, el("tr", {}, el("th", { scope: "col" }, "Class"), el("th", { scope: "col" }, "Bar"), el("th", { scope: "col" }, "Score of this image in points, about"))),
      el("tbody", {}, detail.scores.map(([index, score], place) => el("tr", {}, el("th", { scope: "row" }, named(index)),
        el("td", { class: "bars" }, el("svg:svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" }, el("svg:rect", { class: "whole", width: 100, height: 6 }), el("svg:rect", { class: place ? "back" : "proved", width: most > 0 ? 100 * ((Number(score) - least) / most) : 0, height: 6 }))),
        el("td", { class: "number" }, score.replace("-", "−")))))),
    el("p", { class: "quiet" }, least < 0 ? "A bar is as long as the score is above the least one shown, " + String(detail.scores.at(-1)[1]).replace("-", "−") + "." : "Bars begin at 0."));
}

// What is stated and is no line of the account.
function cards(row, detail, stated, uri) {
  const told = new Set(detail.account ? [...detail.account.stated.map((line) => line.statement), detail.account.total] : []);
  const rest = stated.filter((one) => !told.has(one.number));
  if (!rest.length) return "";
  const isClause = (one) => Boolean(one.except) || isSum(one);
  let room = CARDS + (rest.filter((one) => !isClause(one)).length === CARDS + 1);
  const shown = rest.filter((one) => isClause(one) || room-- > 0), more = rest.length - shown.length;
  const taking = detail.account && (detail.account.taken.startsWith("-") ? "what all prototypes of other classes give at least" : "what all prototypes of other classes take back at most");
  return el("section", { "aria-labelledby": "further" }, el("h3", { id: "further" }, detail.account ? "What else is stated" : "What is stated"),
    detail.account ? el("p", { class: "quiet" }, "From this follows " + (detail.account.implied.length ? "how active further prototypes are, and " : "") + taking + ".")
      : data.observable && rows.status[row] === "PROVED" ? el("p", { class: "quiet" }, "The lead is proved from all statements at once, so this page does not say how much it owes to each.") : "",
    el("ul", { class: "prototypes" }, shown.map((one) => el("li", { class: isClause(one) ? "clause" : null }, ...(isSum(one) ? [el("div", { class: "says" }, sumClause(one))] : one.except ? clause(detail, one, stated) : card(detail, one, uri))))),
    more > 0 ? el("p", {}, "And " + plural(more, "statement") + " more: ", el("button", { type: "button", class: "plain", on: { click: toStatements } }, "all of them"), ".") : "");
}

// A statement about one prototype: this part, that picture, what it stands for, and how active it is.
function card(detail, one, uri) {
  const { votes, training, here } = picturesOf(detail, one), single = detail.grid && detail.grid.rows * detail.grid.columns === 1;
  const pictures = [
    here && uri ? part(detail, { uri, cell: here }, one.patch === undefined || single ? "this image" : cellName(here)) : "",
    training ? part(detail, training, "prototype " + one.prototype) : ""].filter(Boolean);
  return [pictures.length ? el("div", { class: "pair" }, ...pictures) : "", el("div", { class: "told" },
    el("b", { class: "says" }, inWords(detail, one)),
    votes === null ? "" : el("small", {}, "stands for class ", named(votes)),
    data.origins[one.prototype] ? el("small", { class: "origin" }, data.origins[one.prototype]) : "",
    plainness(detail, one.patch ?? one.attained), one.patch === undefined ? alike(detail, one, uri) : "")];
}

// On demand: how much an activation is, and how similar each patch of the image is to the prototype.
function alike(detail, one, uri) {
  const much = scale(one), digits = detail.maps[one.prototype], known = digits && detail.grid && detail.grid.rows * detail.grid.columns > 1;
  if (!much && !known) return "";
  const at = one.attained === null ? null : cellOf(detail.grid, one.attained);
  const map = () => el("svg:svg", { viewBox: "-1 -1 102 102", role: "img", class: "map", "aria-label": "How similar each patch is to prototype " + one.prototype + (at ? "; most similar: " + patchName(detail.grid, one.attained) : "") },
    background(detail.grid, uri), warmth(detail.grid, new Map([...digits].map((digit, patch) => [patch, Number(digit)]))), at ? outline(rectangle(detail.grid, ...at)) : "");
  return el("details", {}, el("summary", {}, known ? "How similar, and where else" : "How similar"), much ? el("small", {}, much) : "",
    known ? [map(), el("small", {}, "The stronger the orange, the more similar a patch is to prototype " + one.prototype + ". Computed in float64 from this image; not part of the proof.")] : "");
}

// How much an activation is: as a share of what an exact copy gives, or beside all images of this page.
function scale(one) {
  const shares = one.interval.filter((end) => end !== null).map((end) => (100 * fromHex(end)) / data.copy);
  const ends = shares.map((share) => about(share, 2));
  const words = [data.copy > 0 && shares.every(Number.isFinite) ? "about " + [...new Set(ends)].join(" to ") + " % of an exact copy’s " + about(data.copy) : "", one.standing ? "this image: " + one.standing : ""];
  return words.filter(Boolean).join("; ");
}

// Why a square of one colour may decide.
function plainness(detail, patch, square = "The square") {
  const holds = patch === null || patch === undefined ? undefined : detail.plain[patch];
  if (!holds) return "";
  const why = { more: square + " is nearly of one colour. The network sees more than it: " + (data.whole ? "what it sees here can be the whole image." : "the dashed frame around it, which holds more."),
    plain: square + ", and all that the network sees with it, is nearly of one colour. Doubt the network: ask what it has learned there.",
    unknown: square + " is nearly of one colour, and this page does not know how much around it the network sees. Look twice before you trust this reason." };
  return el("small", { class: "match" }, why[holds]);
}

// A picture with what it shows below it.
function part(detail, image, text) {
  const framed = image.cell && fieldOf(image.cell) && detail.grid.rows * detail.grid.columns > 1 ? ", its receptive field dashed" : "";
  return el("figure", {}, closeUp(detail.grid, image.uri, image.cell, text + framed), el("figcaption", {}, text));
}

// A clause: whom it means, and what it says of them.
function clause(detail, one, stated) {
  const brief = inShort(detail, one), full = meantBy(one.except, detail.count);
  const said = [el("b", {}, brief), (/^(prototypes|\d)/.test(brief) ? " are" : " is") + " active " + boundsInWords(one)];
  const more = stated.filter((other) => saysMore(other, one)).map((other) => String(other.prototype));
  return [brief === full ? el("div", { class: "says" }, ...said) : el("details", {}, el("summary", { class: "says" }, ...said), el("span", { class: "full" }, full)),
    more.length ? el("small", {}, "More is stated of " + (more.length === 1 ? "prototype " : "prototypes ") + listed(more) + ".") : ""];
}

// Whether a statement about one activation says more of it than a clause does that means it too.
function saysMore(other, one) {
  if (other.except || isSum(other) || other.patch !== undefined || one.except.includes(other.prototype)) return false;
  const [low, high] = other.interval;
  return one.upper === undefined ? low !== null && fromHex(low) > fromHex(one.lower) : high !== null && fromHex(high) < fromHex(one.upper);
}
