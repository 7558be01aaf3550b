// What is known of the latents: the domain, and a set of statements. From it follow the reference ranges of observables
// and activations. Each end is an interval that holds the true end, so that one computation serves both proofs: that a
// margin is positive, and that it is not.

// The parts that depend on the head alone.
class HeadFacts {
  constructor(head) {
    this.head = head;
    this.products = head.prototypes && new Products(head.prototypes);
    this.similarity = new Similarity(head, WORKING_BITS);
    this.ranges = Array(head.size).fill(null);
    this.norms = Array(head.size).fill(null);
  }

  domain(j) {
    if (this.ranges[j] === null) this.ranges[j] = domainRange(this.head, j);
    return this.ranges[j];
  }

  norm(j) {
    if (this.norms[j] === null)
      this.norms[j] = rootOf(dot(this.head.prototypes[j], this.head.prototypes[j]), WORKING_BITS);
    return this.norms[j];
  }

  // The ball of inner products: its centre's coordinate and its squared radius.
  ball() {
    const {lower, upper, geometry, depth} = this.head;
    const half = dyadic(1n, -1);
    const about0 = geometry.radius && {centre: ZERO, radius2: squareOf(geometry.radius)};
    const box = lower !== null &&
      upper !== null && {
        centre: multiply(half, add(lower, upper)),
        radius2: multiply(whole(depth), squareOf(multiply(half, subtract(upper, lower)))),
      };
    return !box || (about0 && compare(about0.radius2, box.radius2) <= 0) ? about0 : box;
  }
}

// The ranges given the statements about one patch. given(j, side) is the lower end (side 1) or the upper end (side -1):
// {outer, inner, endless}: outer is not within the range, inner is; each is null where it is unknown. endless: no
// statement bounds it, nor does the space. An end of a statement is null where there is no bound.
class StatedPatch {
  constructor(facts, statements) {
    this.facts = facts;
    this.statements = statements;
    this.stated = new Map(statements.map((s) => [s.prototype, s]));
    this.empty = false;
    const {head, products} = facts;
    if (head.geometry.kind === "softmax") this.takeMasses();
    else if (head.geometry.kind === "euclidean") this.outward = this.inward = this.patch((s) => [s.lo, s.hi], null);
    else if (head.geometry.kind === "inner_product") {
      const ball = facts.ball();
      this.shift = (j) => multiply(ball.centre, sum(head.prototypes[j]));
      this.outward = this.inward = this.patch(
        (s) => [s.lo, s.hi].map((x) => x && subtract(x, this.shift(s.prototype))),
        ball.radius2,
      );
    } else this.takeCosines();
  }

  patch(endsOf, radius2) {
    const list = this.statements.map((s) => {
      const [lo, hi] = endsOf(s);
      return {j: s.prototype, lo, hi};
    });
    const possible = list.every((f) => f.lo === null || f.hi === null || compare(f.lo, f.hi) <= 0);
    return possible ? new Patch(this.facts.products, list, radius2) : null;
  }

  // A cosine times |p| may be irrational. Its interval is rounded outward for proofs, inward for points.
  takeCosines() {
    const stretched = (x, j, up) => {
      if (x === null) return null;
      const y = scaleInterval(this.facts.norm(j), x);
      return rounded(up ? y.b : y.a, 2 * WORKING_BITS, up);
    };
    this.outward = this.patch((s) => [stretched(s.lo, s.prototype, false), stretched(s.hi, s.prototype, true)], ONE);
    const exact = this.statements.every((s) => isExact(this.facts.norm(s.prototype)));
    this.inward = exact
      ? this.outward
      : this.patch((s) => [stretched(s.lo, s.prototype, true), stretched(s.hi, s.prototype, false)], ONE);
  }

  // A mass lies in [0, 1], whatever is stated.
  takeMasses() {
    const masses = this.statements.map((s) => ({...s, lo: s.lo || ZERO, hi: s.hi || ONE}));
    this.stated = new Map(masses.map((s) => [s.prototype, s]));
    const lows = masses.map((s) => greater(s.lo, ZERO));
    this.room = subtract(ONE, sum(lows));
    this.highs = sum(masses.map((s) => s.hi));
    this.others = this.facts.head.size - this.statements.length;
  }

  givenMass(j, side) {
    const s = this.stated.get(j);
    let end;
    if (side < 0) end = s ? lesser(s.hi, add(greater(s.lo, ZERO), this.room)) : this.room;
    else if (s)
      end = this.others ? greater(s.lo, ZERO) : greater(greater(s.lo, ZERO), subtract(ONE, subtract(this.highs, s.hi)));
    else end = this.others === 1 ? greater(ZERO, subtract(ONE, this.highs)) : ZERO;
    return {outer: end, inner: end};
  }

