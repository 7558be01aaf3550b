// The numbered steps of "Verification", and "Refutation by a witness".

const DECIDING_BITS = [96, 384, 1408];

// Audits a certificate. latentsBytes is null where no latents are given.
// options: minimality, entailmentOnly, and limit: how much work the ranges may take (see ranges.js), else none is set.
function audit(certificateBytes, headBytes, latentsBytes, options = {}) {
  workLeft = options.limit === undefined ? Infinity : options.limit;
  const files = readFiles(headBytes, latentsBytes);
  if (files.verdict) return files;
  const {head, latents} = files;
  const attempt = admit(certificateBytes, head, headBytes, (certificate) => findImage(certificate, latents));
  if (attempt.verdict) return attempt;
  const {certificate, found} = attempt;

  const claims = {entailment: "not checked", instance: certificate.latents === null ? "not claimed" : "not checked"};
  if (certificate.minimality) claims.minimality = "not checked";
  const stop = (verdict, reason, detail) => ({verdict, reason, detail, claims});

  if (found !== null) {
    const latent = imageOf(latents, found);
    const fault = instanceFault(certificate, head, latents.length, latent);
    if (fault !== null) return stop("NOT_PROVED", "instance", fault);
    const rival = refutedBy(certificate, head, latent);
    if (rival !== null) return stop("REFUTED", "refuted", `class ${rival} has a logit that is not less`);
    claims.instance = "proved";
  }

  try {
    const known = new Known(new HeadFacts(head), certificate.patches, certificate.statements);
    if (certificate.paradigm === "mixed") known.link();
    const fault = entailmentFault(certificate, known);
    if (fault !== null) return stop("NOT_PROVED", fault.reason, fault.detail);
    claims.entailment = "proved";

    if (certificate.minimality && options.minimality) {
      const rivals = closestFirst(certificate, known);
      const needless = certificate.statements.findIndex(
        (_, i) => !isNeeded(certificate, known.without(i), rivals, found !== null),
      );
      if (needless >= 0) return stop("NOT_PROVED", "minimality", `statement ${needless} is not shown to be needed`);
      claims.minimality = "proved";
    }
  } catch (error) {
    if (error instanceof Exhausted) return stop("NOT_PROVED", "limit", "more work than the limit");
    throw error;
  }
  return stop("PROVED", certificate.latents === null && !options.entailmentOnly ? "unclaimed" : "", "");
}

// Asks whether a witness disproves entailment.
function refute(certificateBytes, headBytes, witnessBytes) {
  const files = readFiles(headBytes, witnessBytes);
  if (files.verdict) return files;
  const {head, latents} = files;
  if (latents.count !== 1) return outcome("INPUT_ERROR", "latents", "not exactly one image");
  const attempt = admit(certificateBytes, head, headBytes, () => 0);
  if (attempt.verdict) return attempt.verdict === "NOT_PROVED" ? {...attempt, verdict: "NOT_REFUTED"} : attempt;
  const latent = imageOf(latents, 0);
  const fault = instanceFault(attempt.certificate, head, latents.length, latent);
  if (fault !== null) return outcome("NOT_REFUTED", "instance", fault);
  const rival = refutedBy(attempt.certificate, head, latent);
  if (rival === null) return outcome("NOT_REFUTED", "witness", "");
  return outcome("REFUTED", "refuted", `class ${rival} has a logit that is not less`);
}

function outcome(verdict, reason, detail) {
  return {verdict, reason, detail, claims: {}};
}

// What a reader returns, or the outcome if it finds a rule broken.
function orElse(verdict, reason, read) {
  try {
    return read();
  } catch (error) {
    if (error instanceof Invalid) return outcome(verdict, reason, error.message);
    throw error;
  }
}

// Step 1. It goes before every verdict.
function readFiles(headBytes, latentsBytes) {
  const head = orElse("INPUT_ERROR", "head", () => readHead(headBytes));
  if (head.verdict) return head;
  const latents =
    latentsBytes === null ? null : orElse("INPUT_ERROR", "latents", () => readLatents(latentsBytes, head));
  return latents !== null && latents.verdict ? latents : {head, latents};
}

