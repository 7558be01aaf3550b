// Stage 1 of the reference argument: the range of an observable given the statements about one patch.
//
// The space is a ball (cosines, inner product) or all latents with one coordinate more (euclidean). A *pattern* says
// which statements are taken, each as an equality at one of its ends. The points that satisfy these equalities are a
// sphere, and the target has its extremes where the sphere meets the direction of the target ("Weights that serve").
// Then
// - if each weight has the sign that belongs to its end, the rule proves a bound of the target;
// - if the point satisfies the statements that were not taken too, the target reaches its value there.
// A pattern that does both is the optimum. Whatever the search finds, each number it returns is proved.
// All is in integers: lengths squared and products are multiples of 2^unit.

const SEARCH_LIMIT = 600;

// The work that is left: each unit is a few operations on integers.
class Exhausted extends Error {}

let workLeft = Infinity;

function spend(units) {
  workLeft -= units;
  if (workLeft < 0) throw new Exhausted();
}

// The inverse of a matrix of products, as adjugate / determinant, without fractions (Bareiss, Gauss and Jordan).
// null if the matrix is singular.
function invertProducts(matrix) {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1n : 0n))]);
  let before = 1n;
  for (let c = 0; c < n; c += 1) {
    const pivot = rows[c][c];
    if (pivot <= 0n) return null;
    spend(n * n);
    for (let r = 0; r < n; r += 1) {
      if (r === c) continue;
      const factor = rows[r][c];
      for (let j = 0; j < 2 * n; j += 1) rows[r][j] = (pivot * rows[r][j] - factor * rows[c][j]) / before;
    }
    before = pivot;
  }
  return {det: before, adjugate: rows.map((row) => row.slice(n))};
}

function bigDot(x, y) {
  let total = 0n;
  for (let i = 0; i < x.length; i += 1) total += x[i] * y[i];
  return total;
}

// The products of the prototypes with each other, as integers at a common exponent.
class Products {
  constructor(prototypes) {
    let k = 0;
    for (const row of prototypes) for (const x of row) if (x.n !== 0n) k = Math.min(k, x.k);
    this.rows = prototypes.map((row) => row.map((x) => x.n << BigInt(x.k - k)));
    this.exponent = 2 * k;
    this.known = new Map();
  }

  at(i, j) {
    const key = i < j ? i * this.rows.length + j : j * this.rows.length + i;
    if (!this.known.has(key)) this.known.set(key, bigDot(this.rows[i], this.rows[j]));
    return this.known.get(key);
  }
}

class Patch {
  // facts: {j, lo, hi} with dyadic ends, of |z - p_j|^2 where radius2 is null, else of <y, p_j> with |y|^2 <= radius2.
  // One end of a fact may be null: there is no bound.
  constructor(products, facts, radius2) {
    const exponents = facts
      .flatMap((f) => [f.lo, f.hi])
      .concat(radius2 ? [radius2] : [])
      .filter((x) => x !== null)
      .map((x) => x.k);
    // Three bits more than the numbers have, so that halves and middles are integers.
    this.unit = Math.min(products.exponent, ...exponents) - 3;
    const scaled = (x) => x && x.n << BigInt(x.k - this.unit);
    const shift = BigInt(products.exponent - this.unit);
    this.product = (i, j) => products.at(i, j) << shift;
    this.euclidean = radius2 === null;
    this.radius2 = scaled(radius2);
    this.facts = facts.map((f) => ({j: f.j, lo: scaled(f.lo), hi: scaled(f.hi)}));
    this.subsets = new Map();
    this.found = new Map();
  }

  // Whether a fact has its lower (1) or upper (-1) end; one that is not taken (0) needs none.
  hasEnd(i, end) {
    return end === 0 || (end > 0 ? this.facts[i].lo : this.facts[i].hi) !== null;
  }

  // Whether its two ends are one.
  isEquality(i) {
    return this.facts[i].lo === this.facts[i].hi;
  }

  // <p_i - p_o, p_j - p_o> where there is an origin o, else <p_i, p_j>.
  shiftedProduct(i, j, o) {
    if (o === null) return this.product(i, j);
    return this.product(i, j) - this.product(i, o) - this.product(j, o) + this.product(o, o);
  }

  // What the statements of a subset have in common for all ends and targets. null if they depend on each other.
  subset(taken) {
    const key = taken.join();
    if (!this.subsets.has(key)) {
      const origin = this.euclidean ? this.facts[taken[0]].j : null;
      const rest = (this.euclidean ? taken.slice(1) : taken).map((i) => this.facts[i].j);
      const inverse = invertProducts(rest.map((i) => rest.map((j) => this.shiftedProduct(i, j, origin))));
      this.subsets.set(key, inverse && {...inverse, origin, rest, targets: new Map()});
    }
    return this.subsets.get(key);
  }

