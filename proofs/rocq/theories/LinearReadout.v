(** The linear readout: a lower bound of the difference of two logits, given a box of the activations.

    Bounds of logits are integers over B times the unit of the weights, where B is the unit of the box. Two logits that
    share a term are bounded together. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (B : Z) (b : box).

Definition unit_of_weights : Z := Zpos (weight_unit h).
Definition weights (c : nat) : list Z := nth c (weight h) nil.
Definition bias_number (i : nat) : Z := nth i (bias h) 0.

(** The least d a for an activation between two ends. *)
Definition least_term (d : Z) (e : Z * Z) : Z := if 0 <=? d then d * fst e else d * snd e.

(** The least sum_j (p_j - r_j) a_j, term by term. What two classes share cancels in p_j - r_j. *)
Fixpoint least_sum (ps rs : list Z) (b : box) : Z :=
  match ps, rs, b with
  | p :: ps', r :: rs', e :: b' => least_term (p - r) e + least_sum ps' rs' b'
  | _, _, _ => 0
  end.

Definition has_width (row : list Z) : bool := Nat.eqb (length row) (count h).

Definition linear_least (winner loser : nat) : option Z :=
  if has_width (weights winner) && has_width (weights loser)
  then Some (least_sum (weights winner) (weights loser) b + B * (bias_number winner - bias_number loser))
  else None.

(** Whether a bound over B times the unit of the weights is at least num / den. *)
Definition bound_at_least (bound : option Z) (num : Z) (den : positive) : bool :=
  match bound with
  | Some least => num * (B * unit_of_weights) <=? least * Zpos den
  | None => false
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (B : Z) (b : box) (n : nat) (z : latents).
Hypothesis B_positive : (0 < B)%Z.
Local Notation W := (IZR (unit_of_weights h)).
Let a : nat -> R := activation h n z.

Lemma weight_scaled : forall c j, W * weight_of h c j = IZR (nth j (weights h c) 0%Z).
Proof. intros c j. apply q_times_unit. Qed.

Lemma bias_scaled : forall i, W * bias_of h i = IZR (bias_number h i).
Proof. intros i. apply q_times_unit. Qed.

Lemma unit_of_weights_positive : 0 < W.
Proof. apply Zpos_pos. Qed.

Lemma least_term_ok : forall d e x, encloses B e x -> IZR (least_term d e) <= IZR B * (IZR d * x).
Proof.
  intros d e x [L H]. unfold least_term. replace (IZR B * (IZR d * x)) with (IZR d * (IZR B * x)) by ring.
  destruct (0 <=? d)%Z eqn:E; rewrite mult_IZR.
  - apply Z.leb_le, IZR_nonneg in E. apply Rmult_le_compat_l; lra.
  - apply Z.leb_gt, IZR_lt in E. apply Rmult_le_compat_neg_l; lra.
Qed.

Lemma least_sum_real : forall ps rs (bx : box), length ps = length bx -> length rs = length bx ->
  IZR (least_sum ps rs bx) =
  rsum (length bx) (fun j => IZR (least_term (nth j ps 0 - nth j rs 0) (nth j bx (0, 0)))%Z).
Proof.
  intros ps rs bx. revert ps rs. induction bx as [|e bx IH]; intros [|p ps] [|r rs] Hp Hr; try discriminate;
    [reflexivity|]. injection Hp as Hp. injection Hr as Hr. cbn [least_sum length].
  rewrite rsum_front, plus_IZR, IH by auto. reflexivity.
Qed.

Lemma least_sum_ok : forall ps rs (bx : box) (x : nat -> R), length ps = length bx -> length rs = length bx ->
  (forall j, (j < length bx)%nat -> encloses B (nth j bx (0, 0)%Z) (x j)) ->
  IZR (least_sum ps rs bx) <= IZR B * rsum (length bx) (fun j => (IZR (nth j ps 0%Z) - IZR (nth j rs 0%Z)) * x j).
Proof.
  intros ps rs bx x Hp Hr H. rewrite least_sum_real, <- rsum_scal by assumption. apply rsum_le. intros j Hj.
  rewrite <- minus_IZR. apply least_term_ok, H, Hj.
Qed.

Lemma linear_difference : forall winner loser, head_readout h = Linear ->
  W * (logit h n z winner - logit h n z loser) =
  rsum (count h) (fun j => (IZR (nth j (weights h winner) 0%Z) - IZR (nth j (weights h loser) 0%Z)) * a j) +
  (IZR (bias_number h winner) - IZR (bias_number h loser)).
Proof.
  intros winner loser R. unfold logit. rewrite R. fold a. rewrite <- !bias_scaled.
  rewrite (rsum_ext (count h) (fun j => (IZR (nth j _ 0%Z) - _) * a j)
    (fun j => W * (weight_of h winner j * a j) + (- W) * (weight_of h loser j * a j)))
    by (intros; rewrite <- !weight_scaled; ring).
  rewrite rsum_plus, !rsum_scal. ring.
Qed.

Lemma linear_least_ok : forall winner loser x, box_ok h B n b z -> head_readout h = Linear ->
  linear_least h B b winner loser = Some x ->
  IZR x <= IZR B * (W * (logit h n z winner - logit h n z loser)).
Proof.
  intros winner loser x [L H] R E. unfold linear_least in E. destruct (_ && _)%bool eqn:G; [|discriminate].
  injection E as <-. apply andb_prop in G as [G1 G2]. apply Nat.eqb_eq in G1, G2.
  rewrite linear_difference by exact R. rewrite plus_IZR, mult_IZR, minus_IZR, Rmult_plus_distr_l.
  apply Rplus_le_compat_r. rewrite <- L in *. apply least_sum_ok; assumption.
Qed.

Theorem bound_at_least_ok : forall x bound num den,
  (forall least, bound = Some least -> IZR least <= IZR B * (W * x)) -> bound_at_least h B bound num den = true ->
  x >= q num den.
Proof.
  intros x [least|] num den H E; [|discriminate]. specialize (H least eq_refl).
  apply Z.leb_le, IZR_le in E. rewrite !mult_IZR in E.
  apply Rle_ge. assert (P := Zpos_pos den). assert (PW := unit_of_weights_positive). apply IZR_pos in B_positive.
  apply div_le_iff; [exact P|]. apply (Rmult_le_reg_l (IZR B * W)); [apply Rmult_lt_0_compat; assumption|].
  apply (Rmult_le_compat_r (IZR (Zpos den))) in H; [|lra]. lra.
Qed.
End Sound.
