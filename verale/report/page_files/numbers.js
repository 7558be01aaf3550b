// Numbers as decimals, and prototypes by their numbers, as verale/certificate/words.py tells them: whoever reads an end
// of a statement reads what is proved, here as in a terminal. A test compares both.
"use strict";

const NAMED = 8; // the most prototypes that are listed one by one; of more, neighbours are told as a range
const RANGE = 3; // the fewest neighbours that make a range
const SIGN = 1n << 63n, IMPLIED = 1n << 52n; // of a binary64: its sign, and the first bit of those that are normal

// The number of a C99 hex float, as certificates spell it: a binary64, put together from its bits. No product of floats
// is this number where a factor is too small, or too large, to be one.
function fromHex(text) {
  const [, sign, lead, rest = "", exponent] = /^(-?)0x([01])(?:\.([0-9a-f]+))?p([+-]\d+)$/.exec(text);
  const digits = BigInt("0x" + lead + rest), power = Number(exponent) - 4 * rest.length;
  if (digits === 0n) return 0;
  const top = Math.max(power + digits.toString(2).length - 1, -1022); // the exponent that its first bit has
  const unit = power - (top - 52), size = unit < 0 ? digits >> BigInt(-unit) : digits << BigInt(unit);
  const bits = size < IMPLIED ? size : size - IMPLIED + (BigInt(top + 1023) << 52n);
  return ofBits(sign ? bits | SIGN : bits);
}

// The end of a statement: an upper end as the shortest decimal that is at most it, and above the float before it. So
// rounding that decimal up to a float gives the end back, and the sentence with the decimal is implied by the statement.
// A lower end likewise.
function endOf(hex, upper) {
  const value = fromHex(hex), next = neighbour(value, !upper);
  for (let digits = 1; ; digits += 1) {
    const decimal = toDigits(value, digits, upper ? DOWN : UP);
    if (upper ? exceeds(decimal, next) : exceeds(negative(decimal), -next)) return decimal;
  }
}

function lowerEnd(hex) {
  return plain(endOf(hex, false));
}

function upperEnd(hex) {
  return plain(endOf(hex, true));
}

// An interval; an end that is null is no bound. Where the ends are so near that the shorter decimals would be in the
// wrong order, which nothing could satisfy, they are told with all their digits.
function between(lower, upper) {
  if (lower === null) return upper === null ? "anything" : "at most " + upperEnd(upper);
  if (upper === null) return "at least " + lowerEnd(lower);
  const low = endOf(lower, false), high = endOf(upper, true);
  const inOrder = !exceedsDecimal(low, high);
  return "from " + (inOrder ? plain(low) : exactly(lower)) + " to " + (inOrder ? plain(high) : exactly(upper));
}

// The greatest decimal with four digits that is at most the number: of what is proved at least.
function below(value) {
  return plain(toDigits(value, 4, DOWN));
}

// The decimal with four digits that is nearest to the number, the even one of two: of what nobody proves.
function about(value, digits = 4) {
  return Number.isFinite(value) ? plain(toDigits(value, digits, NEAREST)) : String(value);
}

// The prototypes that a clause speaks of, all except the exempt ones: these, or all except those, whichever are fewer.
// Where it is not known how many there are, `count` is null, and the exempt ones are named. `name` makes words of a list.
function meantBy(exempt, count, name = prototypesNamed) {
  const without = new Set(exempt), all = count === null ? [] : [...Array(count).keys()];
  const meant = all.filter((prototype) => !without.has(prototype));
  if (all.length && !meant.length) return "no prototype";
  if (all.length && meant.length < without.size) return name(meant);
  return exempt.length ? "every prototype except " + name(exempt) : "every prototype";
}

// Numbers of prototypes follow the word "prototype"; a number that counts them stands before it.
function prototypesNamed(numbers) {
  if (numbers.length <= NAMED) return (numbers.length === 1 ? "prototype " : "prototypes ") + listed(numbers.map(String));
  return numbers.length + " prototypes (" + listed(ranges(numbers)) + ")";
}