  given(j, side) {
    if (this.room) return this.givenMass(j, side);
    const signed = (x) => (x === null ? null : side > 0 ? x : negative(x));
    const far = this.outward.extreme(j, side),
      near = this.inward && this.inward.extreme(j, side);
    if (far.empty) this.empty = true;
    let outer = signed(far.bound),
      inner = near && signed(near.reached);
    if (this.shift) {
      outer = outer && add(outer, this.shift(j));
      inner = inner && add(inner, this.shift(j));
    } else if (isCosine(this.facts.head)) {
      const over = (x, up) => {
        const y = divideIntervals(exactly(x), this.facts.norm(j));
        return up ? y.b : y.a;
      };
      outer = outer && over(outer, side < 0);
      inner = inner && over(inner, side > 0);
    }
    const s = this.stated.get(j);
    const stated = s ? (side > 0 ? s.lo : s.hi) : null;
    if (stated !== null) outer = outer === null ? stated : side > 0 ? greater(outer, stated) : lesser(outer, stated);
    return {outer, inner, endless: far.endless};
  }

  // The infimum of a sum of observables, terms [[j, weight], ...], over all that satisfies the statements: a is not
  // above it, b not below; each is null where it is unknown. endless: it is minus infinity.
  infimum(terms) {
    let shares = terms,
      error = ZERO;
    if (isCosine(this.facts.head)) {
      // A cosine is <y, p_j> / |p_j|. Where the root is irrational, the share is nearly the weight over it.
      const norms = new Map(terms.map(([j]) => [j, this.facts.norm(j)]));
      shares = terms.map(([j, x]) => {
        const share = divide(x, norms.get(j).a);
        return [j, isExact(norms.get(j)) ? share : rounded(share, 2 * WORKING_BITS, true)];
      });
      const off = shares.map(([j, x], at) => subtractIntervals(exactly(terms[at][1]), scaleInterval(norms.get(j), x)));
      error = sum(off.map((x) => greater(negative(x.a), x.b)));
    }
    const d = shares.reduce((x, [, y]) => (x / greatestDivisor(x, y.d)) * y.d, 1n);
    const k = Math.min(0, ...shares.map(([, x]) => x.k));
    const weights = shares.map(([j, x]) => [j, (x.n * (d / x.d)) << BigInt(x.k - k)]);
    const target = {
      key: weights.map(([j, x]) => `${j}:${x}`).join(),
      terms: weights,
      total: weights.reduce((x, [, y]) => x + y, 0n),
    };
    const far = this.outward.extremeOf(target, 1),
      near = this.inward && this.inward.extremeOf(target, 1);
    if (far.empty) this.empty = true;
    const moved = this.shift ? sum(shares.map(([j, x]) => multiply(x, this.shift(j)))) : ZERO;
    const value = (x) => x && add(moved, multiply(x, fraction(1n, d, k)));
    const a = value(far.bound),
      b = near && value(near.reached);
    return {a: a && subtract(a, error), b: b && add(b, error), endless: far.endless === true};
  }

  // The end of the reference range. What is not known of it is taken from the domain's range. It is cut to that on both
  // sides, which changes nothing unless the range is empty.
  end(j, side) {
    const {lo, hi} = this.facts.domain(j),
      {outer, inner, endless} = this.given(j, side);
    if (endless) return hi;
    const cut = (x) => {
      const low = x === null ? null : greater(x, lo.a);
      return low === null ? hi.b : hi.b === null ? low : lesser(low, hi.b);
    };
    if (side > 0) {
      const a = cut(outer === null ? lo.a : greater(outer, lo.a)),
        b = cut(inner === null ? hi.b : greater(greater(inner, lo.b), a));
      return b !== null && compare(a, b) === 0 ? exactly(a) : {a, b};
    }
    const b = cut(outer),
      high = inner === null ? lo.a : hi.a === null ? inner : lesser(inner, hi.a);
    const a = cut(b === null ? high : lesser(high, b));
    return b !== null && compare(a, b) === 0 ? exactly(b) : {a, b};
  }

  // Whether the range of j is certainly empty.
  isEmpty(j) {
    const {lo, hi} = this.facts.domain(j),
      low = this.given(j, 1).outer,
      high = this.given(j, -1).outer;
    const above = (x, y) => x !== null && y !== null && compare(x, y) > 0;
    return this.empty || above(low, high) || above(low, hi.b) || above(lo.a, high);
  }

  // Whether the range of j certainly is not.
  isInhabited(j) {
    const {lo, hi} = this.facts.domain(j),
      low = this.given(j, 1).inner,
      {inner: high, endless} = this.given(j, -1);
    if (low === null || (high === null && !endless)) return false;
    if (this.room && compare(low, high) > 0) return false;
    return (hi.a === null || compare(low, hi.a) <= 0) && (endless || compare(high, lo.b) >= 0);
  }
}

