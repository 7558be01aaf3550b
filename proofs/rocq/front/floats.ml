(* Floats from integers of any size, and back. Part of the hinter: untrusted.

   Of Zarith this uses, and the rest of the hinter no more than: of_int, to_int, numbits, sign, compare, neg, add, sub,
   mul, shift_left, shift_right. *)

(* A float m and an exponent e with m 2^e near z. Integers have 31 bits under js_of_ocaml, so 60 bits take two. *)
let half = 30
let wide_integers = Sys.int_size > 62

let parts z =
  let bits = Z.numbits z in
  if bits <= half then (float_of_int (Z.to_int z), 0)
  else begin
    let size = if Z.sign z < 0 then Z.neg z else z and drop = max 0 (bits - (2 * half)) in
    let top = if drop = 0 then size else Z.shift_right size drop in
    let near =
      if wide_integers then float_of_int (Z.to_int top)
      else begin
        let high = Z.shift_right top half in
        let low = Z.sub top (Z.shift_left high half) in
        ldexp (float_of_int (Z.to_int high)) half +. float_of_int (Z.to_int low)
      end
    in
    ((if Z.sign z < 0 then -.near else near), drop)
  end

(* z 2^-places *)
let of_integer places z =
  let near, exponent = parts z in
  ldexp near (exponent - places)

(* a / b 2^-places; infinite where it is too large. *)
let of_ratio places a b =
  let x, e = parts a and y, f = parts b in
  ldexp (x /. y) (e - f - places)

(* A float below the first may have a fraction; from there on it is an integer, which below the second is a machine's. *)
let short = if wide_integers then 0x1p52 else 1e9
let whole = if wide_integers then 0x1p62 else 1e9

(* The integer nearest to x 2^places, or nearly so; x is finite. *)
let to_integer places x =
  let near = ldexp x places in
  let size = Float.abs near in
  if size < short then Z.of_int (int_of_float (Float.floor (near +. 0.5)))
  else if size < whole then Z.of_int (int_of_float near)
  else begin
    let mantissa, exponent = Float.frexp x in
    let scaled = ldexp mantissa 27 in
    let high = Float.floor scaled in
    let low = ldexp (scaled -. high) 26 in
    let whole = Z.add (Z.shift_left (Z.of_int (int_of_float high)) 26) (Z.of_int (int_of_float low)) in
    let shift = exponent + places - 53 in
    if shift >= 0 then Z.shift_left whole shift else Z.shift_right whole (-shift)
  end

let is_finite x = Float.abs x < infinity

(* What two vectors have in common: reads and writes below are not checked. *)
let last u v = Int.min (Array.length u) (Array.length v) - 1

let dot u v =
  let sum = ref 0. in
  for d = 0 to last u v do
    sum := !sum +. (Array.unsafe_get u d *. Array.unsafe_get v d)
  done;
  !sum

(* Takes a multiple of v from u. *)
let subtract u share v =
  for d = 0 to last u v do
    Array.unsafe_set u d (Array.unsafe_get u d -. (share *. Array.unsafe_get v d))
  done
