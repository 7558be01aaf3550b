// Enclosures of roots, logarithms and exponentials. Each has an error of about 2^-bits and is proved.

// The square root of a number >= 0. It is exact if it is rational.
function rootOf(x, bits) {
  if (x.n === 0n) return NOTHING;
  const k = x.k & 1 ? x.k - 1 : x.k;
  const n = x.k & 1 ? x.n << 1n : x.n;
  const above = squareRoot(n),
    below = above === null ? null : squareRoot(x.d);
  if (below !== null) return exactly(fraction(above, below, k / 2));
  // With m the root of floor(n 4^s / d), rounded down, the root of n / d lies in [m, m + 1] / 2^s.
  const s = Math.max(0, bits + Math.ceil(k / 2), bits - ((bitLength(n) - bitLength(x.d)) >> 1));
  const m = integerRoot((n << BigInt(2 * s)) / x.d);
  return {a: dyadic(m, k / 2 - s), b: dyadic(m + 1n, k / 2 - s)};
}

// 2 (y + y^3 / 3 + y^5 / 5 + ...) for y = n / d with |y| <= 1/3, times 2^p. It is ln((1 + y) / (1 - y)).
// Returns integers that enclose it. Each of the t terms that are taken loses less than 3 by rounding (the power less
// than 1 + 1/9 + ..., its share less than 1 more). The terms left out sum to less than the last power, which is below
// 1.
function atanhSeries(n, d, p) {
  const negate = n < 0n;
  let power = ((negate ? -n : n) << BigInt(p)) / d;
  const square = ((n * n) << BigInt(p)) / (d * d);
  let total = 0n,
    terms = 0n;
  for (let i = 1n; power > 0n; i += 2n) {
    total += power / i;
    power = (power * square) >> BigInt(p);
    terms += 1n;
  }
  const a = 2n * total,
    b = 2n * (total + 3n * terms + 3n);
  return negate ? [-b, -a] : [a, b];
}

const LN2 = new Map();

// ln 2 = the series at y = 1/3, times 2^p.
function lnTwo(p) {
  if (!LN2.has(p)) LN2.set(p, atanhSeries(1n, 3n, p));
  return LN2.get(p);
}

// The natural logarithm of a number > 0.
function lnOf(x, bits) {
  if (compare(x, ONE) === 0) return NOTHING;
  const p = bits + 40;
  // x = m 2^e with m between 1/2 and 2. ln m is the series at y = (m - 1) / (m + 1), where |y| <= 1/3.
  const e = bitLength(x.n) - bitLength(x.d);
  const n = e < 0 ? x.n << BigInt(-e) : x.n;
  const d = e > 0 ? x.d << BigInt(e) : x.d;
  // Long fractions are cut to p bits first; the series then holds for a number a little below or above.
  const long = bitLength(d) > 2 * p;
  const low = long ? (n << BigInt(p)) / d : n,
    high = long ? low + 1n : n,
    unit = long ? power2(p) : d;
  const [a] = atanhSeries(low - unit, low + unit, p);
  const [, b] = atanhSeries(high - unit, high + unit, p);
  const [la, lb] = lnTwo(p);
  const twos = BigInt(e + x.k);
  return {a: dyadic(a + twos * (twos > 0n ? la : lb), -p), b: dyadic(b + twos * (twos > 0n ? lb : la), -p)};
}

// The exponential of an interval of numbers <= 0.
function expOf(x, bits) {
  if (isExact(x) && x.a.n === 0n) return exactly(ONE);
  const low = expOfNumber(x.a, bits),
    high = isExact(x) ? low : expOfNumber(x.b, bits);
  return {a: low.a, b: high.b};
}

function expOfNumber(x, bits) {
  if (x.n === 0n) return exactly(ONE);
  // e^-bits < 2^-bits, so a number below -bits has an exponential between 0 and 2^-bits.
  if (compare(x, whole(-bits)) <= 0) return {a: ZERO, b: dyadic(1n, -bits)};
  const p = bits + 64,
    halvings = 8n;
  const [la, lb] = lnTwo(p);
  // x 2^p lies in [t, t + 1], and q is at most 0. So la gives a lower end of t - q ln 2, which is 0 at least, and lb an
  // upper one.
  const t = x.k + p >= 0 ? floorDivide(x.n << BigInt(x.k + p), x.d) : floorDivide(x.n, x.d << BigInt(-x.k - p));
  const q = floorDivide(t, la);
  const small = (t - q * la) >> halvings;
  const great = ((t + 1n - q * lb) >> halvings) + 1n;
  return {
    a: dyadic(expSeries(small, p, halvings)[0], Number(q) - p),
    b: dyadic(expSeries(great, p, halvings)[1], Number(q) - p),
  };
}

// e^(r 2^halvings) times 2^p, for r = n / 2^p in [0, 1/128). Taylor's series, then squares.
// Each of the t terms is rounded down by less than 2, and the terms left out sum to less than 1 more.
function expSeries(n, p, halvings) {
  let term = power2(p),
    total = 0n,
    terms = 0n;
  for (let i = 1n; term > 0n; i += 1n) {
    total += term;
    term = ((term * n) >> BigInt(p)) / i;
    terms += 1n;
  }
  let low = total,
    high = total + 2n * terms + 2n;
  for (let i = 0n; i < halvings; i += 1n) {
    low = (low * low) >> BigInt(p);
    high = ((high * high) >> BigInt(p)) + 1n;
  }
  return [low, high];
}
