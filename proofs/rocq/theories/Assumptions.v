(** What the theorems rest on. The test that compiles this file compares what it prints with a fixed list. *)

From Verale Require Import Check CheckImage.

Print Assumptions check_sound.
Print Assumptions check_instance_sound.
Print Assumptions check_refuted_sound.
