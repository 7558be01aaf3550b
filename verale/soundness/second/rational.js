// Exact numbers and intervals of them.
//
// A number is {n, d, k}: the value n / d * 2^k. n and d are BigInt, d is odd and positive, k is a JavaScript integer.
// Most numbers have d = 1: they are binary64 values and what sums and products make of them.

function bitLength(n) {
  if (n < 0n) n = -n;
  const hex = n.toString(16);
  return 4 * hex.length - Math.clz32(parseInt(hex[0], 16)) + 28;
}

function power2(k) {
  return 1n << BigInt(k);
}

function shifted(n, k) {
  return k >= 0 ? n << BigInt(k) : n >> BigInt(-k);
}

// The quotient of integers, rounded to the integer below or above. d is positive.
function floorDivide(n, d) {
  const q = n / d;
  return n < 0n && q * d !== n ? q - 1n : q;
}

function ceilDivide(n, d) {
  return -floorDivide(-n, d);
}

function greatestDivisor(a, b) {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

function dyadic(n, k) {
  if (n === 0n) return ZERO;
  while ((n & 0xffffffffn) === 0n) {
    n >>= 32n;
    k += 32;
  }
  return {n, d: 1n, k};
}

function whole(n) {
  return dyadic(BigInt(n), 0);
}

const ZERO = {n: 0n, d: 1n, k: 0};
const ONE = {n: 1n, d: 1n, k: 0};

// n / d * 2^k in lowest terms. d is any integer but 0.
function fraction(n, d, k) {
  if (n === 0n) return ZERO;
  if (d < 0n) {
    n = -n;
    d = -d;
  }
  while ((d & 1n) === 0n) {
    d >>= 1n;
    k -= 1;
  }
  if (d === 1n) return dyadic(n, k);
  const g = greatestDivisor(n < 0n ? -n : n, d);
  return {n: n / g, d: d / g, k};
}

function negative(a) {
  return {n: -a.n, d: a.d, k: a.k};
}

function add(a, b) {
  if (a.n === 0n) return b;
  if (b.n === 0n) return a;
  let n = a.n,
    m = b.n,
    k = a.k;
  if (a.d !== b.d) {
    n *= b.d;
    m *= a.d;
  }
  if (a.k > b.k) {
    n <<= BigInt(a.k - b.k);
    k = b.k;
  } else if (a.k < b.k) m <<= BigInt(b.k - a.k);
  if (a.d === 1n && b.d === 1n) return dyadic(n + m, k);
  return fraction(n + m, a.d === b.d ? a.d : a.d * b.d, k);
}

function subtract(a, b) {
  return add(a, negative(b));
}

function multiply(a, b) {
  if (a.d === 1n && b.d === 1n) return dyadic(a.n * b.n, a.k + b.k);
  return fraction(a.n * b.n, a.d * b.d, a.k + b.k);
}

function divide(a, b) {
  return fraction(a.n * b.d, a.d * b.n, a.k - b.k);
}

function sign(a) {
  return a.n > 0n ? 1 : a.n < 0n ? -1 : 0;
}

function compare(a, b) {
  if (a === b) return 0;
  let n = a.n,
    m = b.n;
  if (a.d !== b.d) {
    n *= b.d;
    m *= a.d;
  }
  if (a.k > b.k) n <<= BigInt(a.k - b.k);
  else if (a.k < b.k) m <<= BigInt(b.k - a.k);
  return n < m ? -1 : n > m ? 1 : 0;
}

function lesser(a, b) {
  return compare(a, b) <= 0 ? a : b;
}

function greater(a, b) {
  return compare(a, b) >= 0 ? a : b;
}

function sum(list) {
  return list.reduce(add, ZERO);
}

// The number with `bits` significant bits next to a, below it or above it.
function rounded(a, bits, up) {
  const length = bitLength(a.n);
  if (a.d === 1n && length <= bits) return a;
  const shift = bits - length + (a.d === 1n ? 0 : bitLength(a.d));
  let n = a.n,
    d = a.d;
  if (shift >= 0) n <<= BigInt(shift);
  else d <<= BigInt(-shift);
  return dyadic(up ? ceilDivide(n, d) : floorDivide(n, d), a.k - shift);
}

// Numbers stay exact while they are short. Long ones are rounded to this many bits.
const WORKING_BITS = 384;

function tidied(a, up) {
  if (a.d === 1n ? bitLength(a.n) <= 2400 : bitLength(a.d) <= 160 && bitLength(a.n) <= 800) return a;
  return rounded(a, WORKING_BITS, up);
}

// A binary64 near a, for messages only.
function approximate(a) {
  if (a.n === 0n) return 0;
  const r = rounded(a, 60, false);
  return Number(r.n) * Math.pow(2, Math.max(-1000, Math.min(1000, r.k)));
}

// The greatest integer whose square is at most n. One step of Newton doubles the digits of the root of the first half.
function integerRoot(n) {
  if (n < 0x10000000000000n) return BigInt(Math.floor(Math.sqrt(Number(n))));
  const half = BigInt(Math.floor((bitLength(n) - 1) / 4));
  let x = integerRoot(n >> (2n * half)) << half;
  x = (x + n / x) >> 1n;
  while (x * x > n) x -= 1n;
  while ((x + 1n) * (x + 1n) <= n) x += 1n;
  return x;
}

// The root of an integer that is a square, else null. Remainders sort out most others.
function squareRoot(n) {
  if (n < 0n) return null;
  if (n === 0n) return 0n;
  const low = Number(n & 63n);
  if (![0, 1, 4, 9, 16, 17, 25, 33, 36, 41, 49, 57].includes(low)) return null;
  const rest = Number(n % 45045n);
  if (![0, 1, 4, 7].includes(rest % 9) || ![0, 1, 4].includes(rest % 5) || ![0, 1, 2, 4].includes(rest % 7))
    return null;
  const root = integerRoot(n);
  return root * root === n ? root : null;
}

// Intervals. {a, b} holds the numbers from a to b. An exact number has a === b.
// The end b may be null, which means infinity; only squared distances have such ends.

function exactly(a) {
  return {a, b: a};
}

const NOTHING = exactly(ZERO);

function isExact(x) {
  return x.a === x.b;
}

function addIntervals(x, y) {
  const a = add(x.a, y.a);
  return isExact(x) && isExact(y) ? exactly(a) : {a, b: add(x.b, y.b)};
}

function negativeInterval(x) {
  return isExact(x) ? exactly(negative(x.a)) : {a: negative(x.b), b: negative(x.a)};
}

function subtractIntervals(x, y) {
  return addIntervals(x, negativeInterval(y));
}

function multiplyIntervals(x, y) {
  if (isExact(x) && isExact(y)) return exactly(multiply(x.a, y.a));
  const all = [multiply(x.a, y.a), multiply(x.a, y.b), multiply(x.b, y.a), multiply(x.b, y.b)];
  return {a: tidied(all.reduce(lesser), false), b: tidied(all.reduce(greater), true)};
}

function scaleInterval(x, c) {
  return multiplyIntervals(x, exactly(c));
}

// The quotient by an interval of positive numbers.
function divideIntervals(x, y) {
  if (isExact(x) && isExact(y)) return exactly(divide(x.a, y.a));
  return {
    a: rounded(divide(x.a, sign(x.a) >= 0 ? y.b : y.a), WORKING_LIMIT, false),
    b: rounded(divide(x.b, sign(x.b) >= 0 ? y.a : y.b), WORKING_LIMIT, true),
  };
}

const WORKING_LIMIT = 1600;

function greaterInterval(x, y) {
  return extremeInterval(x, y, 1);
}

function lesserInterval(x, y) {
  return extremeInterval(x, y, -1);
}

// The greater of two (side 1) or the lesser of two (side -1), where b may be infinite.
function extremeInterval(x, y, side) {
  const a = extremeNumber(x.a, y.a, side);
  const b = isExact(x) && isExact(y) ? a : extremeNumber(x.b, y.b, side);
  if (a === x.a && b === x.b) return x;
  return a === y.a && b === y.b ? y : {a, b};
}

function extremeNumber(p, q, side) {
  if (p === null || q === null) return side > 0 ? null : p === null ? q : p;
  return compare(p, q) * side >= 0 ? p : q;
}
