(** The paradigm assignment: a patch can give the mass that it has left only once (softmax heads).

    A prototype that the rival weighs no more than the predicted class counts with the least of its activation. Any
    other costs its worth times its top, and its price; each patch costs its excess (Prices.v). The prices are a hint:
    any that are not negative are sound. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes LinearReadout Simplex FewEntries Leftover Prices.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (T : Z) (h : head) (left_over : leftover) (b : box) (prices : list Z).

(** Per prototype its worth to the rival, over the unit of the weights; its top, over T; its price, over T times the
    unit of the weights. *)
Definition gain_of (w : (Z * Z) * (Z * Z)) : gain := let '((p, r), (o, v)) := w in Gain (r - p) o v.
Definition gains (ps rs : list Z) : list gain :=
  map gain_of (combine (combine ps rs) (combine (tops left_over) prices)).

Definition price_paid (g : gain) : Z := if 0 <? worth g then price g else 0.
Definition excess_at (gs : list (nat * gain)) (patch : Z * few) : Z := few_excess (fst patch) (snd patch) gs.
Definition all_excess (gs : list gain) : Z :=
  let gs := worthwhile 0 gs in
  zsum (map (excess_at gs) (stated_patches left_over)) + free_patches left_over * excess_at gs (T, nil).

(** What the activations cost at least: their lower ends, or the tops. *)
Definition ends_of_tops : box := combine (map fst b) (tops left_over).

Definition priced_least (winner loser : nat) : Z :=
  let gs := gains (weights h winner) (weights h loser) in
  least_sum (weights h winner) (weights h loser) ends_of_tops + T * (bias_number h winner - bias_number h loser)
  - zsum (map price_paid gs) - all_excess gs.

Definition pools_masses : bool :=
  match head_similarity h, head_pooling h, head_readout h with
  | Identity, MaxPool, Linear => is_softmax h
  | _, _, _ => false
  end.

Definition assignment_least (winner loser : nat) : option Z :=
  if pools_masses && has_width h (weights h winner) && has_width h (weights h loser) && has_width h prices
     && forallb (Z.leb 0) prices
  then Some (priced_least winner loser) else None.
End Run.

(** [prices] are over T times the unit of the weights; [left_over] is [left_of T c (count h)], computed once. *)
Definition assignment_at_least (h : head) (c : certificate) (T : Z) (left_over : leftover) (b : box) (prices : list Z)
    (rival : nat) (num : Z) (den : positive) : bool :=
  Nat.ltb 0 (patches c) &&
  bound_at_least h T (assignment_least T h left_over b prices (predicted c) rival) num den.

Open Scope R_scope.

(** * What it means *)

Lemma zsum_of_prices : forall gs, IZR (zsum (map price_paid gs)) =
  rsum (length gs) (fun k => IZR (price_paid (nth k gs no_gain))).
Proof.
  induction gs as [|g gs IH]; [reflexivity|]. cbn [map zsum length]. rewrite rsum_front, plus_IZR, IH. reflexivity.
Qed.

Section Sound.
Variables (h : head) (c : certificate) (T : Z) (b : box) (prices : list Z) (winner loser : nat) (z : latents).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis complying : complies h c z.
Hypothesis boxed : box_ok h T (patches c) b z.
Hypothesis has_patches : (0 < patches c)%nat.
Hypothesis linear : head_readout h = Linear.
Hypothesis softmax : is_softmax h = true.
Hypothesis activation_is_greatest_mass : forall k,
  activation h (patches c) z k = rmax (patches c) (fun l => observable h (z l) k).
Let n : nat := count h.
Let ps : list Z := weights h winner.
Let rs : list Z := weights h loser.
Hypothesis width_winner : length ps = n.
Hypothesis width_loser : length rs = n.
Hypothesis width_prices : length prices = n.
Hypothesis prices_nonneg : forallb (Z.leb 0) prices = true.
Let kept : leftover := left_of T c n.
Let gs : list gain := gains kept prices ps rs.
Let es (l : nat) : list entry := entries T c n l.
Let x (l k : nat) : R := IZR T * observable h (z l) k.
Let difference (k : nat) : Z := (nth k ps 0 - nth k rs 0)%Z.
Let share_of (l k : nat) : R := share T (es l) gs (x l) k.

Lemma length_gains : length gs = n.
Proof.
  unfold gs, gains. rewrite map_length, !combine_length, width_winner, width_loser, width_prices.
  unfold kept. rewrite length_tops. lia.
Qed.

Lemma nth_gains : forall k, nth k gs no_gain = Gain (- difference k) (nth k (tops kept) 0%Z) (nth k prices 0%Z).
Proof.
  intros k. unfold gs, gains. change no_gain with (gain_of ((0, 0), (0, 0))%Z). rewrite map_nth, !combine_nth;
    [|rewrite ?combine_length, ?width_winner, ?width_loser, ?width_prices; unfold kept; rewrite ?length_tops; lia ..].
  cbn [gain_of]. f_equal. unfold difference. lia.
Qed.

Lemma price_at_least_zero : forall k, (0 <= nth k prices 0)%Z.
Proof.
  intros k. destruct (Nat.lt_ge_cases k (length prices)) as [H|H]; [|rewrite nth_overflow by exact H; lia].
  apply Z.leb_le. rewrite forallb_forall in prices_nonneg. apply prices_nonneg, nth_In, H.
Qed.

Lemma masses_stated : forall l, entries_ok n (es l) (x l).
Proof. intros l. apply entries_hold; assumption. Qed.

Lemma masses_total : forall l, (0 < n)%nat -> rsum n (x l) = IZR T.
Proof. intros l P. unfold x. rewrite rsum_scal. unfold n in *. rewrite masses_sum_to_one by assumption. ring. Qed.

(** ** One prototype *)

Lemma top_at_least_zero : forall k, (k < n)%nat -> (0 <= top (nth k gs no_gain))%Z.
Proof. intros k _. rewrite nth_gains. apply tops_nonneg. Qed.

Lemma price_of_gain_nonneg : forall k, (k < n)%nat -> (0 <= price (nth k gs no_gain))%Z.
Proof. intros k _. rewrite nth_gains. apply price_at_least_zero. Qed.

Lemma share_of_nonneg : forall l k, (k < n)%nat -> 0 <= share_of l k.
Proof.
  intros l k Hk. apply (share_nonneg T n); [apply masses_stated|apply masses_total; lia|exact Hk].
Qed.

Lemma priced_term_ok : forall k, (k < n)%nat ->
  IZR (least_term (difference k) (nth k (ends_of_tops kept b) (0, 0)%Z)) - IZR (price_paid (nth k gs no_gain))
    - rsum (patches c) (fun l => share_of l k)
  <= IZR (difference k) * (IZR T * activation h (patches c) z k).
Proof.
  intros k Hk. destruct boxed as [L E].
  assert (S : 0 <= rsum (patches c) (fun l => share_of l k))
    by (apply rsum_nonneg; intros; apply share_of_nonneg; exact Hk).
  unfold ends_of_tops. rewrite combine_nth by (unfold kept; rewrite map_length, length_tops; exact L).
  unfold least_term, price_paid. rewrite nth_gains. cbn [worth price fst snd].
  destruct (Z.leb_spec 0 (difference k)) as [D|D], (Z.ltb_spec 0 (- difference k)) as [W|W]; try lia.
  - rewrite (map_nth fst b (0, 0)%Z k : nth k (map fst b) 0%Z = _), mult_IZR.
    destruct (E k Hk) as [Lo _]. apply IZR_nonneg in D. nra.
  - rewrite activation_is_greatest_mass.
    destruct (rmax_attained (patches c) (fun l => observable h (z l) k) has_patches) as [l [Hl ->]]. fold (x l k).
    assert (M := mass_worth_at_most T n (es l) gs (x l) (masses_stated l) (masses_total l ltac:(lia)) length_gains
      top_at_least_zero price_of_gain_nonneg).
    assert (C : forall i, (i < n)%nat -> is_open (nth i (es l) unstated) = false ->
      (most_of (remainder T (es l)) (nth i (es l) unstated) <= top (nth i gs no_gain))%Z).
    { intros i Hi O. rewrite nth_gains. apply stated_mass_at_most_top; auto. }
    specialize (M C k Hk). rewrite nth_gains in M. cbn [worth top price] in M. specialize (M W).
    assert (G := rsum_ge_term (patches c) (fun i => share_of i k) l (fun i _ => share_of_nonneg i k Hk) Hl).
    cbv beta in G. fold (share_of l k) in M. rewrite mult_IZR. rewrite opp_IZR in M. lra.
Qed.

(** ** All of them *)

Lemma shares_within_excess :
  rsum n (fun k => rsum (patches c) (fun l => share_of l k)) <= IZR (all_excess T kept gs).
Proof.
  rewrite rsum_swap. unfold all_excess, kept. set (fs := worthwhile 0 gs).
  rewrite <- (sum_over_patches T c n (excess_at fs) T_positive), zsum_seq_real. apply rsum_le. intros l _.
  apply Rle_trans with (IZR (excess (remainder T (es l)) (es l) gs)).
  - destruct (Nat.eq_dec n 0) as [Z0|N]; [rewrite Z0; apply IZR_nonneg, excess_nonneg|].
    apply (shares_sum T n); [apply masses_stated|apply masses_total; lia].
  - apply IZR_le. unfold excess_at, left_at. cbn [fst snd]. rewrite few_remainder_is.
    apply (few_excess_is_enough _ n). apply few_entries_agree.
Qed.

Lemma priced_least_ok : IZR (priced_least T h kept b prices winner loser) <=
  IZR T * (IZR (unit_of_weights h) * (logit h (patches c) z winner - logit h (patches c) z loser)).
Proof.
  rewrite linear_difference by exact linear. unfold priced_least. fold ps rs gs n.
  assert (LE : length (ends_of_tops kept b) = n).
  { unfold ends_of_tops, kept. rewrite combine_length, map_length, length_tops, (proj1 boxed). apply Nat.min_id. }
  rewrite !minus_IZR, plus_IZR, mult_IZR, minus_IZR, zsum_of_prices, length_gains.
  rewrite least_sum_real by (rewrite LE; assumption).
  rewrite LE, Rmult_plus_distr_l, <- rsum_scal. assert (X := shares_within_excess).
  assert (K := rsum_le n _ _ priced_term_ok). rewrite !rsum_minus in K.
  rewrite (rsum_ext n (fun i => IZR T * _) (fun k => IZR (difference k) * (IZR T * activation h (patches c) z k)))
    by (intros; unfold difference; rewrite minus_IZR; ring).
  unfold difference at 1 in K. lra.
Qed.
End Sound.

Theorem assignment_least_ok : forall h c T b z prices rival least, (0 < T)%Z -> complies h c z ->
  box_ok h T (patches c) b z -> (0 < patches c)%nat ->
  assignment_least T h (left_of T c (count h)) b prices (predicted c) rival = Some least ->
  IZR least <=
    IZR T * (IZR (unit_of_weights h) * (logit h (patches c) z (predicted c) - logit h (patches c) z rival)).
Proof.
  intros h c T b z prices rival least HT H Hb P A.
  unfold assignment_least in A. destruct (pools_masses h) eqn:M; [|discriminate]. cbn [andb] in A.
  destruct (_ && _)%bool eqn:G; [|discriminate]. injection A as <-. apply andb_prop in G as [G G4].
  apply andb_prop in G as [G G3]. apply andb_prop in G as [G1 G2]. apply Nat.eqb_eq in G1, G2, G3.
  unfold pools_masses in M. destruct (head_similarity h) eqn:S; try discriminate.
  destruct (head_pooling h) eqn:O; try discriminate. destruct (head_readout h) eqn:R; try discriminate.
  apply priced_least_ok; auto. intros k. unfold activation, activation_of, sim. rewrite S, O. reflexivity.
Qed.

Theorem assignment_at_least_ok : forall h c T b z prices rival num den, (0 < T)%Z -> complies h c z ->
  box_ok h T (patches c) b z ->
  assignment_at_least h c T (left_of T c (count h)) b prices rival num den = true ->
  logit h (patches c) z (predicted c) - logit h (patches c) z rival >= q num den.
Proof.
  intros h c T b z prices rival num den HT H Hb E. unfold assignment_at_least in E. apply andb_prop in E as [P E].
  apply Nat.ltb_lt in P. revert E. apply bound_at_least_ok; [exact HT|]. intros least A.
  eapply assignment_least_ok; eassumption.
Qed.
