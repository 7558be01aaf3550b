(** What the theorems assume, for `make assumptions`. *)

From Verale Require Import Check CheckImage Classified Minimal ReferenceMargin Picture Numbers Origins ReceptiveFields.

Definition every_theorem :=
  (unproved_sound, check_sound, check_learned_sound, check_ready_sound, check_instance_sound, check_refuted_sound,
   refuted_not_entailed, instance_proved_sound, refutation_proved_sound, entailed_instance_classified, classified_once, check_classified,
   check_minimal_sound, needed_sound, reference_margin_at_ends, no_range_is_empty,
   complies_over_ok, latents_comply_sound, picture_proved_sound, check_picture_sound, entailed_pictured_classified, check_classified_picture,
   bounds_sound, image_values_sound, picture_latents_sound, pictured_origin, origin_ok, receptive_field).
Print Assumptions every_theorem.
