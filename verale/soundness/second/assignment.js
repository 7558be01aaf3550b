// The margins of the paradigm `assignment`: what prices prove, and what no prices can.

// For a rival: gain_k, and what the statements leave.
function assignmentOf(known, predicted, c) {
  const {head} = known;
  const gains = Array.from({length: head.size}, (_, k) => subtract(head.weight[c][k], head.weight[predicted][k]));
  const patches = [...known.byPatch.values()].map(({range}) => ({
    stated: range.stated,
    room: greater(ZERO, range.room),
    count: 1n,
  }));
  const stated = gains.map((_, k) =>
    patches
      .filter((p) => p.stated.has(k))
      .map(({stated: list, room}) => {
        const s = list.get(k);
        return lesser(s.hi, add(greater(s.lo, ZERO), room));
      })
      .reduce(greater, ZERO),
  );
  const rest = known.patches - BigInt(patches.length);
  if (rest > 0n) patches.push({stated: new Map(), room: ONE, count: rest});
  // worth_lk, null where patch l cannot give k anything.
  const worth = (p, k) =>
    p.stated.has(k) || gains[k].n <= 0n ? null : multiply(gains[k], greater(ZERO, subtract(p.room, stated[k])));
  const fixed = gains.map((w, k) =>
    w.n <= 0n ? scaleInterval(known.activation(k, 1), w) : exactly(multiply(w, stated[k])),
  );
  return {
    gains,
    patches,
    worth,
    base: subtractIntervals(exactly(subtract(head.bias[predicted], head.bias[c])), sumOf(fixed)),
  };
}

// The margin that prices prove. prices is a Map from prototypes to numbers.
function pricedMargin(known, predicted, c, prices) {
  const {gains, patches, worth, base} = assignmentOf(known, predicted, c);
  const price = (k) => prices.get(k) || ZERO;
  let cost = ZERO;
  gains.forEach((w, k) => {
    if (w.n > 0n) cost = add(cost, price(k));
  });
  for (const p of patches) {
    let most = ZERO;
    gains.forEach((_, k) => {
      const x = worth(p, k);
      if (x !== null) most = greater(most, subtract(x, price(k)));
    });
    cost = add(cost, multiply(most, whole(p.count)));
  }
  return subtractIntervals(base, exactly(cost));
}

// A bound of all that prices prove: the margin that the heaviest matching leaves.
function matchedMargin(known, predicted, c) {
  const {gains, patches, worth, base} = assignmentOf(known, predicted, c);
  const wanted = gains.flatMap((w, k) => (w.n > 0n ? [k] : []));
  const places = patches.flatMap((p) =>
    Array(Number(p.count < BigInt(wanted.length) ? p.count : BigInt(wanted.length))).fill(p),
  );
  const weights = wanted.map((k) => places.map((p) => worth(p, k) || ZERO));
  const weight = sum(heaviestMatching(weights).map((at, i) => (at === null ? ZERO : weights[i][at])));
  return subtractIntervals(base, exactly(weight));
}

// The column of each row in a matching of greatest weight (the Hungarian method). Weights are dyadic and 0 at least.
function heaviestMatching(weights) {
  const rows = weights.length,
    real = rows ? weights[0].length : 0,
    columns = Math.max(rows, real);
  const k = Math.min(0, ...weights.flat().map((x) => x.k));
  const cost = (i, j) => (j < real ? -(weights[i][j].n << BigInt(weights[i][j].k - k)) : 0n);
  const rowPrice = Array(rows).fill(0n),
    columnPrice = Array(columns + 1).fill(0n),
    owner = Array(columns + 1).fill(-1);
  for (let start = 0; start < rows; start += 1) {
    // A path of least reduced cost from the new row to a free column. The last column stands for the new row's place.
    const least = Array(columns).fill(null),
      from = Array(columns).fill(columns),
      used = Array(columns + 1).fill(false);
    let column = columns;
    owner[columns] = start;
    while (owner[column] !== -1) {
      used[column] = true;
      const row = owner[column];
      let next = -1;
      for (let j = 0; j < columns; j += 1) {
        if (used[j]) continue;
        const reduced = cost(row, j) - rowPrice[row] - columnPrice[j];
        if (least[j] === null || reduced < least[j]) {
          least[j] = reduced;
          from[j] = column;
        }
        if (next < 0 || least[j] < least[next]) next = j;
      }
      const delta = least[next];
      for (let j = 0; j <= columns; j += 1) {
        if (used[j]) {
          rowPrice[owner[j]] += delta;
          columnPrice[j] -= delta;
        } else if (j < columns && least[j] !== null) least[j] -= delta;
      }
      column = next;
    }
    while (column !== columns) {
      owner[column] = owner[from[column]];
      column = from[column];
    }
    owner[columns] = -1;
  }
  const match = Array(rows).fill(null);
  for (let j = 0; j < real; j += 1) if (owner[j] >= 0) match[owner[j]] = j;
  return match;
}
