// Zarith's primitives for js_of_ocaml, on the BigInt of JavaScript: as many as the proved checker and what stands around
// it use. Trusted, as Zarith is.
//
// An integer is a number if it fits 32 bits, and else a BigInt. Each integer has that one form, as Zarith's own OCaml
// code expects: what is no number, it takes to be large.

//Provides: verale_integer
// The integer of this BigInt, in the one form.
function verale_integer(big) {
  return BigInt.asIntN(32, big) === big ? Number(big) : big;
}

//Provides: verale_divisor
//Requires: caml_raise_zero_divide
// A divisor as a BigInt.
function verale_divisor(b) {
  if (b === 0) caml_raise_zero_divide();
  return BigInt(b);
}

//Provides: ml_z_init
function ml_z_init() {
  return 0;
}

//Provides: ml_z_add
//Requires: verale_integer
function ml_z_add(a, b) {
  return verale_integer(BigInt(a) + BigInt(b));
}

//Provides: ml_z_sub
//Requires: verale_integer
function ml_z_sub(a, b) {
  return verale_integer(BigInt(a) - BigInt(b));
}

//Provides: ml_z_mul
//Requires: verale_integer
function ml_z_mul(a, b) {
  return verale_integer(BigInt(a) * BigInt(b));
}

//Provides: ml_z_mul_overflows
// Of two numbers: whether their product needs more than 32 bits. Below 2^53 a float is exact, and above it is not small.
function ml_z_mul_overflows(a, b) {
  var product = a * b;
  return product < -2147483648 || product > 2147483647 ? 1 : 0;
}

//Provides: ml_z_neg
//Requires: verale_integer
function ml_z_neg(a) {
  return verale_integer(-BigInt(a));
}

//Provides: ml_z_abs
//Requires: verale_integer
function ml_z_abs(a) {
  var big = BigInt(a);
  return verale_integer(big < 0 ? -big : big);
}

//Provides: ml_z_succ
//Requires: verale_integer
function ml_z_succ(a) {
  return verale_integer(BigInt(a) + BigInt(1));
}

//Provides: ml_z_pred
//Requires: verale_integer
function ml_z_pred(a) {
  return verale_integer(BigInt(a) - BigInt(1));
}

//Provides: ml_z_compare
// JavaScript compares numbers with BigInts exactly.
function ml_z_compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

//Provides: ml_z_equal
function ml_z_equal(a, b) {
  return a === b ? 1 : 0;
}

//Provides: ml_z_sign
function ml_z_sign(a) {
  return a < 0 ? -1 : a > 0 ? 1 : 0;
}

//Provides: ml_z_div
//Requires: verale_integer, verale_divisor
// Toward zero, as in JavaScript.
function ml_z_div(a, b) {
  return verale_integer(BigInt(a) / verale_divisor(b));
}

//Provides: ml_z_rem
//Requires: verale_integer, verale_divisor
// With the sign of the dividend, as in JavaScript.
function ml_z_rem(a, b) {
  return verale_integer(BigInt(a) % verale_divisor(b));
}

//Provides: ml_z_div_rem
//Requires: ml_z_div, ml_z_rem
function ml_z_div_rem(a, b) {
  return [0, ml_z_div(a, b), ml_z_rem(a, b)];
}

//Provides: ml_z_fdiv
//Requires: verale_integer, verale_divisor
// Toward minus infinity.
function ml_z_fdiv(a, b) {
  var dividend = BigInt(a), divisor = verale_divisor(b);
  var quotient = dividend / divisor, rest = dividend % divisor;
  var below = rest != 0 && rest < 0 !== divisor < 0;
  return verale_integer(below ? quotient - BigInt(1) : quotient);
}

//Provides: ml_z_cdiv
//Requires: verale_integer, verale_divisor
// Toward plus infinity.
function ml_z_cdiv(a, b) {
  var dividend = BigInt(a), divisor = verale_divisor(b);
  var quotient = dividend / divisor, rest = dividend % divisor;
  var above = rest != 0 && rest < 0 === divisor < 0;
  return verale_integer(above ? quotient + BigInt(1) : quotient);
}