// Increasing numbers, three or more neighbours as a range.
function ranges(numbers) {
  const said = [];
  for (let start = 0, end = 1; end <= numbers.length; end += 1) {
    if (end < numbers.length && numbers[end] === numbers[end - 1] + 1) continue;
    if (end - start >= RANGE) said.push(numbers[start] + "-" + numbers[end - 1]);
    else said.push(...numbers.slice(start, end).map(String));
    start = end;
  }
  return said;
}

// A list of words: "a", "a and b", "a, b and c".
function listed(words) {
  return words.length < 2 ? words.join("") : words.slice(0, -1).join(", ") + " and " + words[words.length - 1];
}

// The bits of a float as an integer, and back.
function bitsOf(value) {
  return new BigUint64Array(new Float64Array([value]).buffer)[0];
}

function ofBits(bits) {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0];
}

// The next float, upward or downward.
function neighbour(value, up) {
  if (value === 0) return up ? Number.MIN_VALUE : -Number.MIN_VALUE;
  return ofBits(bitsOf(value) + (value > 0 === up ? 1n : -1n));
}

// A float as a fraction of integers.
function fraction(value) {
  const bits = bitsOf(value), biased = (bits >> 52n) & 0x7ffn, rest = bits & (IMPLIED - 1n);
  const size = biased ? rest | IMPLIED : rest, power = (biased || 1n) - 1075n;
  const whole = value < 0 ? -size : size;
  return power < 0n ? [whole, 1n << -power] : [whole << power, 1n];
}

// How a number between two integers becomes one of them: `rest` of `unit` is what is cut off, `cut` the one next to 0.
const DOWN = (cut, rest) => (rest < 0n ? cut - 1n : cut);
const UP = (cut, rest) => (rest > 0n ? cut + 1n : cut);
const NEAREST = (cut, rest, unit) => {
  const twice = 2n * (rest < 0n ? -rest : rest);
  return twice > unit || (twice === unit && cut % 2n !== 0n) ? cut + (rest < 0n ? -1n : 1n) : cut;
};

// A float rounded to so many digits: an integer, and the power of ten that it is multiplied with.
function toDigits(value, digits, round) {
  if (value === 0) return [0n, 0];
  const tens = Number(Math.abs(value).toExponential(100).split("e")[1]) - digits + 1, scale = 10n ** BigInt(Math.abs(tens));
  const [top, bottom] = fraction(value), [number, unit] = tens < 0 ? [top * scale, bottom] : [top, bottom * scale];
  const cut = number / unit; // towards 0
  return [round(cut, number - cut * unit, unit), tens];
}

function negative([number, tens]) {
  return [-number, tens];
}

// Whether such a decimal is greater than a float.
function exceeds([number, tens], value) {
  if (!Number.isFinite(value)) return value < 0;
  const [top, bottom] = fraction(value), scale = 10n ** BigInt(Math.abs(tens));
  return tens < 0 ? number * bottom > top * scale : number * scale * bottom > top;
}

// Whether it is greater than another one.
function exceedsDecimal([one, tens], [other, places]) {
  const least = Math.min(tens, places);
  return one * 10n ** BigInt(tens - least) > other * 10n ** BigInt(places - least);
}

// A number with all its digits.
function exactly(hex) {
  const [top, bottom] = fraction(fromHex(hex)), places = bottom.toString(2).length - 1; // the bottom is 2 ** places
  return plain([top * 5n ** BigInt(places), -places]);
}

function plain([number, tens]) {
  if (number === 0n) return "0";
  const sign = number < 0n ? "-" : "", all = String(number < 0n ? -number : number), kept = all.replace(/0+$/, "");
  const exponent = tens + all.length - 1;
  if (exponent < -5 || exponent >= 15) return sign + kept[0] + (kept.length > 1 ? "." + kept.slice(1) : "") + "e" + (exponent < 0 ? "" : "+") + exponent;
  if (exponent < 0) return sign + "0." + "0".repeat(-exponent - 1) + kept;
  if (kept.length <= exponent + 1) return sign + kept + "0".repeat(exponent + 1 - kept.length);
  return sign + kept.slice(0, exponent + 1) + "." + kept.slice(exponent + 1);
}
