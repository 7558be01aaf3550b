(** The checker as OCaml, written to extracted/checker.ml and checker.mli by `make extract`.

    What extraction replaces is trusted. Types: bool, option, list, pairs, unit, sumbool and the connectives on bool are
    OCaml's (ExtrOcamlBasic); [positive], [N] and [Z] are Zarith's integers, with Zarith's functions for [succ], [pred],
    [add], [sub], [mul], [opp], [abs], [min], [max], [compare], [eqb], [div], [modulo], [div_eucl], [shiftl] and [shiftr]
    (ExtrOcamlZBigInt of Coq, which lists them). [nat] stays unary, as Coq has it. Besides, for speed: *)

From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Verale Require Import Semantics Check.

(** Comparisons, which Coq has by way of [compare]. *)
Extract Constant Z.leb => "Big_int_Z.le_big_int".
Extract Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Constant Z.geb => "Big_int_Z.ge_big_int".
Extract Constant Z.gtb => "Big_int_Z.gt_big_int".

(** The integer root, which Coq computes bit by bit; 0 of a negative number. *)
Extract Constant Z.sqrt =>
  "(fun x -> if Big_int_Z.sign_big_int x < 0 then Big_int_Z.zero_big_int else Big_int_Z.sqrt_big_int x)".

Extraction Blacklist Z Big_int_Z List Nat.
Extraction "checker.ml" check check_instance check_refuted covered.
