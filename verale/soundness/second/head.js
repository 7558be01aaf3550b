// The head file ("The head file"): its description, its tensors, and what they need of each other.

const SIMILARITIES_OF = {
  euclidean: ["log_ratio", "negated", "exp_distance", "exponential", "quadratic"],
  cosine: ["identity", "exponential", "quadratic", "rectified"],
  rooted_cosine: ["identity", "exponential", "quadratic", "rectified"],
  inner_product: ["identity", "quadratic", "rectified"],
  softmax: ["identity", "threshold"],
};

const nullOr = (read) => (value) => (value === null ? null : read(value));

// The parts of the description: for each kind the fields that it has, and how they are read.
const PARTS = {
  geometry: {
    euclidean: {},
    cosine: {epsilon: hexFloat},
    rooted_cosine: {epsilon: hexFloat},
    inner_product: {radius: nullOr(hexFloat)},
    softmax: {},
  },
  similarity: {
    log_ratio: {epsilon: hexFloat},
    exp_distance: {epsilon: hexFloat},
    threshold: {threshold: hexFloat},
    identity: {},
    negated: {},
    exponential: {},
    quadratic: {},
    rectified: {},
  },
  pooling: {
    max: {},
    banks: {class_token: (x) => integerFrom(x, 1n)},
    masked_max: {},
    top_mean: {k: (x) => integerFrom(x, 1n)},
    max_minus_mean: {},
    max_minus_mean_distance: {},
  },
  readout: {
    linear: {},
    soft_tree: {absent: (x) => listOf(x, childOf), present: (x) => listOf(x, childOf)},
    maximum: {},
  },
};

function childOf(value) {
  return integerFrom(value, -(10n ** 18n));
}

function readPart(value, kinds) {
  refuseUnless(value instanceof Map && value.has("kind"), "a part without its kind");
  const kind = stringOf(value.get("kind"));
  refuseUnless(Object.prototype.hasOwnProperty.call(kinds, kind), `an unknown kind ${kind}`);
  const fields = kinds[kind];
  objectWith(value, ["kind", ...Object.keys(fields)]);
  const part = {kind};
  for (const name of Object.keys(fields)) part[name] = fields[name](value.get(name));
  return part;
}

function readHead(bytes) {
  refuseUnless(bytes.length <= 128 * MEBIBYTE, "more than 128 MiB");
  const {metadata, tensors} = readSafetensors(bytes);
  refuseUnless(
    metadata !== null && metadata.size === 1 && metadata.has("verale.head"),
    "no description, or more than that",
  );
  const text = parseJson(metadata.get("verale.head"));
  objectWith(text, ["version", "geometry", "domain", "similarity", "pooling", "labels"], ["readout", "compared"]);
  refuseUnless(text.get("version") === 1n, "an unknown version");
  refuseUnless(!text.has("compared") || typeof text.get("compared") === "boolean", "neither true nor false");
  const domain = objectWith(text.get("domain"), ["lower", "upper"]);
  const head = {
    geometry: readPart(text.get("geometry"), PARTS.geometry),
    similarity: readPart(text.get("similarity"), PARTS.similarity),
    pooling: readPart(text.get("pooling"), PARTS.pooling),
    readout: text.has("readout") ? readPart(text.get("readout"), PARTS.readout) : {kind: "linear"},
    lower: nullOr(hexFloat)(domain.get("lower")),
    upper: nullOr(hexFloat)(domain.get("upper")),
  };
  readTensors(head, tensors);
  if (text.get("labels") !== null)
    refuseUnless(listOf(text.get("labels"), stringOf).length === head.classes, "labels that are not one a class");
  checkParts(head);
  checkDomain(head);
  if (head.readout.kind === "soft_tree") checkTree(head);
  if (head.readout.kind === "maximum") checkChoices(head);
  return head;
}

function readTensors(head, tensors) {
  const {geometry, similarity, readout} = head;
  const tree = readout.kind === "soft_tree";
  const allowed = ["weight"];
  if (!tree) allowed.push("bias");
  if (geometry.kind !== "softmax") allowed.push("prototypes");
  if (["log_ratio", "negated", "exponential"].includes(similarity.kind)) allowed.push("scale");
  if (similarity.kind === "quadratic") allowed.push("peak");
  if (head.pooling.kind === "masked_max") allowed.push("mask");
  for (const name of tensors.keys()) refuseUnless(allowed.includes(name), `an unknown tensor ${name}`);

  function shapeOf(name, dimensions) {
    refuseUnless(tensors.has(name), `no tensor ${name}`);
    const shape = tensors.get(name).shape;
    refuseUnless(shape.length === dimensions, `${name} has another number of dimensions`);
    return shape.map(Number);
  }
  function vector(name, length) {
    if (!tensors.has(name)) return null;
    refuseUnless(shapeOf(name, 1)[0] === length, `${name} has another length`);
    return Array.from(floatsOf(tensors.get(name)), exactFloat);
  }
  function matrix(name) {
    const [rows, columns] = shapeOf(name, 2);
    const values = Array.from(floatsOf(tensors.get(name)), exactFloat);
    return Array.from({length: rows}, (_, i) => values.slice(i * columns, (i + 1) * columns));
  }

  const [classes, columns] = shapeOf("weight", 2);
  const size = tree ? columns - 1 : columns;
  refuseUnless(classes >= 2 && size >= 1, "fewer than two classes, or no prototype");
  Object.assign(head, {classes, size, depth: size, prototypes: null, weight: matrix("weight")});
  if (geometry.kind !== "softmax") {
    const [rows, depth] = shapeOf("prototypes", 2);
    refuseUnless(rows === size && depth >= 1, "prototypes of another shape");
    Object.assign(head, {depth, prototypes: matrix("prototypes")});
  }
  const biases = readout.kind === "maximum" ? size : classes;
  head.bias = vector("bias", biases) || Array(biases).fill(ZERO);
  head.scale = vector("scale", size) || Array(size).fill(ONE);
  head.peak = vector("peak", size) || Array(size).fill(ZERO);
  refuseUnless(
    head.scale.every((x) => sign(x) > 0),
    "a scale that is not positive",
  );
  if (head.pooling.kind === "banks") head.pooling = {kind: "masked_max", mask: banksOf(head.pooling.class_token, size)};
  else if (head.pooling.kind === "masked_max") {
    const [rows, K] = shapeOf("mask", 2);
    refuseUnless(rows === size && K >= 1 && K <= 65536, "a mask of another shape");
    head.pooling.mask = matrix("mask").map((row) => row.map(isOne));
    refuseUnless(
      head.pooling.mask.every((row) => row.includes(true)),
      "a prototype that looks nowhere",
    );
  }
}

