(** Softmax heads: what is stated of some masses of a patch bounds all of them, as masses sum to one.

    A mass is one minus the sum of the others. So it is at most its low end plus what all low ends leave of one; where
    every other mass has a high end, it is at least what these leave. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes Ends Stated.
Import ListNotations.

(** * What runs *)

(** What is stated of a mass over the unit [T]: a low end, and a high end unless nothing is stated. Where only a low end
    is stated, the high end is 1. *)
Definition entry : Type := Z * option Z.

Section Run.
Local Open Scope Z_scope.
Variable T : Z.

Definition unstated : entry := (0, None).

Definition met_entry (s : ends) (e : entry) : entry :=
  (match fst s with Some a => Z.max (fst e) a | None => fst e end, cut (snd s) (cut (Some T) (snd e))).

Definition entries_with (u : positive) (l : nat) (es : list entry) (s : statement) : list entry :=
  match s with
  | AboutPatch k j lo hi => if Nat.eqb k l then change_at (met_entry (stated_ends u T lo hi)) j es else es
  | _ => es
  end.

(** What is stated of the [n] masses of the patch [l]. *)
Definition entries (c : certificate) (n l : nat) : list entry :=
  fold_left (entries_with (statement_unit c) l) (statements c) (repeat unstated n).

(** What the low ends leave of one. *)
Definition remainder (es : list entry) : Z := Z.max 0 (T - zsum (map fst es)).

Definition high_or_zero (e : entry) : Z := match snd e with Some k => k | None => 0 end.
Definition is_open (e : entry) : bool := match snd e with Some _ => false | None => true end.
Definition number_open (es : list entry) : nat := length (filter is_open es).

Definition most_of (rest : Z) (e : entry) : Z :=
  match snd e with Some k => Z.min k (fst e + rest) | None => fst e + rest end.

Definition simplex_ends (rest highs : Z) (open : nat) (e : entry) : ends :=
  let others_have_high_ends := Nat.eqb open (if is_open e then 1 else 0) in
  let least := if others_have_high_ends then Z.max (fst e) (T - (highs - high_or_zero e)) else fst e in
  (Some least, Some (most_of rest e)).

Definition is_softmax (h : head) : bool :=
  match head_geometry h with Softmax => Nat.eqb (depth h) (count h) | _ => false end.

Definition row_of_entries (es : list entry) : row :=
  map (simplex_ends (remainder es) (zsum (map high_or_zero es)) (number_open es)) es.

Definition simplex_row (h : head) (c : certificate) (l : nat) : option row :=
  if is_softmax h then Some (row_of_entries (entries c (count h) l)) else None.
End Run.

Open Scope R_scope.

(** * What it means *)

(** ** Masses *)

Lemma rsum_exp_positive : forall n v, (0 < n)%nat -> 0 < rsum n (fun i => exp (v i)).
Proof.
  intros [|n] v H; [inversion H|]. cbn. apply Rplus_le_lt_0_compat; [|apply exp_pos].
  apply rsum_nonneg. intros. left. apply exp_pos.
Qed.

Lemma is_softmax_ok : forall h, is_softmax h = true -> head_geometry h = Softmax /\ depth h = count h.
Proof.
  intros h H. unfold is_softmax in H. destruct (head_geometry h); try discriminate.
  split; [reflexivity|apply Nat.eqb_eq; exact H].
Qed.

Lemma mass_positive : forall h v j, is_softmax h = true -> (j < count h)%nat -> 0 < observable h v j.
Proof.
  intros h v j H Hj. apply is_softmax_ok in H as [G D]. unfold observable. rewrite G.
  apply div_pos; [apply exp_pos|apply rsum_exp_positive; lia].
Qed.

Lemma masses_sum_to_one : forall h v, is_softmax h = true -> (0 < count h)%nat ->
  rsum (count h) (observable h v) = 1.
Proof.
  intros h v H P. apply is_softmax_ok in H as [G D]. unfold observable. rewrite G, <- D in *.
  assert (S := rsum_exp_positive (depth h) v P). set (s := rsum (depth h) _) in *.
  rewrite (rsum_ext _ _ (fun j => / s * exp (v j))) by (intros; unfold Rdiv; ring).
  rewrite rsum_scal. fold s. field. lra.
Qed.

(** ** Sums but for one term *)

Lemma rsum_others_le : forall n f g j, (forall i, (i < n)%nat -> i <> j -> f i <= g i) -> (j < n)%nat ->
  rsum n f - f j <= rsum n g - g j.
Proof.
  induction n; intros f g j H Hj; [lia|]. cbn. destruct (Nat.eq_dec j n) as [->|N].
  - assert (rsum n f <= rsum n g) by (apply rsum_le; intros; apply H; lia). lra.
  - assert (rsum n f - f j <= rsum n g - g j) by (apply IHn; [intros; apply H|]; lia).
    assert (f n <= g n) by (apply H; lia). lra.
Qed.

Lemma zsum_map_real : forall (f : entry -> Z) es d,
  IZR (zsum (map f es)) = rsum (length es) (fun i => IZR (f (nth i es d))).
Proof.
  intros f es d. induction es as [|e es IH]; [reflexivity|]. cbn [map zsum length]. rewrite rsum_front, plus_IZR, IH.
  reflexivity.
Qed.

(** ** Entries *)

(** [x] is T times the mass. *)
Definition entry_ok (e : entry) (x : R) : Prop :=
  IZR (fst e) <= x /\ match snd e with Some k => x <= IZR k | None => fst e = 0%Z end.

Definition entries_ok (n : nat) (es : list entry) (x : nat -> R) : Prop :=
  length es = n /\ forall j, (j < n)%nat -> entry_ok (nth j es unstated) (x j).

Lemma met_entry_ok : forall T s e m, within T s m -> m <= 1 -> (0 < T)%Z -> entry_ok e (IZR T * m) ->
  entry_ok (met_entry T s e) (IZR T * m).
Proof.
  intros T [lo hi] [low high] m [L H] M HT [E1 E2]. apply IZR_pos in HT. unfold entry_ok.
  cbn [met_entry fst snd above] in *. split.
  - destruct lo as [a|]; [|exact E1]. destruct (Z.max_spec low a) as [[_ ->]|[_ ->]]; assumption.
  - assert (B : below T (cut hi (cut (Some T) high)) m).
    { apply cut_ok; [exact H|]. apply cut_ok; [cbn; apply (Rmult_le_compat_l (IZR T)) in M; lra|].
      destruct high as [k|]; [exact E2|exact I]. }
    destruct hi as [b|], high as [k|]; exact B.
Qed.

Lemma mass_at_most_one : forall h v j, is_softmax h = true -> (j < count h)%nat -> observable h v j <= 1.
Proof.
  intros h v j H Hj. rewrite <- (masses_sum_to_one h v H) by lia.
  apply (rsum_ge_term (count h) (observable h v) j); [|exact Hj]. intros i Hi. left. apply mass_positive; assumption.
Qed.

Lemma entries_with_ok : forall h c z T l es s, (0 < T)%Z -> is_softmax h = true -> holds h c z s ->
  entries_ok (count h) es (fun j => IZR T * observable h (z l) j) ->
  entries_ok (count h) (entries_with T (statement_unit c) l es s) (fun j => IZR T * observable h (z l) j).
Proof.
  intros h c z T l es s HT S H [L E].
  destruct s as [k j lo hi| | |]; cbn [entries_with holds] in *; try (split; assumption).
  destruct (Nat.eqb k l) eqn:D; [|split; assumption]. apply Nat.eqb_eq in D as ->.
  split; [rewrite length_change_at; exact L|]. intros i Hi. rewrite nth_change_at by (rewrite L; exact Hi).
  destruct (Nat.eqb i j) eqn:D; [|apply E; exact Hi]. apply Nat.eqb_eq in D as ->.
  apply met_entry_ok; [apply stated_ends_ok; assumption|apply mass_at_most_one; assumption|exact HT|apply E; exact Hi].
Qed.

Lemma unstated_ok : forall n x, (forall j, (j < n)%nat -> 0 <= x j) -> entries_ok n (repeat unstated n) x.
Proof.
  intros n x H. split; [apply repeat_length|]. intros j Hj. rewrite nth_repeat. split; [apply H; exact Hj|reflexivity].
Qed.

Lemma entries_hold : forall h c z T l, (0 < T)%Z -> is_softmax h = true -> complies h c z ->
  entries_ok (count h) (entries T c (count h) l) (fun j => IZR T * observable h (z l) j).
Proof.
  intros h c z T l HT S [_ H]. unfold entries.
  assert (U : entries_ok (count h) (repeat unstated (count h)) (fun j => IZR T * observable h (z l) j)).
  { apply unstated_ok. intros j Hj. apply Rmult_le_pos; [left; apply IZR_pos; exact HT|].
    left. apply mass_positive; assumption. }
  revert H U. generalize (repeat unstated (count h)). induction (statements c) as [|s ss IH]; intros es H U; [exact U|].
  cbn [fold_left]. apply IH; [intros t I; apply H; right; exact I|].
  apply entries_with_ok; [exact HT|exact S|apply H; left; reflexivity|exact U].
Qed.

(** ** The rule *)

Lemma none_open : forall es i, number_open es = O -> (i < length es)%nat -> is_open (nth i es unstated) = false.
Proof.
  unfold number_open. induction es as [|e es IH]; intros [|i] H Hi; cbn [length filter nth] in *; try lia;
    destruct (is_open e) eqn:E; try discriminate; auto. apply IH; [exact H|lia].
Qed.

Lemma no_other_open : forall es i j, number_open es = 1%nat -> is_open (nth j es unstated) = true -> i <> j ->
  (i < length es)%nat -> (j < length es)%nat -> is_open (nth i es unstated) = false.
Proof.
  induction es as [|e es IH]; intros i j H E N Hi Hj; [cbn in Hi; lia|].
  unfold number_open in H. cbn [filter] in H. destruct (is_open e) eqn:D.
  - injection H as H. fold (number_open es) in H. destruct i as [|i], j as [|j]; cbn [nth length] in *; try lia.
    + rewrite (none_open es j H) in E by lia. discriminate.
    + apply none_open; [exact H|lia].
    + apply none_open; [exact H|lia].
  - fold (number_open es) in H. destruct i as [|i], j as [|j]; cbn [nth length] in *; try lia; [exact D|congruence|].
    apply (IH i j); auto; lia.
Qed.

Lemma others_closed : forall es i j, number_open es = (if is_open (nth j es unstated) then 1 else 0)%nat -> i <> j ->
  (i < length es)%nat -> (j < length es)%nat -> is_open (nth i es unstated) = false.
Proof.
  intros es i j H N Hi Hj. destruct (is_open (nth j es unstated)) eqn:E;
    [apply (no_other_open es i j)|apply none_open]; assumption.
Qed.

Lemma closed_entry_at_most : forall e x, entry_ok e x -> is_open e = false -> x <= IZR (high_or_zero e).
Proof. intros [low [k|]] x [_ H] E; [exact H|discriminate]. Qed.

Section Rule.
Variables (T : Z) (es : list entry) (n : nat) (x : nat -> R).
Hypothesis stated : entries_ok n es x.
Hypothesis total : rsum n x = IZR T.

Lemma low_plus_remainder : forall j, (j < n)%nat -> x j <= IZR (fst (nth j es unstated) + remainder T es).
Proof.
  intros j Hj. destruct stated as [L E].
  assert (H := rsum_others_le n (fun i => IZR (fst (nth i es unstated))) x j (fun i Hi _ => proj1 (E i Hi)) Hj).
  rewrite <- L, <- (zsum_map_real fst), L, total in H. cbv beta in H. rewrite plus_IZR. unfold remainder.
  assert (K : IZR (T - zsum (map fst es)) <= IZR (Z.max 0 (T - zsum (map fst es)))) by (apply IZR_le, Z.le_max_r).
  rewrite minus_IZR in K. unfold entry in *. lra.
Qed.

Lemma most_of_ok : forall j, (j < n)%nat -> x j <= IZR (most_of (remainder T es) (nth j es unstated)).
Proof.
  intros j Hj. assert (M := low_plus_remainder j Hj). destruct (proj2 stated j Hj) as [_ H]. unfold most_of.
  destruct (snd (nth j es unstated)) as [k|]; [|exact M].
  destruct (Z.min_spec k (fst (nth j es unstated) + remainder T es)) as [[_ ->]|[_ ->]]; assumption.
Qed.

Lemma one_minus_other_highs : forall j, (j < n)%nat ->
  number_open es = (if is_open (nth j es unstated) then 1 else 0)%nat ->
  IZR (T - (zsum (map high_or_zero es) - high_or_zero (nth j es unstated))) <= x j.
Proof.
  intros j Hj O. destruct stated as [L E].
  assert (H := rsum_others_le n x (fun i => IZR (high_or_zero (nth i es unstated))) j).
  rewrite <- L, <- (zsum_map_real high_or_zero), L, total in H. cbv beta in H. rewrite !minus_IZR. cut (IZR T - x j <=
    IZR (zsum (map high_or_zero es)) - IZR (high_or_zero (nth j es unstated))); [lra|]. apply H; [|exact Hj].
  intros i Hi N. apply closed_entry_at_most; [apply E; exact Hi|]. apply (others_closed es i j); auto; lia.
Qed.
End Rule.

Lemma row_of_entries_ok : forall h T v es, is_softmax h = true ->
  entries_ok (count h) es (fun j => IZR T * observable h v j) -> row_ok h T (row_of_entries T es) v.
Proof.
  intros h T v es S K. split; [unfold row_of_entries; rewrite map_length; apply K|]. intros j Hj.
  assert (M : rsum (count h) (fun j => IZR T * observable h v j) = IZR T)
    by (rewrite rsum_scal, masses_sum_to_one by (auto; lia); ring).
  unfold row_of_entries. set (highs := zsum (map high_or_zero es)).
  rewrite (nth_indep _ anything (simplex_ends T (remainder T es) highs (number_open es) unstated))
    by (rewrite map_length, (proj1 K); exact Hj).
  rewrite map_nth. unfold simplex_ends, within, above, below. cbn [fst snd]. split.
  - destruct (Nat.eqb _ _) eqn:D; [|apply K; exact Hj]. apply Nat.eqb_eq in D.
    assert (O := one_minus_other_highs T es _ _ K M j Hj D). assert (L := proj1 (proj2 K j Hj)). cbv beta in *.
    fold highs in O.
    destruct (Z.max_spec (fst (nth j es unstated)) (T - (highs - high_or_zero (nth j es unstated)))) as [[_ ->]|[_ ->]];
      assumption.
  - exact (most_of_ok T es _ _ K M j Hj).
Qed.

Theorem simplex_row_ok : forall h c z T l r, (0 < T)%Z -> complies h c z -> simplex_row T h c l = Some r ->
  row_ok h T r (z l).
Proof.
  intros h c z T l r HT H E. unfold simplex_row in E. destruct (is_softmax h) eqn:S; [|discriminate]. injection E as <-.
  apply row_of_entries_ok; [exact S|]. apply entries_hold; assumption.
Qed.
