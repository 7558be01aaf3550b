(** What the theorems assume, for `make assumptions`. *)

From Verale Require Import Check CheckImage Classified.

Definition every_theorem :=
  (check_sound, check_learned_sound, check_ready_sound, check_instance_sound, check_refuted_sound, refuted_not_entailed,
   instance_proved_sound, refutation_proved_sound, entailed_instance_classified, classified_once, check_classified).
Print Assumptions every_theorem.
