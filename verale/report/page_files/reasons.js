// What carries the lead: the statements as cards, those to which the proved lead owes most first.

const CARDS = 6; // how many cards are shown before "all of them"
const PICTURED = 3; // how many of them are shown

// The statements, each with what is known of it, in the order in which they carry the lead; without a ledger those
// first that add or take most at this image.
function statementsOf(certificate, detail) {
  const place = new Map(detail.reasons.flatMap((reason, index) => reason.statements.map((number) => [number, index])));
  const rank = (one) => place.get(one.number) ?? detail.reasons.length;
  const weight = (one) => (isSum(one) ? -3 : one.except ? (one.upper === undefined ? -1 : -2) : Math.abs(Number(one.adds)));
  const all = certificate.statements.map((statement, number) => ({ ...statement, number, share: shareOf(detail, number),
    similarity: detail.similarity[number] ?? null, attained: detail.attained[number] ?? null, adds: detail.adds[number] ?? null, standing: detail.standing[number] ?? null }));
  return all.sort((a, b) => rank(a) - rank(b) || weight(b) - weight(a) || a.number - b.number);
}

// A statement's share of the lead, with how many others it has it.
function shareOf(detail, number) {
  const reason = detail.reasons.find((one) => one.statements.includes(number));
  if (!reason) return "";
  return reason.share + (reason.statements.length > 1 ? ", with " + plural(reason.statements.length - 1, "other") : "");
}

// What the cards are about: reasons with their statements, then the statements that the lead owes nothing to.
function reasonsOf(detail, stated) {
  const used = new Set(detail.reasons.flatMap((reason) => reason.statements));
  const of = (reason) => ({ ...reason, stated: stated.filter((one) => reason.statements.includes(one.number)) });
  const rest = stated.filter((one) => !used.has(one.number));
  return [...detail.reasons.map(of), ...rest.map((one) => ({ statements: [one.number], stated: [one], share: detail.reasons.length ? "0 %" : "", carries: detail.reasons.length ? ["gains nothing against the runner-up; it may be needed against another class"] : [], parts: [] }))];
}

function cards(row, detail, stated, uri) {
  const reasons = reasonsOf(detail, stated);
  const isClause = (reason) => reason.stated.length === 1 && (reason.stated[0].except || isSum(reason.stated[0]));
  let room = CARDS + (reasons.filter((reason) => !isClause(reason)).length === CARDS + 1);
  const shown = reasons.filter((reason) => isClause(reason) || room-- > 0);
  const told = shown.reduce((sum, reason) => sum + Math.min(1, reason.stated.length), 0), rest = stated.length - told;
  return el("section", { "aria-labelledby": "cards" }, el("h3", { id: "cards", class: "hidden" }, "The statements"),
    detail.reasons.length ? el("p", { class: "quiet" }, "What carries the proved lead over ", named(detail.rival), ", the runner-up; what carries most comes first. A percentage is of all that this lead owes to the statements, and no probability: without them each prototype could do its worst. Amounts hold where all statements do.")
      : data.head && stated.length && rows.status[row] === "PROVED" ? el("p", { class: "quiet" }, "The lead is proved from all statements at once, so this page does not say how much it owes to each.") : "",
    el("ul", { class: "prototypes" }, shown.map((reason) => el("li", { class: isClause(reason) ? "clause" : reason.stated.length ? null : "together" }, ...card(detail, reason, stated, uri)))),
    rest > 0 ? el("p", {}, "And " + plural(rest, "statement") + " more: ", el("button", { type: "button", class: "plain", on: { click: toStatements } }, "all of them"), ".") : "");
}

function card(detail, reason, stated, uri) {
  const [first] = reason.stated, more = reason.stated.length - 1;
  const carries = [shareBar(reason), ...reason.carries.map((one) => el("small", {}, one))];
  if (!first) return [el("div", {}, el("b", {}, "All comparisons together"), el("small", {}, "bound prototypes that none of them is about, because these are like others"), ...members(detail, reason, uri), ...carries)];
  if (isSum(first)) return [el("div", { class: "says" }, el("b", {}, "all other prototypes together"), " put " + (first.rivals === null ? "no class" : "none of these classes (" + listed(first.rivals.map(className)) + ")") + " ahead of it by more than " + upperEnd(first.upper) + " points"), ...carries];
  if (first.except) return [...clause(detail, first, stated), ...members(detail, reason, uri), ...carries];
  const { votes, training, here } = picturesOf(detail, first), single = detail.grid && detail.grid.rows * detail.grid.columns === 1;
  const pictures = [
    here && uri ? part(detail, { uri, cell: here }, first.patch === undefined || single ? "this image" : cellName(here)) : "",
    training ? part(detail, training, "prototype " + first.prototype) : ""].filter(Boolean);
  return [pictures.length ? el("div", { class: "pair" }, ...pictures) : "", el("div", {},
    el("b", { class: "says" }, inWords(detail, first)),
    more > 0 ? el("small", {}, "and " + plural(more, "more comparison") + " with this prototype, in other patches") : "",
    first.patch === undefined ? scale(first) : "",
    votes === null ? "" : el("small", {}, "stands for ", named(votes)),
    detail.reasons.length || detail.paradigm === "joint" || first.adds === null || Number(first.adds) === 0 ? "" : el("small", {}, adding(first.adds, detail.second)),
    ...carries, plainness(detail, first.patch ?? first.attained))];
}