  // <p_i - p_o, q>, where the target t is total |y|^2 - 2 <y, q> and a constant about the origin, or <y, q>.
  productWith(t, i, o) {
    return t.terms.reduce((x, [j, weight]) => x + weight * this.shiftedProduct(i, j, o), 0n);
  }

  // |q|^2, and the target's value at the origin where it is one of distances.
  lengthOf(t, o) {
    return t.terms.reduce((x, [j, weight]) => x + weight * this.productWith(t, j, o), 0n);
  }

  constantOf(t, o) {
    return t.terms.reduce((x, [j, weight]) => x + weight * this.shiftedProduct(j, j, o), 0n);
  }

  // The target's part in the span of a subset: tau det, and the rest's length |b'|^2 det.
  target(subset, t) {
    if (!subset.targets.has(t.key)) {
      spend(t.terms.length * (subset.rest.length + t.terms.length));
      const h = subset.rest.map((i) => this.productWith(t, i, subset.origin));
      const tau = subset.adjugate.map((row) => bigDot(row, h));
      const length2 = this.lengthOf(t, subset.origin);
      const constant = this.euclidean ? this.constantOf(t, subset.origin) : 0n;
      subset.targets.set(t.key, {h, tau, constant, total: t.total, r2: subset.det * length2 - bigDot(h, tau)});
    }
    return subset.targets.get(t.key);
  }

  // The sphere of the points where the taken statements have the given values: sigma det and rho^2 det.
  sphere(subset, values) {
    const {origin, rest, det} = subset;
    const beta = this.euclidean
      ? rest.map((i, at) => (values[0] - values[at + 1] + this.shiftedProduct(i, i, origin)) / 2n)
      : values;
    const sigma = subset.adjugate.map((row) => bigDot(row, beta));
    const size2 = this.euclidean ? values[0] : this.radius2;
    return {beta, sigma, size2, rho2: det * size2 - bigDot(beta, sigma)};
  }

  // kappa = |b'| / rho as a fraction num / den: one exact value where it is rational, else bounds from below and above.
  // root is that of r2 rho2, or null. 1 / 0 stands for infinity.
  kappa(r2, rho2, root) {
    if (root === 0n) return r2 === 0n ? [[0n, 1n]] : [[1n, 0n]];
    if (root !== null) return [[root, rho2]];
    const s = Math.max(0, 200 + ((bitLength(rho2) - bitLength(r2)) >> 1));
    const num = integerRoot((r2 << BigInt(2 * s)) / rho2);
    return [
      [num, power2(s)],
      [num + 1n, power2(s)],
    ];
  }

  // The weights of a pattern, times any positive number.
  weights(subset, target, sphere, side, num, den) {
    const e = BigInt(side);
    if (!this.euclidean) return target.tau.map((t, i) => e * t * den + num * sphere.sigma[i]);
    const others = target.tau.map((t, i) => e * t * den - num * sphere.sigma[i]);
    const all = (x) => x.reduce((p, q) => p + q, 0n);
    const first = e * den * (target.total * subset.det - all(target.tau)) - num * (subset.det - all(sphere.sigma));
    return [first, ...others];
  }

  // Judges a pattern: a list with 0 for each statement that is not taken, 1 or -1 for its lower or upper end.
  // Returns null if it has no meaning, else the bound of side * target (if proved), the value reached (if reached), and
  // what is wrong: statements whose weight has the wrong sign, statements that the point breaks.
  judge(pattern, t, side) {
    const taken = pattern.flatMap((s, i) => (s ? [i] : []));
    if (this.euclidean && taken.length === 0) return this.judgeNothing(t, side);
    const subset = this.subset(taken);
    if (subset === null) return null;
    spend(1 + taken.length * this.facts.length);
    const target = this.target(subset, t);
    const sphere = this.sphere(
      subset,
      taken.map((i) => (pattern[i] > 0 ? this.facts[i].lo : this.facts[i].hi)),
    );
    const {det} = subset,
      {r2} = target,
      {rho2} = sphere;
    const weightsAt = ([num, den]) => this.weights(subset, target, sphere, side, num, den);
    const wrongOf = (weights) =>
      taken
        .map((i, at) => [i, weights[at]])
        .filter(([i, w]) => w * BigInt(pattern[i]) < 0n && !this.isEquality(i));
    if (rho2 < 0n) {
      // No point satisfies the equalities. If infinite weights have the right signs, none satisfies the statements.
      const wrong = wrongOf(weightsAt([1n, 0n]));
      return {empty: wrong.length === 0, bound: null, reached: null, wrong, broken: []};
    }
    const root = squareRoot(r2 * rho2);
    const kappas = this.kappa(r2, rho2, root);
    let weights = weightsAt(kappas[0]);
    if (rho2 === 0n && r2 !== 0n) {
      // The bound is approached as kappa grows. Weights that do not grow with it have the sign of their other part.
      const finite = weightsAt([0n, 1n]);
      weights = weights.map((w, i) => (w === 0n ? finite[i] : w));
    }
    const wrong = wrongOf(weights);
    const broken = this.brokenBy(pattern, subset, target, sphere, side, t, root === 0n ? [[1n, 0n]] : kappas);
    const {bound, reached} = this.values(subset, target, sphere, side, root, kappas[0]);
    return {
      empty: false,
      bound: wrong.length ? null : bound,
      reached: broken.length ? null : reached,
      wrong,
      broken: broken.filter(([, amount]) => amount !== null),
    };
  }

