// The certificate: what its text alone decides (step 2), and what the head decides with it (step 4). Both throw
// Invalid.

const CERTIFICATE_TYPE = "urn:verale:certificate:v1";

// Each paradigm: the geometries, the forms of statements, whether minimality may be claimed.
const PARADIGMS = {
  projection: {
    geometries: ["euclidean", "cosine", "rooted_cosine", "inner_product"],
    forms: ["patch"],
    minimality: true,
  },
  triangle: {
    geometries: ["euclidean", "cosine", "rooted_cosine", "inner_product"],
    forms: ["patch"],
    minimality: false,
  },
  hypersphere: {geometries: ["euclidean", "cosine", "rooted_cosine"], forms: ["patch"], minimality: false},
  simplex: {geometries: ["softmax"], forms: ["patch"], minimality: true},
  assignment: {geometries: ["softmax"], forms: ["patch"], minimality: true},
  joint: {
    geometries: ["euclidean", "cosine", "rooted_cosine", "inner_product"],
    forms: ["patch"],
    minimality: true,
  },
  mixed: {
    geometries: ["euclidean", "cosine", "rooted_cosine"],
    forms: ["patch", "activation", "order", "floor"],
    minimality: false,
  },
  top_k: {
    geometries: ["euclidean", "cosine", "rooted_cosine", "inner_product", "softmax"],
    forms: ["activation", "order", "floor"],
    minimality: true,
  },
  sparse: {geometries: ["softmax"], forms: ["activation"], minimality: true},
};

// Step 2. Indices stay BigInt until step 4 has compared them with the head.
function readCertificate(bytes) {
  const top = objectWith(parseJsonBytes(bytes, 8), ["_type", "subject", "predicate"], ["extensions"]);
  refuseUnless(top.get("_type") === CERTIFICATE_TYPE, "an unknown type");
  if (top.has("extensions")) refuseUnless(top.get("extensions") instanceof Map, "extensions that are no object");
  const subjects = listOf(top.get("subject"), readSubject);
  refuseUnless(subjects.length === 1 || subjects.length === 2, "no subject, or more than two");
  ["head", "latents"]
    .slice(0, subjects.length)
    .forEach((name, i) => refuseUnless(subjects[i].name === name, "another subject"));

  const p = objectWith(top.get("predicate"), [
    "predicted",
    "paradigm",
    "patches",
    "statements",
    "margins",
    "claims",
    "hints",
    "generator",
  ]);
  const paradigm = stringOf(p.get("paradigm"));
  refuseUnless(Object.prototype.hasOwnProperty.call(PARADIGMS, paradigm), "an unknown paradigm");
  const generator = objectWith(p.get("generator"), ["name", "version"]);
  for (const value of generator.values()) stringOf(value);
  const latents = subjects.length === 2 ? subjects[1].sha256 : null;
  return {
    head: subjects[0].sha256,
    latents,
    paradigm,
    predicted: integerFrom(p.get("predicted"), 0n),
    patches: integerFrom(p.get("patches"), 1n),
    statements: listOf(p.get("statements"), readStatement),
    margins: listOf(p.get("margins"), nullOr(hexFloat)),
    minimality: readClaims(p.get("claims"), latents !== null, PARADIGMS[paradigm].minimality),
    prices: readHints(p.get("hints"), paradigm),
  };
}

function readSubject(value) {
  objectWith(value, ["name", "digest"]);
  const sha256 = stringOf(objectWith(value.get("digest"), ["sha256"]).get("sha256"));
  refuseUnless(/^[0-9a-f]{64}$/.test(sha256), "no digest");
  return {name: stringOf(value.get("name")), sha256};
}

function readStatement(value) {
  refuseUnless(value instanceof Map, "a statement that is no object");
  if (value.has("except")) {
    const end = value.has("lower") ? "lower" : "upper";
    objectWith(value, ["except", end]);
    return {
      form: end === "lower" ? "floor" : "order",
      except: listOf(value.get("except"), (x) => integerFrom(x, 0n)),
      lo: end === "lower" ? hexFloat(value.get("lower")) : null,
      hi: end === "upper" ? hexFloat(value.get("upper")) : null,
    };
  }
  const form = value.has("patch") ? "patch" : "activation";
  objectWith(value, form === "patch" ? ["patch", "prototype", "interval"] : ["prototype", "interval"]);
  const interval = listOf(value.get("interval"), nullOr(hexFloat));
  refuseUnless(interval.length === 2, "an interval that has not two ends");
  refuseUnless(interval[0] !== null || interval[1] !== null, "an interval without a bound");
  const prototype = integerFrom(value.get("prototype"), 0n);
  const patch = form === "patch" ? integerFrom(value.get("patch"), 0n) : null;
  return {form, patch, prototype, lo: interval[0], hi: interval[1]};
}

