(** Two facts of calculus by which a series is compared with the function that it approximates. *)

From Coq Require Import Reals Lra.
Open Scope R_scope.

(** A function whose derivative is nowhere negative ends no lower than it starts. *)
Lemma rises : forall f df t, 0 <= t ->
  (forall x, 0 <= x <= t -> derivable_pt_lim f x (df x)) ->
  (forall x, 0 <= x <= t -> 0 <= df x) -> f 0 <= f t.
Proof.
  intros f df t [Ht|<-] Hd Hp; [|apply Rle_refl].
  destruct (MVT_cor2 f df 0 t Ht Hd) as [c [E Hc]].
  assert (0 <= df c * (t - 0)) by (apply Rmult_le_pos; [apply Hp|]; lra). lra.
Qed.

(** Two functions that start at the same value keep the order of their derivatives. *)
Lemma stays_below : forall f g df dg t, 0 <= t -> f 0 = g 0 ->
  (forall x, 0 <= x <= t -> derivable_pt_lim f x (df x)) ->
  (forall x, 0 <= x <= t -> derivable_pt_lim g x (dg x)) ->
  (forall x, 0 <= x <= t -> df x <= dg x) -> f t <= g t.
Proof.
  intros f g df dg t Ht E Hf Hg H. enough (g 0 - f 0 <= g t - f t) by lra.
  apply (rises (fun x => g x - f x) (fun x => dg x - df x)); [exact Ht| |].
  - intros x Hx. apply derivable_pt_lim_minus; [apply Hg|apply Hf]; exact Hx.
  - intros x Hx. assert (D := H x Hx). lra.
Qed.

(** A number between two values of an affine function of c is its value at some c between the two. *)
Lemma affine_between : forall u k a b v, a <= b -> 0 <= k -> u + a * k <= v <= u + b * k ->
  exists c, a <= c <= b /\ v = u + c * k.
Proof.
  intros u k a b v Hab [Hk|<-] Hv.
  - exists ((v - u) / k). assert (E : (v - u) / k * k = v - u) by (field; lra). split; [|lra].
    split; apply (Rmult_le_reg_r k); lra.
  - exists a. split; lra.
Qed.