  // What the weights prove of side * target, and a number that is not below its value at the extreme point.
  values(subset, target, sphere, side, root, [num, den]) {
    const {det} = subset,
      {r2} = target,
      {rho2} = sphere;
    const linear =
      BigInt(side) *
      (this.euclidean
        ? det * (target.total * sphere.size2 + target.constant) - 2n * bigDot(target.tau, sphere.beta)
        : bigDot(target.tau, sphere.beta));
    // The extreme is linear - 2 rho |b'| (euclidean) or linear - rho |b'|, over det.
    const twice = this.euclidean ? 1n : 2n;
    if (root !== null) {
      const extreme = fraction(twice * linear - 2n * root, twice * det, this.unit);
      return {bound: tidied(extreme, false), reached: tidied(extreme, true)};
    }
    // kappa rho^2 + |b'|^2 / kappa is 2 rho |b'| for the true kappa, and more for every other.
    const over = (cost) => ({n: twice * linear * den - cost, d: twice * det * den, k: this.unit});
    return {
      bound: rounded(over(num * rho2 + ceilDivide(r2 * den * den, num)), WORKING_BITS, false),
      reached: rounded(over(2n * num * rho2), WORKING_BITS, true),
    };
  }

  // No statement taken, euclidean: a target with |y|^2 has its least value at q / total; a distance, 0.
  judgeNothing(t, side) {
    const broken = [];
    if (!this.isBounded(t, side)) {
      this.facts.forEach((f, i) => f.hi !== null && broken.push([i, 1, -1]));
      return {empty: false, bound: null, reached: null, wrong: [], broken, endless: broken.length === 0};
    }
    const constant = BigInt(side) * this.constantOf(t, null);
    const total = BigInt(side) * t.total;
    if (total === 0n) {
      // The target is constant.
      const value = fraction(constant, 1n, this.unit);
      return {empty: false, bound: value, reached: value, wrong: [], broken};
    }
    const length2 = this.lengthOf(t, null),
      size = total * total;
    const value = fraction(total * constant - length2, total, this.unit);
    this.facts.forEach((f, i) => {
      const product = this.productWith(t, f.j, null);
      const there = length2 - 2n * t.total * product + size * this.shiftedProduct(f.j, f.j, null);
      const excess = (x) => approximate(fraction(x, size, 0));
      if (f.lo !== null && there < size * f.lo) broken.push([i, excess(size * f.lo - there), 1]);
      if (f.hi !== null && there > size * f.hi) broken.push([i, excess(there - size * f.hi), -1]);
    });
    return {empty: false, bound: value, reached: broken.length ? null : value, wrong: [], broken};
  }

  // Whether a target of distances has a least value without any statement (side 1), or a greatest (side -1).
  isBounded(t, side) {
    const total = BigInt(side) * t.total;
    return total > 0n || (total === 0n && this.lengthOf(t, null) === 0n);
  }

  // The statements that are not taken and that the extreme point breaks: [index, by how much, which end]. The amount is
  // null where the bounds of kappa do not decide.
  brokenBy(pattern, subset, target, sphere, side, t, ends) {
    const broken = [];
    const {det, origin, rest} = subset;
    this.facts.forEach((f, i) => {
      if (pattern[i]) return;
      const h = rest.map((x) => this.shiftedProduct(x, f.j, origin));
      const inSpan = bigDot(sphere.sigma, h);
      const along = BigInt(side) * (det * this.productWith(t, f.j, origin) - bigDot(target.tau, h));
      const verdicts = ends.map(([num, den]) => {
        const value = this.euclidean
          ? num * (det * (sphere.size2 + this.shiftedProduct(f.j, f.j, origin)) - 2n * inSpan) - 2n * along * den
          : num * inSpan - along * den;
        const unit = det * num;
        if (f.lo !== null && value < unit * f.lo) return [i, approximate({n: unit * f.lo - value, d: unit, k: 0}), 1];
        if (f.hi !== null && value > unit * f.hi) return [i, approximate({n: value - unit * f.hi, d: unit, k: 0}), -1];
        return null;
      });
      if (verdicts.every((v) => v === null)) return;
      if (verdicts.every((v) => v !== null && v[2] === verdicts[0][2])) broken.push(verdicts[0]);
      else broken.push([i, null, 0]);
    });
    return broken;
  }

