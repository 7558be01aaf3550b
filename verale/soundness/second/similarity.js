// Similarities: of a number, and of a range. A range is {lo, hi}, each end an interval that holds it.

class Similarity {
  constructor(head, bits) {
    this.head = head;
    this.kind = head.similarity.kind;
    this.bits = bits;
    this.known = Array.from({length: head.size}, () => new WeakMap());
    this.falls = head.geometry.kind === "euclidean";
    this.monotone = this.kind !== "quadratic";
  }

  // The similarity of an exact observable; null stands for an infinite distance.
  ofNumber(j, m) {
    if (m === null) return NOTHING;
    if (!this.known[j].has(m)) this.known[j].set(m, this.formula(j, m));
    return this.known[j].get(m);
  }

  formula(j, m) {
    const {scale, similarity} = this.head;
    const s = scale[j];
    switch (this.kind) {
      case "identity":
        return exactly(m);
      case "rectified":
        return exactly(greater(m, ZERO));
      case "threshold":
        return exactly(compare(m, similarity.threshold) >= 0 ? m : ZERO);
      case "negated":
        return exactly(negative(multiply(s, m)));
      case "exponential":
        return expOf(exactly(negative(multiply(s, this.falls ? m : subtract(ONE, m)))), this.bits);
      case "exp_distance":
        return expOf(negativeInterval(rootOf(add(m, similarity.epsilon), this.bits + 8)), this.bits);
      default: {
        // log_ratio
        const above = add(multiply(s, m), ONE),
          below = add(multiply(s, m), similarity.epsilon);
        return lnOf({n: above.n * below.d, d: below.n * above.d, k: above.k - below.k}, this.bits);
      }
    }
  }

  // The similarity of an interval, where it is monotone.
  ofInterval(j, x) {
    const a = this.ofNumber(j, x.a);
    if (isExact(x)) return a;
    const b = this.ofNumber(j, x.b);
    return this.falls ? {a: b.a, b: a.b} : {a: a.a, b: b.b};
  }

  // The lower end (side 1) or the upper end (side -1) of the similarity of a range of observables.
  end(j, range, side) {
    if (this.monotone) return this.ofInterval(j, side > 0 === this.falls ? range.hi() : range.lo());
    const c = exactly(this.head.peak[j]);
    const below = subtractIntervals(range.lo(), c),
      above = subtractIntervals(c, range.hi());
    const root =
      side < 0
        ? greaterInterval(NOTHING, greaterInterval(below, above))
        : greaterInterval(negativeInterval(above), negativeInterval(below));
    return negativeInterval(multiplyIntervals(root, root));
  }
}
