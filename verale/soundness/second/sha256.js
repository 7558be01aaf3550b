// SHA-256 of bytes, as 64 hex digits (FIPS 180-4).

const SHA_PRIMES = (() => {
  const primes = [];
  for (let n = 2n; primes.length < 64; n += 1n) if (primes.every((p) => n % p)) primes.push(n);
  return primes;
})();

// The first 32 bits of the fraction of a root of a prime, by bisection in integers.
function rootFraction(prime, degree) {
  let low = 0n,
    high = 1n << 40n;
  const target = prime << BigInt(32 * degree);
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(degree) <= target) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn);
}

const SHA_K = SHA_PRIMES.map((p) => rootFraction(p, 3));
const SHA_START = SHA_PRIMES.slice(0, 8).map((p) => rootFraction(p, 2));

function sha256(bytes) {
  const state = Int32Array.from(SHA_START.map((x) => x | 0));
  const schedule = new Int32Array(64);
  const blocks = Math.floor(bytes.length / 64);
  for (let i = 0; i < blocks; i += 1) shaBlock(state, schedule, bytes, 64 * i);
  const rest = bytes.length - 64 * blocks;
  const tail = new Uint8Array(rest < 56 ? 64 : 128);
  tail.set(bytes.subarray(64 * blocks));
  tail[rest] = 0x80;
  new DataView(tail.buffer).setBigUint64(tail.length - 8, BigInt(bytes.length) * 8n);
  for (let at = 0; at < tail.length; at += 64) shaBlock(state, schedule, tail, at);
  return Array.from(state, (x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
}

function shaBlock(state, w, bytes, at) {
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let i = 0; i < 16; i += 1) {
    const p = at + 4 * i;
    w[i] = (bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3];
  }
  for (let i = 16; i < 64; i += 1) {
    const x = w[i - 15],
      y = w[i - 2];
    w[i] =
      (w[i - 16] + w[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const t = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + SHA_K[i] + w[i]) | 0;
    const u = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t) | 0;
    d = c;
    c = b;
    b = a;
    a = (t + u) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((x, i) => {
    state[i] = (state[i] + x) | 0;
  });
}