  // A greatest independent subset of the statements.
  independent() {
    if (!this.start) {
      this.start = this.facts.map((_, i) => i);
      if (this.subset(this.start) === null) {
        this.start = [];
        this.facts.forEach((_, i) => {
          if (this.subset([...this.start, i]) !== null) this.start.push(i);
        });
      }
    }
    return this.start;
  }

  // The first pattern: independent statements, with the ends that the weights at their middles have.
  firstPattern(t, side) {
    const taken = this.independent();
    const subset = this.subset(taken),
      target = this.target(subset, t);
    const sphere = this.sphere(
      subset,
      taken.map((i) => this.middle(i)),
    );
    const inside = sphere.rho2 > 0n || target.r2 === 0n;
    const [num, den] = inside ? this.kappa(target.r2, sphere.rho2, target.r2 === 0n ? 0n : null)[0] : [1n, 0n];
    const weights = this.weights(subset, target, sphere, side, num, den);
    const pattern = this.facts.map(() => 0);
    taken.forEach((i, at) => {
      const end = weights[at] < 0n ? -1 : 1;
      pattern[i] = this.hasEnd(i, end) ? end : -end;
    });
    return pattern;
  }

  // The middle of a fact's interval, or its only end.
  middle(i) {
    const {lo, hi} = this.facts[i];
    return lo === null ? hi : hi === null ? lo : (lo + hi) / 2n;
  }

  // The end of the observable k.
  extreme(k, side) {
    return this.extremeOf({key: `${k}`, terms: [[k, 1n]], total: 1n}, side);
  }

  // The end of the range of a target: the lower one for side 1, the upper one for side -1, of side * target.
  // A target is a sum of observables with integer weights: {key, terms: [[k, weight], ...], total: of the weights}.
  // bound lies at the end or beyond it, reached lies within the range; null where unknown. empty: nothing satisfies
  // all. endless: there is no end, and both are null.
  extremeOf(t, side) {
    const key = `${t.key} ${side}`;
    if (!this.found.has(key)) {
      const alone = this.euclidean && (this.facts.length === 0 || this.isEndless(t, side));
      this.found.set(key, alone ? this.judgeNothing(t, side) : this.search(t, side));
    }
    return this.found.get(key);
  }

  // Whether nothing bounds a target of distances: the coordinate more than latents have is free.
  isEndless(t, side) {
    return !this.isBounded(t, side) && this.facts.every((f) => f.hi === null);
  }

  search(t, side) {
    const result = {bound: null, reached: null, empty: false};
    const seen = new Set(),
      later = [];
    let next = this.firstPattern(t, side),
      entering = null;
    for (let tries = 0; tries < SEARCH_LIMIT; tries += 1) {
      while (next === null || seen.has(next.join())) {
        if (later.length === 0) return result;
        next = later.shift();
      }
      const pattern = next,
        added = entering;
      next = entering = null;
      seen.add(pattern.join());
      const found = this.judge(pattern, t, side);
      if (found === null || found.wrong.length > 0 || found.broken.length > 0) {
        pattern.forEach((s, i) =>
          [0, 1, -1].forEach((end) => {
            if (end !== s && this.hasEnd(i, end)) later.push(pattern.map((x, at) => (at === i ? end : x)));
          }),
        );
      }
      if (found === null && added !== null) {
        // The statement that was added depends on the others: it takes the place of one of them.
        later.unshift(
          ...pattern.flatMap((s, i) => (s && i !== added ? [pattern.map((x, at) => (at === i ? 0 : x))] : [])),
        );
      }
      if (found === null) continue;
      if (found.empty) return {...result, empty: true};
      if (found.bound !== null) result.bound = result.bound === null ? found.bound : greater(result.bound, found.bound);
      if (found.reached !== null)
        result.reached = result.reached === null ? found.reached : lesser(result.reached, found.reached);
      if (found.wrong.length === 0 && found.bound !== null && found.broken.length === 0) return result;
      next = pattern.slice();
      if (found.wrong.length > 0) {
        const size = ([, w]) => (w < 0n ? -w : w);
        next[found.wrong.reduce((x, y) => (size(x) >= size(y) ? x : y))[0]] = 0;
      } else if (found.broken.length > 0) {
        const [i, , end] = found.broken.reduce((x, y) => (x[1] >= y[1] ? x : y));
        next[i] = end;
        entering = i;
      } else next = null;
    }
    return result;
  }
}
