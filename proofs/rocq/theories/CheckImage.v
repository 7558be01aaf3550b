(** The checkers of claim 2, instance, and of a refutation, and that they are right. Both evaluate the head at the
    image's latents, in enclosures; pooling and readouts are those of [Check.v]. *)

From Coq Require Import Reals ZArith List Lia Bool.
From Verale Require Import Semantics Boxes Sums Log Evaluation Pooling Instance StatedPatches Refutation Check.
Import ListNotations.

(** * What runs *)

Section Run.
Variables (h : head) (s : settings) (c : certificate) (i : image).
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).

Definition image_table : option table := evaluated_table h T (terms s) i.
Definition image_box (t : table) : option box := pool_box h T B (terms s) (logarithms_for B (terms s)) t.

(** The whole head is evaluated only if a statement is about activations. *)
Definition instance_proved : bool :=
  Nat.ltb 0 (length (rows i)) &&
  if forallb about_a_patch (statements c) then instance_by_patches h c T (terms s) i
  else
    match image_table with
    | Some t => match image_box t with Some b => instance_holds h c T t B b i | None => false end
    | None => false
    end.

Definition refutation_proved : bool :=
  Nat.ltb 0 (length (rows i)) &&
  match image_table with
  | Some t =>
      match image_box t with
      | Some b => existsb (refutation_holds h c T t B b i) (seq 0 (classes h))
      | None => false
      end
  | None => false
  end.
End Run.

(** Of what is prepared for [check] they need head and settings alone, so that nothing has to be prepared for other
    settings. *)
Definition check_instance (p : prepared) : certificate -> image -> bool := instance_proved (head_of p) (settings_of p).
Definition check_refuted (p : prepared) : certificate -> image -> bool := refutation_proved (head_of p) (settings_of p).

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (s : settings) (c : certificate) (i : image).
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).

Lemma image_table_ok : forall t, image_table h s i = Some t -> table_ok h T (length (rows i)) t (latents_of i).
Proof. intros t. apply evaluated_table_ok. reflexivity. Qed.

Lemma image_box_ok : forall t b, (0 < length (rows i))%nat -> image_table h s i = Some t -> image_box h s t = Some b ->
  box_ok h B (length (rows i)) b (latents_of i).
Proof.
  intros t b Hn Et Eb. apply (pool_box_ok h T B (terms s) (logarithms_for B (terms s))) with (t := t); try reflexivity.
  - apply logarithms_for_right.
  - exact Hn.
  - apply image_table_ok. exact Et.
  - exact Eb.
Qed.

Theorem instance_proved_sound : instance_proved h s c i = true -> instance h c i.
Proof.
  intros E. unfold instance_proved in E. apply andb_prop in E as [Hn E]. apply Nat.ltb_lt in Hn.
  destruct (forallb about_a_patch (statements c)) eqn:A; [revert E; apply instance_by_patches_ok; reflexivity|].
  destruct (image_table _ _ _) as [t|] eqn:Et; [|discriminate].
  destruct (image_box _ _ _) as [b|] eqn:Eb; [|discriminate].
  eapply instance_holds_ok; [| | |right|exact E]; try reflexivity; [apply image_table_ok; exact Et|].
  eapply image_box_ok; eassumption.
Qed.

Theorem refutation_proved_sound : refutation_proved h s c i = true -> refutes h c i.
Proof.
  intros E. unfold refutation_proved in E. apply andb_prop in E as [Hn E]. apply Nat.ltb_lt in Hn.
  destruct (image_table _ _ _) as [t|] eqn:Et; [|discriminate].
  destruct (image_box _ _ _) as [b|] eqn:Eb; [|discriminate]. apply existsb_exists in E as [r [_ E]].
  eapply refutation_holds_ok; [| | | |exact E]; try reflexivity; [apply image_table_ok; exact Et|].
  eapply image_box_ok; eassumption.
Qed.
End Sound.

Theorem check_instance_sound : forall h s c i, check_instance (prepare h s) c i = true -> instance h c i.
Proof. intros h s c i. exact (instance_proved_sound h s c i). Qed.

Theorem check_refuted_sound : forall h s c i, check_refuted (prepare h s) c i = true -> refutes h c i.
Proof. intros h s c i. exact (refutation_proved_sound h s c i). Qed.

(** A refuted certificate entails nothing. *)
Corollary refuted_not_entailed : forall h s c i, check_refuted (prepare h s) c i = true -> ~ entails h c.
Proof. intros h s c i E. exact (refuted_is_not_entailed h c i (check_refuted_sound h s c i E)). Qed.
