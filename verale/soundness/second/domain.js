// The domain of a head: which latents lie in it, and the range that it gives each observable (the table of "Reference
// ranges"). A range is {lo, hi}; each end is an interval that holds the true end, since some ends are irrational.

function squareOf(x) {
  return multiply(x, x);
}

function dot(x, y) {
  let total = ZERO;
  for (let d = 0; d < x.length; d += 1) if (x[d].n !== 0n && y[d].n !== 0n) total = add(total, multiply(x[d], y[d]));
  return total;
}

function positivePart(p) {
  return p.map((x) => greater(x, ZERO));
}

function opposite(p) {
  return p.map(negative);
}

function liesInDomain(head, image) {
  const {lower, upper, geometry} = head;
  return image.every((z) => {
    if (lower !== null && z.some((x) => compare(x, lower) < 0)) return false;
    if (upper !== null && z.some((x) => compare(x, upper) > 0)) return false;
    if (geometry.radius && compare(dot(z, z), squareOf(geometry.radius)) > 0) return false;
    return !(isCosine(head) && geometry.epsilon.n === 0n && z.every((x) => x.n === 0n));
  });
}

function domainRange(head, j) {
  if (head.geometry.kind === "softmax") return softmaxDomain(head);
  const p = head.prototypes[j];
  if (head.geometry.kind === "euclidean") return euclideanDomain(head, p);
  return isCosine(head) ? cosineDomain(head, p) : productDomain(head, p);
}

function euclideanDomain({lower, upper}, p) {
  const outside = (x) =>
    greater(ZERO, greater(lower === null ? ZERO : subtract(lower, x), upper === null ? ZERO : subtract(x, upper)));
  const lo = exactly(sum(p.map((x) => squareOf(outside(x)))));
  if (lower === null || upper === null) return {lo, hi: exactly(null)};
  return {lo, hi: exactly(sum(p.map((x) => squareOf(greater(subtract(x, lower), subtract(upper, x))))))};
}

function cosineDomain({lower, upper, geometry}, p) {
  const above = lower !== null && sign(lower) >= 0,
    below = upper !== null && sign(upper) <= 0;
  if (!above && !below) return {lo: exactly(negative(ONE)), hi: exactly(ONE)};
  // The greatest cosine, up to its sign, of a latent without negative coordinates.
  const highest = (q) => {
    const norm2 = dot(q, q),
      part = positivePart(q),
      part2 = dot(part, part);
    if (part2.n !== 0n || geometry.epsilon.n !== 0n) return rootOf(divide(part2, norm2), WORKING_BITS);
    return negativeInterval(rootOf(divide(squareOf(q.reduce(greater)), norm2), WORKING_BITS));
  };
  const q = above ? p : opposite(p);
  return {lo: negativeInterval(highest(opposite(q))), hi: highest(q)};
}

function productDomain({lower, upper, geometry}, p) {
  const radius = geometry.radius;
  const least = radius === null ? lower : lower === null ? negative(radius) : greater(lower, negative(radius));
  const most = radius === null ? upper : upper === null ? radius : lesser(upper, radius);
  const ends = p.map((x) => [multiply(least, x), multiply(most, x)]);
  let lo = exactly(sum(ends.map(([x, y]) => lesser(x, y)))),
    hi = exactly(sum(ends.map(([x, y]) => greater(x, y))));
  if (radius === null) return {lo, hi};
  const ball = (q) => rootOf(multiply(squareOf(radius), dot(q, q)), WORKING_BITS);
  const cut = (low, high) => {
    lo = greaterInterval(lo, negativeInterval(ball(low)));
    hi = lesserInterval(hi, ball(high));
  };
  const plus = positivePart(p),
    minus = positivePart(opposite(p));
  cut(p, p);
  if (lower !== null && sign(lower) >= 0) cut(minus, plus);
  if (upper !== null && sign(upper) <= 0) cut(plus, minus);
  return {lo, hi};
}

function softmaxDomain({lower, upper, size}) {
  if (size === 1) return {lo: exactly(ONE), hi: exactly(ONE)};
  const e = lower === null || upper === null ? NOTHING : expOf(exactly(subtract(lower, upper)), WORKING_BITS);
  const others = exactly(whole(size - 1));
  return {
    lo: divideIntervals(e, addIntervals(e, others)),
    hi: divideIntervals(exactly(ONE), addIntervals(exactly(ONE), multiplyIntervals(others, e))),
  };
}
