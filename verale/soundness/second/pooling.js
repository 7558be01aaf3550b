// Stage 2: the ends of an activation from the ranges of its observables over the patches.
//
// members are {count, patch, lo(), hi()}: that many patches, each with a range of the observable; patch is the first of
// them.
// Ends are computed when asked for.

function takenBy(pooling, j, members) {
  if (pooling.kind !== "masked_max") return members;
  const row = pooling.mask[j];
  return members.filter((m) => row[m.patch < row.length ? Number(m.patch) : row.length - 1]);
}

// The greatest (side 1) or the least (side -1) of intervals.
function extremeOf(list, side) {
  return list.reduce((x, y) => extremeInterval(x, y, side));
}

function sumOf(list) {
  return list.reduce(addIntervals, NOTHING);
}

// The lower end (side 1) or the upper end (side -1) of the activation j.
function activationEnd(similarity, pooling, j, members, side) {
  const taken = takenBy(pooling, j, members);
  const length = taken.reduce((n, m) => n + m.count, 0n);
  const ends = (which) => taken.map((m) => similarity.end(j, m, which));
  switch (pooling.kind) {
    case "top_mean":
      return meanOfGreatest(ends(side), taken, pooling.k < length ? pooling.k : length);
    case "max_minus_mean":
      return side > 0 ? leastExcess(ends(1), ends(-1), taken, length) : mostExcess(ends(1), ends(-1), taken, length);
    case "max_minus_mean_distance":
      return distanceExcess(similarity, j, taken, length, side);
    default:
      return greatest(similarity, j, taken, side);
  }
}

function greatest(similarity, j, taken, side) {
  if (!similarity.monotone)
    return extremeOf(
      taken.map((m) => similarity.end(j, m, side)),
      1,
    );
  const observables = taken.map((m) => (side > 0 === similarity.falls ? m.hi() : m.lo()));
  return similarity.ofInterval(j, extremeOf(observables, similarity.falls ? -1 : 1));
}

// The mean of the k greatest, each counted as often as it occurs. Both bounds are sorted on their own.
function meanOfGreatest(values, taken, k) {
  const total = (numbers) => {
    const ordered = numbers.map((x, i) => [x, taken[i].count]).sort((x, y) => compare(y[0], x[0]));
    let left = k,
      result = ZERO;
    for (const [x, count] of ordered) {
      const used = count < left ? count : left;
      result = add(result, multiply(x, whole(used)));
      left -= used;
    }
    return divide(result, whole(k));
  };
  return values.every(isExact)
    ? exactly(total(values.map((x) => x.a)))
    : {a: total(values.map((x) => x.a)), b: total(values.map((x) => x.b))};
}

// max_minus_mean: the least is (1 / L) sum max(0, t - hi) with t the greatest lower end.
function leastExcess(lower, upper, taken, length) {
  if (length === 1n) return NOTHING;
  const t = extremeOf(lower, 1);
  const parts = upper.map((hi, i) =>
    scaleInterval(greaterInterval(NOTHING, subtractIntervals(t, hi)), whole(taken[i].count)),
  );
  return divideIntervals(sumOf(parts), exactly(whole(length)));
}

// The most is the greatest over l of ((L - 1) hi_l - sum of the other lo) / L.
function mostExcess(lower, upper, taken, length) {
  const total = sumOf(lower.map((lo, i) => scaleInterval(lo, whole(taken[i].count))));
  const each = upper.map((hi, i) =>
    subtractIntervals(scaleInterval(hi, whole(length - 1n)), subtractIntervals(total, lower[i])),
  );
  return length === 1n ? NOTHING : divideIntervals(extremeOf(each, 1), exactly(whole(length)));
}

// max_minus_mean_distance, from the distances themselves.
function distanceExcess(similarity, j, taken, length, side) {
  if (length === 1n) return NOTHING;
  const share = exactly(whole(length));
  const lower = taken.map((m) => m.lo()),
    upper = taken.map((m) => m.hi());
  if (side > 0) {
    const t = extremeOf(upper, -1);
    const mean = meanDistance(
      lower.map((lo) => extremeInterval(lo, t, 1)),
      taken,
      share,
    );
    return subtractIntervals(similarity.ofInterval(j, t), similarity.ofInterval(j, mean));
  }
  const each = taken.map((m, i) => {
    const others = taken.map((x, at) => ({count: x.count - (at === i ? 1n : 0n)}));
    const mean = meanDistance([lower[i], ...upper], [{count: 1n}, ...others], share);
    return subtractIntervals(similarity.ofInterval(j, lower[i]), similarity.ofInterval(j, mean));
  });
  return extremeOf(each, 1);
}

// The mean of distances, either bound of which may be infinite.
function meanDistance(values, taken, share) {
  const used = values.map((x, i) => [x, whole(taken[i].count)]).filter(([, n]) => n.n !== 0n);
  const mean = (pick) => {
    if (used.some(([x]) => pick(x) === null)) return null;
    return divide(sum(used.map(([x, n]) => multiply(pick(x), n))), share.a);
  };
  const a = mean((x) => x.a);
  return used.every(([x]) => isExact(x)) ? exactly(a) : {a, b: mean((x) => x.b)};
}
