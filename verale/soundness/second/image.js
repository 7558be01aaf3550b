// One image under the head's formulas: its observables and activations, enclosed to a number of bits.

class EnclosedImage {
  constructor(head, latents, bits) {
    Object.assign(this, {head, latents, bits});
    this.similarity = new Similarity(head, bits);
    this.known = latents.map(() => new Map());
    this.ends = new Map();
  }

  observable(l, j) {
    const known = this.known[l];
    if (!known.has(j)) known.set(j, this.formula(l, j));
    return known.get(j);
  }

  formula(l, j) {
    const {geometry, prototypes} = this.head,
      z = this.latents[l];
    switch (geometry.kind) {
      case "softmax":
        return this.masses(l)[j];
      case "inner_product":
        return exactly(dot(z, prototypes[j]));
      case "euclidean": {
        const difference = z.map((x, d) => subtract(x, prototypes[j][d]));
        return exactly(dot(difference, difference));
      }
      default:
        return this.cosine(z, prototypes[j], geometry);
    }
  }

  cosine(z, p, {kind, epsilon}) {
    const product = dot(z, p),
      z2 = dot(z, z),
      p2 = dot(p, p);
    if (product.n === 0n) return NOTHING;
    // Roots lose digits where they are small or divide by small ones: their size is added to the bits.
    const size = (x) => Math.abs(bitLength(x.n) + x.k - bitLength(x.d));
    const bits = this.bits + size(z2) + size(p2) + size(product) + (epsilon.n === 0n ? 0 : size(epsilon)) + 16;
    const below =
      kind === "cosine"
        ? addIntervals(rootOf(multiply(p2, z2), bits), scaleInterval(rootOf(p2, bits), epsilon))
        : rootOf(multiply(p2, add(z2, epsilon)), bits);
    const value = isExact(below)
      ? exactly(divide(product, below.a))
      : {
          a: divide(product, product.n > 0n ? below.b : below.a),
          b: divide(product, product.n > 0n ? below.a : below.b),
        };
    const rough = isExact(value) ? value : {a: rounded(value.a, bits, false), b: rounded(value.b, bits, true)};
    return greaterInterval(exactly(negative(ONE)), lesserInterval(exactly(ONE), rough));
  }

  masses(l) {
    const z = this.latents[l],
      top = z.reduce(greater);
    if (!this.known[l].has("masses")) {
      const parts = z.map((x) => expOf(exactly(subtract(x, top)), this.bits + 16));
      const total = sumOf(parts);
      this.known[l].set(
        "masses",
        parts.map((x) => {
          if (isExact(x) && isExact(total)) return divideIntervals(x, total);
          const low = rounded(divide(x.a, total.b), this.bits + 16, false),
            high = rounded(divide(x.b, total.a), this.bits + 16, true);
          return {a: low, b: lesser(high, ONE)};
        }),
      );
    }
    return this.known[l].get("masses");
  }

  // The end of an activation: the lower one for side 1. Both hold the activation, up to the enclosures' width.
  activation(j, side) {
    const key = side * (j + 1);
    if (!this.ends.has(key)) {
      const members = this.latents.map((_, l) => ({
        count: 1n,
        patch: BigInt(l),
        lo: () => this.observable(l, j),
        hi: () => this.observable(l, j),
      }));
      this.ends.set(key, activationEnd(this.similarity, this.head.pooling, j, members, side));
    }
    return this.ends.get(key);
  }

  activationInterval(j) {
    const low = this.activation(j, 1),
      high = this.activation(j, -1);
    return low.a === high.b ? exactly(low.a) : {a: low.a, b: high.b};
  }

  // Whether a statement is true, false, or undecided (null) with these bits.
  judge(s) {
    if (s.form === "patch") return liesWithin(this.observable(Number(s.patch), s.prototype), s.lo, s.hi);
    if (s.form === "activation") return liesWithin(this.activationInterval(s.prototype), s.lo, s.hi);
    let verdict = true;
    for (let j = 0; j < this.head.size; j += 1) {
      if (s.except.has(j)) continue;
      const one = liesWithin(this.activationInterval(j), s.lo, s.hi);
      if (one === false) return false;
      if (one === null) verdict = null;
    }
    return verdict;
  }

  // Whether a class certainly has a logit that is at least the predicted one's.
  refutes(predicted, c) {
    const bound = marginBound(
      this.head,
      c,
      predicted,
      (j) => exactly(this.activationInterval(j).a),
      (j) => exactly(this.activationInterval(j).b),
    );
    return sign(bound.a) >= 0;
  }
}

// An end that is null bounds nothing.
function liesWithin(x, lo, hi) {
  const below = lo !== null && compare(x.b, lo) < 0,
    above = hi !== null && compare(x.a, hi) > 0;
  if (below || above) return false;
  return (lo === null || compare(x.a, lo) >= 0) && (hi === null || compare(x.b, hi) <= 0) ? true : null;
}
