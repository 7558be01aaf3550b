(** The range of softmax masses over a domain whose logits are bounded.

    Let e = exp (lower - upper), or 0 without two ends. Of two exponentials of logits in the domain, the one is at least
    e times the other. So a mass is at least that of a logit whose others are all 1 / e times as heavy, and at most that
    of one whose others are all e times as heavy: of n masses each is in [e / (e + n - 1), 1 / (1 + (n - 1) e)]. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Monotone Exponential Simplex.
Open Scope R_scope.

(** * What runs *)

Section Range.
Variables (h : head) (T : Z) (terms : nat).

(** T times e, rounded down. *)
Definition least_ratio : Z :=
  match lower h, upper h with
  | Some a, Some b =>
      match exp_ends T terms (a - b) (Zpos (coord_unit h)) with Some e => fst e | None => 0%Z end
  | _, _ => 0%Z
  end.

Definition mass_range : ends :=
  if Nat.eqb (count h) 1 then (Some T, Some T) else
  let others := (Z.of_nat (count h) - 1)%Z in
  (Some (floor_div (T * least_ratio) (least_ratio + others * T)),
   Some (ceil_div (T * T) (T + others * least_ratio)))%Z.

(** * What it means *)

Hypothesis T_positive : (0 < T)%Z.
Hypothesis softmax : is_softmax h = true.
Variable v : nat -> R.
Hypothesis in_the_domain : patch_in_domain h v.
Let n := count h.
Let y (i : nat) : R := exp (v i).

Lemma least_ratio_nonneg : (0 <= least_ratio)%Z.
Proof.
  unfold least_ratio. destruct (lower h) as [a|], (upper h) as [b|]; try lia.
  destruct (exp_ends T terms (a - b) (Zpos (coord_unit h))) as [e|] eqn:E; [|lia].
  apply exp_ends_encloses in E; [|exact T_positive]. apply E.
Qed.

Lemma least_ratio_ok : forall i j, (i < n)%nat -> (j < n)%nat -> IZR least_ratio * y j <= IZR T * y i.
Proof.
  intros i j Hi Hj. destruct in_the_domain as [B _]. destruct (is_softmax_ok h softmax) as [_ W]. fold n in W.
  assert (PT := IZR_pos _ T_positive). assert (Pi : 0 < y i) by apply exp_pos. assert (Pj : 0 < y j) by apply exp_pos.
  assert (Z0 : IZR 0 * y j <= IZR T * y i) by (rewrite Rmult_0_l; apply Rmult_le_pos; lra).
  destruct (B i ltac:(lia)) as [Lo _]. destruct (B j ltac:(lia)) as [_ Hi'].
  unfold least_ratio. destruct (lower h) as [a|], (upper h) as [b|]; try exact Z0.
  destruct (exp_ends T terms (a - b) (Zpos (coord_unit h))) as [e|] eqn:E; [|exact Z0].
  apply exp_ends_encloses in E as (_ & _ & E & _); [|exact T_positive].
  apply Rle_trans with (IZR T * (exp (IZR (a - b) / IZR (Zpos (coord_unit h))) * y j)).
  - rewrite <- Rmult_assoc. apply Rmult_le_compat_r; lra.
  - apply Rmult_le_compat_l; [lra|]. unfold y. rewrite <- exp_plus. apply exp_monotone.
    unfold q in *. unfold Rdiv in *. rewrite minus_IZR. lra.
Qed.

(** The other exponentials, each against that of [j]. *)
Lemma others_are_heavy : forall j, (j < n)%nat -> (INR n - 1) * (IZR least_ratio * y j) <= IZR T * (rsum n y - y j).
Proof.
  intros j Hj.
  assert (H := rsum_others_le n (fun _ => IZR least_ratio * y j) (fun i => IZR T * y i) j
    (fun i Hi _ => least_ratio_ok i j Hi Hj) Hj).
  cbv beta in H. rewrite rsum_const, rsum_scal in H. lra.
Qed.

Lemma others_are_light : forall j, (j < n)%nat -> IZR least_ratio * (rsum n y - y j) <= (INR n - 1) * (IZR T * y j).
Proof.
  intros j Hj.
  assert (H := rsum_others_le n (fun i => IZR least_ratio * y i) (fun _ => IZR T * y j) j
    (fun i Hi _ => least_ratio_ok j i Hj Hi) Hj).
  cbv beta in H. rewrite rsum_const, rsum_scal in H. lra.
Qed.

Theorem mass_range_ok : forall j, (j < n)%nat -> within T mass_range (observable h v j).
Proof.
  intros j Hj. assert (PT := IZR_pos _ T_positive). destruct (is_softmax_ok h softmax) as [G W].
  unfold observable. rewrite G, W. fold n. change (exp (v j)) with (y j). change (fun i => exp (v i)) with y.
  unfold mass_range. fold n. destruct (Nat.eqb n 1) eqn:One.
  - apply Nat.eqb_eq in One. assert (j = 0%nat) as -> by lia. rewrite One. cbn [rsum].
    assert (P : 0 < y 0%nat) by apply exp_pos.
    replace (y 0%nat / (0 + y 0%nat)) with 1 by (field; lra). split; cbn; lra.
  - apply Nat.eqb_neq in One. assert (H := others_are_heavy j Hj). assert (L := others_are_light j Hj).
    assert (E0 := least_ratio_nonneg). assert (S0 : 0 < rsum n y) by (apply (rsum_exp_positive n v); lia).
    assert (PO : (0 < (Z.of_nat n - 1) * T)%Z) by (apply Z.mul_pos_pos; lia).
    assert (PE : (0 <= (Z.of_nat n - 1) * least_ratio)%Z) by (apply Z.mul_nonneg_nonneg; lia).
    rewrite INR_IZR_INZ in H, L. set (m := y j / rsum n y).
    assert (Y : y j = m * rsum n y) by (unfold m; field; lra). rewrite Y in H, L. set (s := rsum n y) in *.
    split; cbn [fst snd above below].
    + apply floor_div_below; [lia|]. rewrite plus_IZR, !mult_IZR, minus_IZR.
      assert (K : IZR least_ratio <= (IZR least_ratio + (IZR (Z.of_nat n) - 1) * IZR T) * m)
        by (apply (Rmult_le_reg_r s); lra).
      apply (Rmult_le_compat_l (IZR T)) in K; lra.
    + apply ceil_div_above; [lia|]. rewrite plus_IZR, !mult_IZR, minus_IZR.
      assert (K : (IZR T + (IZR (Z.of_nat n) - 1) * IZR least_ratio) * m <= IZR T)
        by (apply (Rmult_le_reg_r s); lra).
      apply (Rmult_le_compat_l (IZR T)) in K; lra.
Qed.
End Range.