//Provides: ml_z_numbits
// Of the absolute value; of 0 it is 0.
function ml_z_numbits(a) {
  if (a === 0) return 0;
  var digits = (a < 0 ? -BigInt(a) : BigInt(a)).toString(16);
  return 4 * digits.length - Math.clz32(parseInt(digits[0], 16)) + 28;
}

//Provides: ml_z_shift_left
//Requires: verale_integer, caml_invalid_argument
function ml_z_shift_left(a, places) {
  if (places < 0) caml_invalid_argument("Z.shift_left: count argument must be positive");
  return verale_integer(BigInt(a) << BigInt(places));
}

//Provides: ml_z_shift_right
//Requires: verale_integer, caml_invalid_argument
// Toward minus infinity, as in JavaScript.
function ml_z_shift_right(a, places) {
  if (places < 0) caml_invalid_argument("Z.shift_right: count argument must be positive");
  return verale_integer(BigInt(a) >> BigInt(places));
}

//Provides: ml_z_extract
//Requires: verale_integer, caml_invalid_argument
// [size] binary digits from [from] on; of a negative number as many of those that it has before all its ones.
function ml_z_extract(a, from, size) {
  if (from < 0 || size < 1) caml_invalid_argument("Z.extract: invalid bit range");
  return verale_integer(BigInt.asUintN(size, BigInt(a) >> BigInt(from)));
}

//Provides: ml_z_sqrt
//Requires: verale_integer, ml_z_numbits, caml_invalid_argument
// Rounded down. Newton's steps from above fall to it, and do not fall below.
function ml_z_sqrt(a) {
  if (a < 0) caml_invalid_argument("Z.sqrt: square root of a negative number");
  if (a === 0) return 0;
  var square = BigInt(a), one = BigInt(1);
  var next = one << BigInt((ml_z_numbits(a) + 1) >> 1), root;
  do {
    root = next;
    next = (root + square / root) >> one;
  } while (next < root);
  return verale_integer(root);
}

//Provides: ml_z_to_int
//Requires: caml_raise_constant, caml_named_value
function ml_z_to_int(a) {
  if (typeof a !== "number") caml_raise_constant(caml_named_value("ml_z_overflow"));
  return a;
}

//Provides: ml_z_of_substring_base
//Requires: verale_integer, caml_jsbytes_of_string, caml_invalid_argument
// In base 16 or 10 (0 stands for it); without signs but "-", and without prefixes.
function ml_z_of_substring_base(base, text, offset, length) {
  var all = caml_jsbytes_of_string(text);
  if (offset < 0 || length < 0 || offset > all.length - length) caml_invalid_argument("Z.of_substring_base: invalid offset or length");
  var part = all.slice(offset, offset + length), digits = part.replace(/^-/, "");
  var decimal = base === 10 || base === 0;
  if (!decimal && base !== 16) caml_invalid_argument("Z.of_substring_base: base must be 10 or 16");
  if (!(decimal ? /^[0-9]+$/ : /^[0-9a-fA-F]+$/).test(digits)) caml_invalid_argument("Z.of_substring_base: invalid digit");
  var size = BigInt(decimal ? digits : "0x" + digits);
  return verale_integer(digits === part ? size : -size);
}

//Provides: ml_z_format
//Requires: caml_jsbytes_of_string, caml_string_of_jsbytes, caml_invalid_argument
// In the formats %d and %x.
function ml_z_format(format, a) {
  var wanted = caml_jsbytes_of_string(format);
  if (wanted !== "%d" && wanted !== "%x") caml_invalid_argument("Z.format: the format must be %d or %x");
  return caml_string_of_jsbytes(a.toString(wanted === "%x" ? 16 : 10));
}