// Steps 2 to 4. findImage returns the number of an image, null for none to check, -1 if it is not there.
function admit(certificateBytes, head, headBytes, findImage) {
  return orElse("MALFORMED", "malformed", () => {
    const certificate = readCertificate(certificateBytes);
    if (sha256(headBytes) !== certificate.head) return outcome("NOT_PROVED", "subject", "another head");
    const found = findImage(certificate);
    if (found === -1) return outcome("NOT_PROVED", "subject", "other latents");
    fitToHead(certificate, head);
    return {certificate, found};
  });
}

function findImage(certificate, latents) {
  if (certificate.latents === null || latents === null) return null;
  for (let n = 0; n < latents.count; n += 1) if (latentsDigest(latents, n) === certificate.latents) return n;
  return -1;
}

// Step 5: what is wrong with the latents, or null.
function instanceFault(certificate, head, length, latent) {
  if (length !== certificate.patches) return `${length} patches`;
  if (!liesInDomain(head, latent)) return "a latent outside the domain";
  let open = certificate.statements.map((_, i) => i);
  for (const bits of DECIDING_BITS) {
    const image = new EnclosedImage(head, latent, bits);
    const verdicts = open.map((i) => image.judge(certificate.statements[i]));
    const wrong = verdicts.indexOf(false);
    if (wrong >= 0) return `statement ${open[wrong]} is false`;
    open = open.filter((_, at) => verdicts[at] === null);
  }
  return open.length ? `statement ${open[0]} cannot be decided` : null;
}

function rivalsOf(certificate, head) {
  return Array.from({length: head.classes}, (_, c) => c).filter((c) => c !== certificate.predicted);
}

// Step 6: a rival that refutes the class, or null.
function refutedBy(certificate, head, latent) {
  const image = new EnclosedImage(head, latent, WORKING_BITS);
  const rival = rivalsOf(certificate, head).find((c) => image.refutes(certificate.predicted, c));
  return rival === undefined ? null : rival;
}

// The proved margin of a rival, with the prices of the hints where there are some, and as one target where it is one.
function marginOf(certificate, known, c) {
  const margin = known.margin(certificate.predicted, c);
  if (certificate.paradigm === "joint") {
    const {a} = known.jointMargin(certificate.predicted, c);
    return a === null ? margin : greaterInterval(margin, exactly(a));
  }
  if (certificate.paradigm !== "assignment") return margin;
  const entry = certificate.prices.find((e) => e.rival === c);
  const prices = new Map(entry ? entry.prototypes.map((k, i) => [k, entry.prices[i]]) : []);
  return greaterInterval(margin, pricedMargin(known, certificate.predicted, c, prices));
}

// Step 7: what is not proved of the margins, or null. Everything is, if nothing satisfies the statements.
function entailmentFault(certificate, known) {
  let fault = null;
  for (const c of rivalsOf(certificate, known.head)) {
    const proved = marginOf(certificate, known, c).a;
    const detail = `class ${c}: proved ${approximate(proved)}, stated ${approximate(certificate.margins[c])}`;
    if (sign(proved) <= 0) {
      fault = {reason: "entailment", detail};
      break;
    }
    if (compare(proved, certificate.margins[c]) < 0 && fault === null) fault = {reason: "margin", detail};
  }
  return fault !== null && known.isEmpty() ? null : fault;
}

// The rivals, those with the least margins first: without a statement they are the first to reach 0.
function closestFirst(certificate, known) {
  const margins = new Map(rivalsOf(certificate, known.head).map((c) => [c, known.margin(certificate.predicted, c).b]));
  return [...margins.keys()].sort((c, d) => compare(margins.get(c), margins.get(d)));
}

// Step 8, for what is known without one statement. Latents that satisfy all statements show that no range is empty.
function isNeeded(certificate, rest, rivals, satisfied) {
  if (!satisfied && !rest.isInhabited()) return false;
  return rivals.some((c) => {
    if (sign(rest.margin(certificate.predicted, c).b) > 0) return false;
    if (certificate.paradigm === "joint") {
      const {b, endless} = rest.jointMargin(certificate.predicted, c);
      return endless || (b !== null && sign(b) <= 0);
    }
    return certificate.paradigm !== "assignment" || sign(matchedMargin(rest, certificate.predicted, c).b) <= 0;
  });
}