// Two banks as a mask: the prototypes of the class token look at patch 0 alone, the others at all others.
function banksOf(token, size) {
  refuseUnless(token < BigInt(size), "no prototype left for the patches");
  return Array.from({length: size}, (_, j) => (BigInt(j) < token ? [true, false] : [false, true]));
}

function isOne(x) {
  refuseUnless(x.n === 0n || compare(x, ONE) === 0, "an entry that is neither 0 nor 1");
  return x.n !== 0n;
}

// How many columns a mask has; the last one stands for all further patches.
function columnsOf(pooling) {
  return pooling.kind === "masked_max" ? pooling.mask[0].length : 1;
}

// What a part needs of the others.
function checkParts(head) {
  const {geometry, similarity, pooling, readout, lower, upper} = head;
  const bounded = lower !== null && upper !== null;
  const linear = readout.kind === "linear";
  refuseUnless(SIMILARITIES_OF[geometry.kind].includes(similarity.kind), "a similarity of another geometry");
  if (geometry.kind === "euclidean" && ["negated", "quadratic"].includes(similarity.kind))
    refuseUnless(bounded, "no bounds");
  if (isCosine(head)) {
    refuseUnless(sign(geometry.epsilon) >= 0, "an epsilon below 0");
    refuseUnless(
      head.prototypes.every((row) => row.some((x) => x.n !== 0n)),
      "a zero prototype",
    );
  }
  if (geometry.kind === "inner_product")
    refuseUnless(geometry.radius === null ? bounded : sign(geometry.radius) > 0, "no radius and no bounds");
  if (geometry.kind === "softmax") refuseUnless(linear, "masses without a linear readout");
  if (similarity.kind === "log_ratio")
    refuseUnless(sign(similarity.epsilon) > 0 && compare(similarity.epsilon, ONE) < 0, "an epsilon outside (0, 1)");
  if (similarity.kind === "exp_distance") refuseUnless(sign(similarity.epsilon) >= 0, "an epsilon below 0");
  if (similarity.kind === "threshold")
    refuseUnless(
      sign(similarity.threshold) > 0 && compare(similarity.threshold, ONE) < 0,
      "a threshold outside (0, 1)",
    );
  if (pooling.kind === "max_minus_mean")
    refuseUnless(linear && ["log_ratio", "identity"].includes(similarity.kind), "no means of these");
  if (pooling.kind === "max_minus_mean_distance")
    refuseUnless(linear && similarity.kind === "log_ratio", "no mean distances of these");
  if (readout.kind === "soft_tree")
    refuseUnless(
      pooling.kind === "max" && ["exp_distance", "exponential"].includes(similarity.kind),
      "no tree over these",
    );
}

function isCosine(head) {
  return head.geometry.kind === "cosine" || head.geometry.kind === "rooted_cosine";
}

function checkDomain({lower, upper, geometry, depth}) {
  if (lower !== null && upper !== null) refuseUnless(compare(lower, upper) < 0, "a domain without an inside");
  if (!geometry.radius) return;
  const nearest = greater(greater(lower || ZERO, negative(upper || ZERO)), ZERO);
  refuseUnless(
    compare(multiply(whole(depth), multiply(nearest, nearest)), multiply(geometry.radius, geometry.radius)) <= 0,
    "an empty domain",
  );
}

function checkTree({readout, size}) {
  refuseUnless(readout.absent.length === size && readout.present.length === size, "a tree of another size");
  const seen = new Set();
  for (const children of [readout.absent, readout.present]) {
    children.forEach((child, node) => {
      refuseUnless(
        child > BigInt(node) ? child < BigInt(size) : child < 0n && -1n - child <= BigInt(size),
        "a child that is none",
      );
      refuseUnless(!seen.has(child), "a child of two nodes");
      seen.add(child);
    });
  }
  // 2 P different children among P - 1 nodes and P + 1 leaves are all of them.
  readout.absent = readout.absent.map(Number);
  readout.present = readout.present.map(Number);
}

function checkChoices({weight}) {
  for (const row of weight) {
    refuseUnless(
      row.every((x) => x.n === 0n || compare(x, ONE) === 0),
      "a weight that is neither 0 nor 1",
    );
    refuseUnless(
      row.some((x) => x.n !== 0n),
      "a class without a prototype",
    );
  }
}
