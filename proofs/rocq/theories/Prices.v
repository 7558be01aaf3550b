(** One patch of a softmax head can give the mass that it has left only once: what this costs, given prices.

    Write R for what the low ends leave at the patch, and for each prototype w for what its mass is worth to the rival,
    o >= 0 for its top, which no stated mass exceeds, and v >= 0 for its price. Let u be the greatest w (R - o) - v of a
    mass that is not stated, at least 0. If x is such a mass then w x <= w o + v + (x / R) u; and all that are not
    stated sum to at most R. So the shares (x / R) u of the patch sum to at most u. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Simplex FewEntries.
Import ListNotations.

(** * What runs *)

Record gain := Gain { worth : Z; top : Z; price : Z }.

Definition no_gain : gain := Gain 0 0 0.

Section Run.
Local Open Scope Z_scope.

(** The gains that are worth something, with their numbers; [k] is that of the first. *)
Fixpoint worthwhile (k : nat) (gs : list gain) : list (nat * gain) :=
  match gs with
  | g :: gs' => if 0 <? worth g then (k, g) :: worthwhile (S k) gs' else worthwhile (S k) gs'
  | nil => nil
  end.

(** The greatest of worth * (rest - top) - price of what is not stated, at least 0. *)
Definition excess_with (rest : Z) (es : few) (most : Z) (g : nat * gain) : Z :=
  let more := worth (snd g) * (rest - top (snd g)) - price (snd g) in
  if (most <? more) && (top (snd g) <? rest) && is_open (few_at (fst g) es) then more else most.

Definition few_excess (rest : Z) (es : few) (gs : list (nat * gain)) : Z := fold_left (excess_with rest es) gs 0.

(** The same of all entries and all gains, for proofs. *)
Fixpoint excess (rest : Z) (es : list entry) (gs : list gain) : Z :=
  match es, gs with
  | e :: es', g :: gs' =>
      let others := excess rest es' gs' in
      if (0 <? worth g) && is_open e && (top g <? rest) then Z.max others (worth g * (rest - top g) - price g)
      else others
  | _, _ => 0
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma excess_nonneg : forall rest es gs, (0 <= excess rest es gs)%Z.
Proof.
  intros rest. induction es as [|e es IH]; intros [|g gs]; cbn [excess]; try lia. specialize (IH gs).
  destruct (_ && _)%bool; lia.
Qed.

Lemma excess_covers : forall rest es gs k, (k < length es)%nat -> (k < length gs)%nat ->
  is_open (nth k es unstated) = true -> (0 < worth (nth k gs no_gain))%Z -> (top (nth k gs no_gain) < rest)%Z ->
  (worth (nth k gs no_gain) * (rest - top (nth k gs no_gain)) - price (nth k gs no_gain) <= excess rest es gs)%Z.
Proof.
  intros rest. induction es as [|e es IH]; intros [|g gs] [|k] H1 H2 O W P; cbn [length nth excess] in *; try lia.
  - rewrite O. apply Z.ltb_lt in W as ->. apply Z.ltb_lt in P as ->. cbn [andb]. lia.
  - specialize (IH gs k ltac:(lia) ltac:(lia) O W P). destruct (_ && _)%bool; lia.
Qed.

Lemma excess_with_grows : forall rest es gs most, (most <= fold_left (excess_with rest es) gs most)%Z.
Proof.
  intros rest es. induction gs as [|g gs IH]; intros most; [apply Z.le_refl|]. cbn [fold_left].
  eapply Z.le_trans; [|apply IH]. unfold excess_with. destruct (Z.ltb_spec most (worth (snd g) * (rest - top (snd g))
    - price (snd g))); cbn [andb]; [destruct (_ && _)%bool|]; lia.
Qed.

Lemma few_excess_covers : forall rest es gs most k g, In (k, g) gs -> (top g < rest)%Z ->
  is_open (few_at k es) = true ->
  (worth g * (rest - top g) - price g <= fold_left (excess_with rest es) gs most)%Z.
Proof.
  intros rest es. induction gs as [|g' gs IH]; intros most k g I P O; [destruct I|]. cbn [fold_left].
  destruct I as [->|I]; [|apply (IH _ k g I P O)]. eapply Z.le_trans; [|apply excess_with_grows].
  unfold excess_with. cbn [fst snd]. apply Z.ltb_lt in P as ->. rewrite O. cbn [andb]. rewrite !andb_true_r.
  destruct (Z.ltb_spec most (worth g * (rest - top g) - price g)); lia.
Qed.

Lemma worthwhile_in : forall gs k i, (i < length gs)%nat -> (0 < worth (nth i gs no_gain))%Z ->
  In ((k + i)%nat, nth i gs no_gain) (worthwhile k gs).
Proof.
  induction gs as [|g gs IH]; intros k [|i] H W; cbn [length nth worthwhile] in *; try lia.
  - apply Z.ltb_lt in W as ->. left. f_equal. lia.
  - replace (k + S i)%nat with (S k + i)%nat by lia. specialize (IH (S k) i ltac:(lia) W).
    destruct (0 <? worth g)%Z; [right|]; exact IH.
Qed.

Lemma excess_at_most : forall rest es gs x, (0 <= x)%Z ->
  (forall k, (k < length es)%nat -> (k < length gs)%nat -> is_open (nth k es unstated) = true ->
    (0 < worth (nth k gs no_gain))%Z -> (top (nth k gs no_gain) < rest)%Z ->
    (worth (nth k gs no_gain) * (rest - top (nth k gs no_gain)) - price (nth k gs no_gain) <= x)%Z) ->
  (excess rest es gs <= x)%Z.
Proof.
  intros rest. induction es as [|e es IH]; intros [|g gs] x X H; cbn [excess]; try exact X.
  assert (K : (excess rest es gs <= x)%Z).
  { apply IH; [exact X|]. intros k H1 H2. apply (H (S k)); cbn [length]; lia. }
  destruct (0 <? worth g)%Z eqn:W; [|exact K]. destruct (is_open e) eqn:O; [|exact K].
  destruct (top g <? rest)%Z eqn:P; [|exact K]. cbn [andb]. apply Z.max_lub; [exact K|].
  apply Z.ltb_lt in W, P. apply (H 0%nat); cbn [length nth]; auto; lia.
Qed.

Theorem few_excess_is_enough : forall rest n es fs gs, agree n es fs ->
  (excess rest es gs <= few_excess rest fs (worthwhile 0 gs))%Z.
Proof.
  intros rest n es fs gs (L & A & _). apply excess_at_most; [apply excess_with_grows|].
  intros k H1 H2 O W P. apply (few_excess_covers rest fs _ 0 k); [apply (worthwhile_in gs 0 k H2 W)|exact P|].
  rewrite <- A by lia. exact O.
Qed.

Lemma inverse_nonneg : forall r, 0 <= r -> 0 <= / r.
Proof. intros r [H|H]; [left; apply Rinv_0_lt_compat; exact H|rewrite <- H, Rinv_0; right; reflexivity]. Qed.

Section Patch.
Variables (T : Z) (n : nat) (es : list entry) (gs : list gain) (x : nat -> R).
Hypothesis stated : entries_ok n es x.
Hypothesis total : rsum n x = IZR T.
Hypothesis width : length gs = n.
Let rest : Z := remainder T es.
Hypothesis top_nonneg : forall k, (k < n)%nat -> (0 <= top (nth k gs no_gain))%Z.
Hypothesis price_nonneg : forall k, (k < n)%nat -> (0 <= price (nth k gs no_gain))%Z.
Hypothesis stated_below_top : forall k, (k < n)%nat -> is_open (nth k es unstated) = false ->
  (most_of rest (nth k es unstated) <= top (nth k gs no_gain))%Z.

(** The share of the mass [k] in the excess. *)
Definition share (k : nat) : R :=
  if is_open (nth k es unstated) then IZR (excess rest es gs) * / IZR rest * x k else 0.

Lemma rest_nonneg : 0 <= IZR rest.
Proof. apply IZR_nonneg, Z.le_max_l. Qed.

Lemma excess_real_nonneg : 0 <= IZR (excess rest es gs).
Proof. apply IZR_nonneg, excess_nonneg. Qed.

Lemma open_low : forall k, (k < n)%nat -> is_open (nth k es unstated) = true -> fst (nth k es unstated) = 0%Z.
Proof.
  intros k Hk O. destruct (proj2 stated k Hk) as [_ H]. unfold is_open in O.
  destruct (snd (nth k es unstated)); [discriminate|exact H].
Qed.

Lemma open_mass_range : forall k, (k < n)%nat -> is_open (nth k es unstated) = true -> 0 <= x k <= IZR rest.
Proof.
  intros k Hk O. assert (H := low_plus_remainder T es n x stated total k Hk). destruct (proj2 stated k Hk) as [L _].
  rewrite (open_low k Hk O) in *. split; [exact L|exact H].
Qed.

Lemma share_nonneg : forall k, (k < n)%nat -> 0 <= share k.
Proof.
  intros k Hk. unfold share. destruct (is_open _) eqn:O; [|lra].
  apply Rmult_le_pos; [|apply open_mass_range; assumption].
  apply Rmult_le_pos; [apply excess_real_nonneg|apply inverse_nonneg, rest_nonneg].
Qed.

Lemma open_masses_sum : rsum n (fun k => if is_open (nth k es unstated) then x k else 0) <= IZR rest.
Proof.
  apply Rle_trans with (rsum n (fun k => x k - IZR (fst (nth k es unstated)))).
  - apply rsum_le. intros k Hk. destruct (is_open _) eqn:O; [rewrite (open_low k Hk O); lra|].
    destruct (proj2 stated k Hk) as [L _]. lra.
  - destruct stated as [L _]. rewrite rsum_minus, total, <- L, <- (zsum_map_real fst), <- minus_IZR.
    apply IZR_le, Z.le_max_r.
Qed.

Theorem shares_sum : rsum n share <= IZR (excess rest es gs).
Proof.
  set (u := IZR (excess rest es gs)).
  rewrite (rsum_ext n share (fun k => u * / IZR rest * (if is_open (nth k es unstated) then x k else 0)))
    by (intros; unfold share; destruct (is_open _); [reflexivity|ring]).
  rewrite rsum_scal. assert (U : 0 <= u) by apply excess_real_nonneg. assert (P := inverse_nonneg _ rest_nonneg).
  apply Rle_trans with (u * / IZR rest * IZR rest).
  - apply Rmult_le_compat_l; [apply Rmult_le_pos; assumption|apply open_masses_sum].
  - destruct (Req_dec (IZR rest) 0) as [->|N]; [rewrite Rmult_0_r; exact U|]. right. field. exact N.
Qed.

(** If x <= r and w (r - o) - v <= u then w x <= w o + v + (x / r) u. *)
Lemma convex_in_the_mass : forall w o v u r y, 0 < r -> 0 <= y <= r -> 0 <= w * o + v -> w * (r - o) - v <= u ->
  w * y <= w * o + v + u * / r * y.
Proof.
  intros w o v u r y Hr Hy Hv H. set (t := / r * y). assert (Et : y = t * r) by (unfold t; field; lra).
  assert (Ht : 0 <= t <= 1).
  { split; [apply Rmult_le_pos; [left; apply Rinv_0_lt_compat|]; lra|]. apply (Rmult_le_reg_r r); lra. }
  rewrite Rmult_assoc. fold t. rewrite Et at 1.
  assert (K : t * (w * (r - o) - v) <= t * u) by (apply Rmult_le_compat_l; lra).
  assert (M : t * (w * o + v) <= 1 * (w * o + v)) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Theorem mass_worth_at_most : forall k, (k < n)%nat -> (0 < worth (nth k gs no_gain))%Z ->
  IZR (worth (nth k gs no_gain)) * x k <=
  IZR (worth (nth k gs no_gain)) * IZR (top (nth k gs no_gain)) + IZR (price (nth k gs no_gain)) + share k.
Proof.
  intros k Hk W. assert (To := top_nonneg k Hk). assert (Pr := price_nonneg k Hk). assert (Sh := share_nonneg k Hk).
  apply IZR_nonneg in To, Pr. apply IZR_pos in W as WR. destruct (is_open (nth k es unstated)) eqn:O.
  - assert (M := open_mass_range k Hk O). destruct (Z_lt_le_dec (top (nth k gs no_gain)) rest) as [L|L].
    + unfold share. rewrite O. assert (LR := IZR_lt _ _ L). apply convex_in_the_mass; [lra|exact M|nra|].
      rewrite <- !minus_IZR, <- mult_IZR, <- minus_IZR. apply IZR_le. destruct stated as [Le _].
      apply excess_covers; auto; lia.
    + apply IZR_le in L. nra.
  - assert (M := most_of_ok T es n x stated total k Hk). assert (B := IZR_le _ _ (stated_below_top k Hk O)).
    fold rest in M. nra.
Qed.
End Patch.
