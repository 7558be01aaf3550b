(** Enclosures that the parts of the checker hand to one another, and what each means.

    Ends are integers: an end [a] over the unit [T] is the number a / T. A [row] encloses the observables of one patch,
    a table has a row for each patch, and a [box] encloses the activations. *)

From Coq Require Import Reals ZArith List.
From Verale Require Import Semantics Grid.
Import ListNotations.
Open Scope R_scope.

(** The two ends of a range; an end that is missing says nothing. *)
Definition ends : Type := option Z * option Z.

Definition above (T : Z) (low : option Z) (x : R) : Prop := match low with Some a => IZR a <= IZR T * x | None => True end.
Definition below (T : Z) (high : option Z) (x : R) : Prop := match high with Some b => IZR T * x <= IZR b | None => True end.
Definition within (T : Z) (e : ends) (x : R) : Prop := above T (fst e) x /\ below T (snd e) x.

Definition anything : ends := (None, None).

Definition row : Type := list ends.
Definition row_ok (h : head) (T : Z) (r : row) (v : nat -> R) : Prop :=
  length r = count h /\ forall j, (j < count h)%nat -> within T (nth j r anything) (observable h v j).

Definition table : Type := list row.
Definition table_ok (h : head) (T : Z) (n : nat) (t : table) (z : latents) : Prop :=
  length t = n /\ forall l, (l < n)%nat -> row_ok h T (nth l t nil) (z l).

Definition box : Type := list (Z * Z).
Definition box_ok (h : head) (B : Z) (n : nat) (b : box) (z : latents) : Prop :=
  length b = count h /\ forall j, (j < count h)%nat -> encloses B (nth j b (0, 0)%Z) (activation h n z j).
