// Numbers of certificates as decimals, exactly: whoever reads an end of a statement reads what is proved.
"use strict";

// The exact number of a C99 hex float, as certificates spell it.
function fromHex(text) {
  const [, sign, lead, rest = "", exponent] = /^(-?)0x([01])(?:\.([0-9a-f]+))?p([+-]\d+)$/.exec(text);
  return (sign ? -1 : 1) * Number("0x" + lead + rest) * 2 ** (Number(exponent) - 4 * rest.length);
}

// The end of a statement, as `upper_end` and `lower_end` of verale/certificate/words.py tell it: an upper end as the
// shortest decimal that is at most it, and above the float before it. So rounding that decimal up to a float gives the
// end back, and the sentence with the decimal is implied by the statement. A lower end likewise.
function endOf(hex, upper) {
  const value = fromHex(hex), next = neighbour(value, !upper);
  for (let digits = 1; ; digits += 1) {
    const decimal = toDigits(value, digits, !upper);
    if (upper ? exceeds(decimal, next) : exceeds(negative(decimal), -next)) return plain(decimal);
  }
}

function lowerEnd(hex) {
  return endOf(hex, false);
}

function upperEnd(hex) {
  return endOf(hex, true);
}

// The greatest decimal with so many digits that is at most the number: of margins.
function below(value, digits = 4) {
  return plain(toDigits(value, digits, false));
}

// The bits of a float as an integer, and back.
function bitsOf(value) {
  return new BigUint64Array(new Float64Array([value]).buffer)[0];
}

// The next float, upward or downward.
function neighbour(value, up) {
  if (value === 0) return up ? Number.MIN_VALUE : -Number.MIN_VALUE;
  return new Float64Array(new BigUint64Array([bitsOf(value) + (value > 0 === up ? 1n : -1n)]).buffer)[0];
}

// A float as a fraction of integers.
function fraction(value) {
  const bits = bitsOf(value), biased = (bits >> 52n) & 0x7ffn, rest = bits & 0xfffffffffffffn;
  const size = biased ? rest | 0x10000000000000n : rest, power = (biased || 1n) - 1075n;
  const whole = value < 0 ? -size : size;
  return power < 0n ? [whole, 1n << -power] : [whole << power, 1n];
}

// A float rounded to so many digits: an integer, and the power of ten that it is multiplied with.
function toDigits(value, digits, up) {
  if (value === 0) return [0n, 0];
  const tens = Number(Math.abs(value).toExponential(100).split("e")[1]) - digits + 1, scale = 10n ** BigInt(Math.abs(tens));
  const [top, bottom] = fraction(value), [number, unit] = tens < 0 ? [top * scale, bottom] : [top, bottom * scale];
  const cut = number / unit, rest = number - cut * unit; // cut towards 0
  return [rest !== 0n && rest > 0n === up ? cut + (up ? 1n : -1n) : cut, tens];
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

function plain([number, tens]) {
  if (number === 0n) return "0";
  const sign = number < 0n ? "-" : "", all = String(number < 0n ? -number : number), kept = all.replace(/0+$/, "");
  const exponent = tens + all.length - 1;
  if (exponent < -5 || exponent >= 15) return sign + kept[0] + (kept.length > 1 ? "." + kept.slice(1) : "") + "e" + (exponent < 0 ? "" : "+") + exponent;
  if (exponent < 0) return sign + "0." + "0".repeat(-exponent - 1) + kept;
  if (kept.length <= exponent + 1) return sign + kept + "0".repeat(exponent + 1 - kept.length);
  return sign + kept.slice(0, exponent + 1) + "." + kept.slice(exponent + 1);
}