// A share of the lead, as a bar and in words.
function shareBar(reason) {
  if (!reason.share) return "";
  const percent = reason.share.startsWith("less") ? 0.5 : Number(reason.share.split(" ")[0]);
  const drawn = el("svg:svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" },
    el("svg:rect", { class: "whole", width: 100, height: 6 }), el("svg:rect", { class: "proved", width: percent, height: 6 }));
  return el("div", { class: "share" }, drawn, el("span", {}, reason.share + " of the proved lead"));
}

// How much an activation is: as a share of what an exact copy gives, or beside all images of this page.
function scale(one) {
  const shares = one.interval.filter((end) => end !== null).map((end) => (100 * fromHex(end)) / data.copy);
  const ends = shares.map((share) => about(share, 2));
  const words = [data.copy > 0 && shares.every(Number.isFinite) ? "about " + [...new Set(ends)].join(" to ") + " % of an exact copy’s " + about(data.copy) : "", one.standing ? "this image: " + one.standing : ""];
  return el("small", {}, words.filter(Boolean).join("; "));
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
  return el("figure", {}, pictured(detail, image, text), el("figcaption", {}, text));
}

function pictured(detail, image, text) {
  const framed = image.cell && fieldOf(image.cell) && detail.grid.rows * detail.grid.columns > 1 ? ", its receptive field dashed" : "";
  return closeUp(detail.grid, image.uri, image.cell, text + framed);
}

function adding(adds, second) {
  return [Number(adds) > 0 ? "adds about " + adds + " to" : "takes about " + adds.slice(1) + " from", " this image’s lead over ", named(second)];
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

// The prototypes to which a clause matters most: the first with pictures, all of them by name.
function members(detail, reason, uri) {
  const line = ([prototype, amount, worst]) => "prototype " + prototype + (worst ? " takes at most " + amount.slice(1) + " of about " + worst : " adds at least " + amount);
  const first = reason.parts.slice(0, PICTURED).map((each) => {
    const at = detail.best[each[0]], { training, here } = picturesOf(detail, { prototype: each[0], attained: at ?? null });
    if (!training && !(here && uri)) return "";
    return el("figure", {}, el("span", { class: "two" }, here && uri ? pictured(detail, { uri, cell: here }, "this image, where it is most like prototype " + each[0]) : "",
      training ? pictured(detail, training, "prototype " + each[0]) : ""), el("figcaption", {}, line(each)));
  }).filter(Boolean);
  const rest = reason.parts.length > (first.length || 1)
    ? el("details", {}, el("summary", {}, "What each of them does"), el("ul", { class: "plain-list" }, reason.parts.map((each) => el("li", {}, line(each))), reason.more ? el("li", {}, "and " + plural(reason.more, "prototype") + " more, to which less is owed") : "")) : "";
  return [first.length ? el("div", { class: "members" }, ...first) : "", rest];
}

// The closest class, and what keeps it behind.
function runnerUp(row, detail, certificate, stated) {
  const leads = certificate.margins.map((text) => (text === null ? null : fromHex(text)));
  const rivals = [...leads.keys()].filter((rival) => leads[rival] !== null);
  if (!rivals.length) return "";
  const closest = rivals.reduce((a, b) => (leads[b] < leads[a] ? b : a));
  const second = detail.second !== null && leads[detail.second] ? detail.second : closest;
  const lead = (rival) => el("b", {}, below(leads[rival]));
  const ahead = detail.ahead[second], own = named(certificate.predicted);
  const most = reasonsOf(detail, stated).filter((reason) => reason.share && reason.share !== "0 %").slice(0, 2);
  const owed = (reason) => reason.share + " to " + (!reason.stated.length ? "all comparisons together" : isSum(reason.stated[0]) ? "what all other prototypes take back at most" : reason.stated[0].except ? "the bound on " + inShort(detail, reason.stated[0]) : "prototype " + reason.stated[0].prototype);
  const what = most.length && second === detail.rival ? " Of what the statements contribute, it owes " + listed(most.map(owed)) + "." : "";
  return el("section", { "aria-labelledby": "second" }, el("h3", { id: "second" }, "Why not ", named(second), ", the runner-up?"), el("p", {},
    ahead === undefined ? "" : ["The network’s score (logit) of this image is about " + ahead + " higher for ", own, " than for ", named(second), ". "],
    el("b", {}, rows.status[row] === "PROVED" ? "Proved" : "Claimed"), stated.length ? ": whatever satisfies the statements has a lead of at least " : ": every image has a lead of at least ", lead(second), " over ", named(second),
    second === closest ? rivals.length === 1 ? "." : ", and at least as much over every other class." : [", and of at least ", lead(closest), " over every class. (By its scores of this image the network puts ", named(second), " second; what is proved comes closest for ", named(closest), ".)"], what,
    el("small", {}, "A proved lead is smaller than the image’s own, because the statements say nothing about the rest of the image. Any lead above 0 decides the class. Where a statement does not hold, nothing is proved: the class may change, or stay.")));
}
