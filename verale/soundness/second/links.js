// What activations say of each other (mixed): bounds of pooled observables, and through them of activations.
//
// y is a squared distance, or the opposite of a cosine, so that every similarity falls with y, and pooling takes the
// least y over the patches.

const BISECTIONS = 100;
const DOUBLINGS = 200;

class Links {
  // range(k, side) is the end of the activation k's range before this step.
  constructor(facts, stated, clauses, range) {
    Object.assign(this, {facts, stated, clauses, range, head: facts.head});
    this.distances = facts.head.geometry.kind === "euclidean";
    this.least = this.distances ? ZERO : negative(ONE);
    this.similarity = new Similarity(facts.head, 192);
    this.known = new Map();
  }

  similarityAt(y, k) {
    spend(40);
    return this.similarity.ofNumber(k, this.distances ? y : negative(y));
  }

  // The greatest y over the domain; null for none.
  most(k) {
    return this.distances ? this.facts.domain(k).hi.b : ONE;
  }

  // A number that y_k is not below (side -1: from the upper end of a_k), or not above (side 1); null if none is found.
  bound(k, side) {
    const key = side * (k + 1);
    if (!this.known.has(key)) this.known.set(key, side < 0 ? this.fromHigh(k) : this.fromLow(k));
    return this.known.get(key);
  }

  fromHigh(k) {
    const high = this.range(k, -1).b;
    const proved = (y) => compare(this.similarityAt(y, k).a, high) > 0;
    if (!proved(this.least)) return null;
    let good = this.least,
      bad = this.most(k);
    if (bad === null) {
      bad = ONE;
      for (let n = 0; n < DOUBLINGS && proved(bad); n += 1) [good, bad] = [bad, add(bad, bad)];
    }
    return proved(bad) ? bad : this.bisected(good, bad, proved);
  }

  fromLow(k) {
    const low = this.range(k, 1).a;
    const proved = (y) => compare(this.similarityAt(y, k).b, low) < 0;
    let bad = this.least,
      good = this.most(k);
    if (good === null) {
      good = ONE;
      for (let n = 0; n < DOUBLINGS && !proved(good); n += 1) [bad, good] = [good, add(good, good)];
    }
    if (!proved(good)) return null;
    return proved(bad) ? bad : this.bisected(good, bad, proved);
  }

  bisected(good, bad, proved) {
    for (let n = 0; n < BISECTIONS; n += 1) {
      const middle = multiply(add(good, bad), dyadic(1n, -1));
      if (proved(middle)) good = middle;
      else bad = middle;
    }
    return good;
  }

  // What the bound t of y_k says of y_j: a lower bound for side -1, an upper one for side 1; null for nothing.
  moved(t, k, j, side) {
    spend(20);
    const p = this.head.prototypes;
    if (this.distances) {
      const difference = p[j].map((x, d) => subtract(x, p[k][d]));
      const apart = dot(difference, difference);
      if (side < 0 && compare(t, apart) <= 0) return null;
      const twice = multiply(whole(2), rootOf(multiply(t, apart), WORKING_BITS).b);
      const both = add(t, apart);
      return side < 0 ? greater(ZERO, rounded(subtract(both, twice), WORKING_BITS, false)) : add(both, twice);
    }
    const lengths = rootOf(multiply(dot(p[j], p[j]), dot(p[k], p[k])), WORKING_BITS);
    const cosine = rounded(divideIntervals(exactly(dot(p[j], p[k])), lengths).a, WORKING_BITS, false);
    const c = greater(negative(ONE), cosine),
      x = negative(t);
    if (side < 0 ? compare(x, c) >= 0 : compare(x, negative(c)) <= 0) return null;
    const rest = multiply(subtract(ONE, multiply(c, c)), subtract(ONE, multiply(x, x)));
    const root = rootOf(rest, WORKING_BITS).b;
    const product = multiply(c, x);
    if (side < 0) return greater(negative(ONE), negative(add(product, root)));
    return lesser(ONE, negative(subtract(product, root)));
  }

  // A number that the activation j does not exceed (side -1), or reaches (side 1); null for none.
  end(j, side) {
    const form = side < 0 ? "order" : "floor";
    const lists = this.clauses.some((clause) => clause.form === form && clause.except.has(j));
    const sources = lists ? Array.from({length: this.head.size}, (_, k) => k) : [...this.stated.keys()];
    let best = null;
    for (const k of sources) {
      const t = k === j ? null : this.bound(k, side);
      const y = t === null ? null : this.moved(t, k, j, side);
      if (y !== null && (best === null || (side < 0 ? compare(y, best) > 0 : compare(y, best) < 0))) best = y;
    }
    if (best === null) return null;
    const y = rounded(best, WORKING_BITS, side > 0);
    const similar = this.facts.similarity.ofNumber(j, this.distances ? y : negative(y));
    return side < 0 ? similar.b : similar.a;
  }
}
