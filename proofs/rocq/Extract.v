(** The checker as OCaml, written to extracted/checker.ml and checker.mli by `make extract`.

    What extraction replaces is trusted. Types: bool, option, list, pairs, unit, sumbool and the connectives on bool are
    OCaml's (ExtrOcamlBasic); [positive], [N] and [Z] are Zarith's integers, with Zarith's functions for [succ], [pred],
    [add], [sub], [mul], [opp], [abs], [min], [max], [compare], [eqb], [div_eucl], [shiftl] and [shiftr]
    (ExtrOcamlZBigInt of Coq, which lists them). [nat] is OCaml's int (ExtrOcamlNatInt): the reader admits no number of
    2^20 or more, so that no sum or product of a few overflows. Besides, for speed: *)

From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatInt.
From Verale Require Import Semantics Packing UnitInterval Check CheckImage Minimal NetworkSemantics Picture Numbers.

(** Comparisons, which Coq has by way of [compare]. *)
Extract Constant Z.leb => "Big_int_Z.le_big_int".
Extract Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Constant Z.geb => "Big_int_Z.ge_big_int".
Extract Constant Z.gtb => "Big_int_Z.gt_big_int".
Extract Constant Nat.leb => "(fun (a : int) b -> a <= b)".
Extract Constant Nat.ltb => "(fun (a : int) b -> a < b)".

(** Division, which rounds down in Coq, whatever the signs; by 0 it is 0. *)
Extract Constant Z.div =>
  "(fun a b -> if Big_int_Z.sign_big_int b = 0 then Big_int_Z.zero_big_int else Z.fdiv a b)".

(** The integer root, which Coq computes bit by bit; 0 of a negative number. *)
Extract Constant Z.sqrt =>
  "(fun x -> if Big_int_Z.sign_big_int x < 0 then Big_int_Z.zero_big_int else Big_int_Z.sqrt_big_int x)".

(** The bits of a number less one, a guess that is checked; Coq counts them one by one. *)
Extract Constant Z.log2 =>
  "(fun x -> if Big_int_Z.sign_big_int x <= 0 then Big_int_Z.zero_big_int else Big_int_Z.big_int_of_int (Z.numbits x - 1))".

(** Binary digits of a number from a place on, which Coq has by way of a shift and of a mask. *)
Extract Constant slice =>
  "(fun x from size -> Big_int_Z.extract_big_int x (Big_int_Z.int_of_big_int from) (Big_int_Z.int_of_big_int size))".

(** Division of naturals, which Coq makes by counting. By 0 it is 0, and the remainder is the number itself. *)
Extract Constant Nat.div => "(fun n m -> if m = 0 then 0 else n / m)".
Extract Constant Nat.modulo => "(fun n m -> if m = 0 then n else n mod m)".

(** Conversions, which Coq makes by counting. *)
Extract Constant Pos.of_succ_nat => "(fun n -> Big_int_Z.big_int_of_int (n + 1))".
Extract Constant Z.of_nat => "Big_int_Z.big_int_of_int".
Extract Constant Z.to_nat =>
  "(fun x -> if Big_int_Z.sign_big_int x < 0 then 0 else Big_int_Z.int_of_big_int x)".

Extraction Blacklist Z Big_int_Z List Nat.
Extraction "checker.ml" prepare learn unproved check instance_proved refutation_proved check_minimal needed_of activations_in_unit
  picture_latents complies_over proved_bounds image_values.