// All that is known, of all patches.
class Known {
  constructor(facts, patches, statements, before = null) {
    Object.assign(this, {facts, patches, statements, head: facts.head});
    this.activations = new Map();
    this.stated = new Map();
    this.clauses = [];
    this.links = null;
    this.linked = new Map();
    this.byPatch = new Map();
    const lists = new Map();
    for (const s of statements) {
      if (s.form === "order" || s.form === "floor") this.clauses.push(s);
      else if (s.form === "activation") this.stated.set(s.prototype, s);
      else if (lists.has(s.patch)) lists.get(s.patch).push(s);
      else lists.set(s.patch, [s]);
    }
    for (const [patch, list] of lists) {
      const old = before && before.byPatch.get(patch);
      this.byPatch.set(
        patch,
        old && old.range.statements.length === list.length
          ? old
          : memberOf(1n, patch, new StatedPatch(facts, list)),
      );
    }
  }

  // The same without one statement. What is known of other patches is kept.
  without(index) {
    return new Known(
      this.facts,
      this.patches,
      this.statements.filter((_, i) => i !== index),
      this,
    );
  }

  members(j) {
    const members = [...this.byPatch.values()].map((m) => m.forPrototype(j));
    let rest = this.patches - BigInt(this.byPatch.size);
    const {lo, hi} = this.facts.domain(j);
    const unstated = (count, patch) => members.push({count, patch, lo: () => lo, hi: () => hi});
    const last = BigInt(columnsOf(this.head.pooling) - 1);
    for (let patch = 0n; patch < last; patch++) {
      if (this.byPatch.has(patch)) continue;
      unstated(1n, patch);
      rest -= 1n;
    }
    if (rest > 0n) unstated(rest, last);
    return members;
  }

  // The end of the reference range of an activation. Where they count, it is cut by what activations say of each other.
  activation(j, side) {
    const end = this.unlinked(j, side);
    if (this.links === null) return end;
    const key = side * (j + 1);
    if (!this.linked.has(key)) {
      const bound = this.links.end(j, side);
      this.linked.set(key, bound === null ? end : extremeInterval(end, exactly(bound), side));
    }
    return this.linked.get(key);
  }

  link() {
    this.links = new Links(this.facts, this.stated, this.clauses, (k, side) => this.unlinked(k, side));
  }

  unlinked(j, side) {
    const key = side * (j + 1);
    if (!this.activations.has(key)) {
      let end = activationEnd(this.facts.similarity, this.head.pooling, j, this.members(j), side);
      for (const s of [this.stated.get(j), ...this.clauses.filter((clause) => !clause.except.has(j))]) {
        const bound = s ? (side > 0 ? s.lo : s.hi) : null;
        if (bound !== null) end = extremeInterval(end, exactly(bound), side);
      }
      this.activations.set(key, end);
    }
    return this.activations.get(key);
  }

  // The reference margin of a class, before prices.
  margin(predicted, c) {
    return marginBound(
      this.head,
      predicted,
      c,
      (j) => this.activation(j, 1),
      (j) => this.activation(j, -1),
    );
  }

  // The joint margin of a class: a and b as for an infimum.
  jointMargin(predicted, c) {
    const {weight, scale, bias, geometry} = this.head;
    const terms = weight[c]
      .map((x, j) => [j, subtract(weight[predicted][j], x)])
      .filter(([, x]) => x.n !== 0n)
      .map(([j, x]) => [j, geometry.kind === "euclidean" ? negative(multiply(scale[j], x)) : x]);
    const stated = this.byPatch.get(0n);
    const {a, b, endless} = (stated ? stated.range : new StatedPatch(this.facts, [])).infimum(terms);
    const offset = subtract(bias[predicted], bias[c]);
    return {a: a && add(a, offset), b: b && add(b, offset), endless};
  }

  everyPrototype(test) {
    return Array.from({length: this.head.size}, (_, j) => j).every(test);
  }

  // Whether nothing satisfies the statements, as far as ranges show it.
  isEmpty() {
    const ranges = [...this.byPatch.values()].map((m) => m.range);
    return !this.everyPrototype(
      (j) => !ranges.some((r) => r.isEmpty(j)) && compare(this.activation(j, 1).a, this.activation(j, -1).b) <= 0,
    );
  }

  // Whether no range is empty.
  isInhabited() {
    const ranges = [...this.byPatch.values()].map((m) => m.range);
    const stated = this.stated.size > 0 || this.clauses.length > 0;
    return this.everyPrototype(
      (j) =>
        ranges.every((r) => r.isInhabited(j)) &&
        (!stated || compare(this.activation(j, 1).b, this.activation(j, -1).a) <= 0),
    );
  }
}

// A stated patch as a member of the poolings, for each prototype. Ends are computed once.
function memberOf(count, patch, range) {
  const known = new Map();
  const forPrototype = (j) => {
    if (!known.has(j)) {
      let low = null,
        high = null;
      known.set(j, {
        count,
        patch,
        lo: () => (low = low || range.end(j, 1)),
        hi: () => (high = high || range.end(j, -1)),
      });
    }
    return known.get(j);
  };
  return {range, forPrototype};
}