// Whether minimality is claimed. The other claims follow from the subject.
function readClaims(value, named, admitted) {
  const claims = listOf(value, stringOf);
  const minimality = claims.includes("minimality");
  const expected = ["entailment"].concat(named ? ["instance"] : [], minimality ? ["minimality"] : []);
  refuseUnless(
    claims.length === expected.length && claims.every((x, i) => x === expected[i]),
    "other claims than can be made",
  );
  refuseUnless(admitted || !minimality, "minimality under a paradigm without it");
  return minimality;
}

function increases(list) {
  return list.every((x, i) => i === 0 || list[i - 1] < x);
}

function readHints(value, paradigm) {
  objectWith(value, [], paradigm === "assignment" ? ["prices"] : []);
  if (!value.has("prices")) return [];
  const entries = listOf(value.get("prices"), (entry) => {
    objectWith(entry, ["rival", "prototypes", "prices"]);
    const prototypes = listOf(entry.get("prototypes"), (x) => integerFrom(x, 0n));
    const prices = listOf(entry.get("prices"), hexFloat);
    refuseUnless(
      prices.length === prototypes.length && prices.every((x) => sign(x) > 0),
      "prices that are not positive or not one for each",
    );
    refuseUnless(increases(prototypes), "prototypes of prices that do not increase");
    return {rival: integerFrom(entry.get("rival"), 0n), prototypes, prices};
  });
  refuseUnless(increases(entries.map((entry) => entry.rival)), "rivals of prices that do not increase");
  return entries;
}

// Step 4. Turns indices that have been compared into Numbers. `patches` and `patch` stay BigInt.
function fitToHead(certificate, head) {
  const {predicted, patches, paradigm, statements, margins} = certificate;
  const classes = BigInt(head.classes),
    size = BigInt(head.size);
  const {geometries, forms} = PARADIGMS[paradigm];
  refuseUnless(geometries.includes(head.geometry.kind), "a paradigm of another geometry");
  if (paradigm === "assignment")
    refuseUnless(head.similarity.kind === "identity" && head.pooling.kind === "max", "no assignment for this head");
  if (paradigm === "joint") {
    const linear = head.geometry.kind === "euclidean" ? "negated" : "identity";
    refuseUnless(head.similarity.kind === linear && head.pooling.kind === "max", "no joint for this head");
    refuseUnless(head.readout.kind === "linear" && patches === 1n, "no joint for this readout, or these patches");
  }
  if (paradigm === "mixed")
    refuseUnless(head.similarity.kind !== "quadratic" && head.pooling.kind === "max", "no mixed for this head");
  refuseUnless(patches >= BigInt(columnsOf(head.pooling)), "fewer patches than the mask has columns");
  refuseUnless(predicted < classes, "a class that the head does not have");
  certificate.predicted = Number(predicted);
  const seen = new Set();
  for (const s of statements) {
    refuseUnless(forms.includes(s.form), "a statement of another paradigm");
    const clause = s.form === "order" || s.form === "floor";
    const subject = clause ? s.form : s.form === "patch" ? `${s.patch} ${s.prototype}` : `${s.prototype}`;
    refuseUnless(!seen.has(subject), "two statements about one thing");
    seen.add(subject);
    if (clause) {
      refuseUnless(increases(s.except) && s.except.every((j) => j < size), "a clause with a list that is none");
      s.except = new Set(s.except.map(Number));
      continue;
    }
    refuseUnless(s.prototype < size && (s.form !== "patch" || s.patch < patches), "a statement about nothing");
    refuseUnless(s.lo === null || s.hi === null || compare(s.lo, s.hi) <= 0, "an interval with its greater end first");
    s.prototype = Number(s.prototype);
  }
  refuseUnless(margins.length === head.classes, "not one margin for each class");
  margins.forEach((m, c) =>
    refuseUnless(c === certificate.predicted ? m === null : m !== null && sign(m) > 0, "a margin that is none"),
  );
  for (const entry of certificate.prices) {
    refuseUnless(
      entry.rival < classes && entry.rival !== predicted && entry.prototypes.every((k) => k < size),
      "prices of nothing",
    );
    entry.rival = Number(entry.rival);
    entry.prototypes = entry.prototypes.map(Number);
  }
}
