(** Softmax heads: no prices prove more than a matching of patches to prototypes.

    What a patch yields to a prototype is at most the price of the prototype and what is left of the patch. So for
    pairs in which every patch and every prototype occurs once at most, the sum of all yields is at most the sum that
    prices prove, whatever the prices. Any pairs will do: which are the heaviest need not be proved. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Sums Grid Boxes LinearReadout InnerReadout.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (c : certificate) (T : Z).

(** Ends of statements over [T], which is a multiple of their unit *)
Definition units : Z := T / Zpos (statement_unit c).
Definition from_end (default : Z) (e : option Z) : Z := match e with Some a => units * a | None => default end.

(** T times R_l, and T times o_k *)
Definition left_of_patch (l : nat) : Z :=
  Z.max 0 (T - zsum (map (fun s =>
    match s with AboutPatch i _ lo _ => if Nat.eqb i l then Z.max 0 (from_end 0 lo) else 0 | _ => 0 end) (statements
      c))).
Definition top_of (k : nat) : Z :=
  fold_right Z.max 0 (map (fun s =>
    match s with
    | AboutPatch l j lo hi =>
        if Nat.eqb j k then Z.min (from_end T hi) (Z.max 0 (from_end 0 lo) + left_of_patch l) else 0
    | _ => 0
    end) (statements c)).
Definition tops_of : list Z := map top_of (seq 0 (count h)).

Fixpoint no_repeats (l : list nat) : bool :=
  match l with nil => true | x :: l' => negb (existsb (Nat.eqb x) l') && no_repeats l' end.

(** What the patch of a pair yields to its prototype, over T times the unit of the weights *)
Definition yield (tops : list Z) (ps rs : list Z) (pair : nat * nat) : Z :=
  let (l, k) := pair in
  let w := nth k rs 0 - nth k ps 0 in
  let rest := left_of_patch l - nth k tops 0 in
  if (0 <? w) && (0 <? rest) && negb (existsb (states l k) (statements c)) then w * rest else 0.

Definition no_prices_prove (b : box) (winner loser : nat) (tops : list Z) (pairs : list (nat * nat)) : bool :=
  (T =? Zpos (statement_unit c) * units) && Nat.eqb (length b) (count h) &&
  forallb (fun pair => Nat.ltb (fst pair) (patches c) && Nat.ltb (snd pair) (count h)) pairs &&
  no_repeats (map fst pairs) && no_repeats (map snd pairs) &&
  match linear_least h T (combine (map fst b) tops) winner loser with
  | Some known => known - zsum (map (yield tops (weights h winner) (weights h loser)) pairs) <=? 0
  | None => false
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma no_repeats_right : forall l, no_repeats l = true -> NoDup l.
Proof.
  induction l as [|x l IH]; intros H; [constructor|]. cbn [no_repeats] in H. apply andb_prop in H as [N H].
  constructor; [|exact (IH H)]. intros I. apply negb_true_iff in N.
  assert (existsb (Nat.eqb x) l = true); [|congruence]. apply existsb_exists. exists x.
  split; [exact I|apply Nat.eqb_refl].
Qed.

Definition sum_of (l : list R) : R := fold_right Rplus 0 l.

Lemma sum_of_app : forall l l', sum_of (l ++ l') = sum_of l + sum_of l'.
Proof.
  induction l as [|x l IH]; intros l'; unfold sum_of in *; cbn [app fold_right]; [ring|]. rewrite IH. ring.
Qed.

(** Numbers that are not negative, each once at most *)
Lemma sum_of_some : forall (f : nat -> R) n l, (forall i, 0 <= f i) -> NoDup l -> (forall i, In i l -> (i < n)%nat) ->
  sum_of (map f l) <= rsum n f.
Proof.
  intros f n. induction n as [|n IH]; intros l F N B.
  - destruct l as [|x l]; [cbn; lra|]. specialize (B x (or_introl eq_refl)). inversion B.
  - cbn [rsum]. destruct (in_dec Nat.eq_dec n l) as [I|I].
    + apply in_split in I as (l1 & l2 & ->). assert (N' := NoDup_remove_1 _ _ _ N).
      assert (O := NoDup_remove_2 _ _ _ N).
      assert (H := IH (l1 ++ l2) F N'). rewrite map_app, sum_of_app in *. cbn [map]. unfold sum_of in *.
      cbn [fold_right].
      assert (K : fold_right Rplus 0 (map f l1) + fold_right Rplus 0 (map f l2) <= rsum n f); [|lra]. apply H.
      intros i I. assert (i <> n) by (intros ->; contradiction).
      assert (i < S n)%nat by (apply B; apply in_app_or in I; apply in_or_app; cbn; tauto). lia.
    + assert (H := IH l F N). specialize (F n). assert (sum_of (map f l) <= rsum n f); [|lra]. apply H.
      intros i J. assert (i <> n) by congruence. specialize (B i J). lia.
Qed.

Section Sound.
Variables (h : head) (c : certificate) (T : Z).
Hypothesis HT : (0 < T)%Z.
Hypothesis whole : T = (Zpos (statement_unit c) * units c T)%Z.
Let RT : 0 < IZR T := IZR_pos T HT.
Local Notation W := (IZR (unit_of_weights h)).
Let PW : 0 < W := unit_of_weights_positive h.
Let P := count h.

Lemma end_real : forall a, IZR (units c T * a) = IZR T * q a (statement_unit c).
Proof.
  intros a. assert (E : IZR T = IZR (Zpos (statement_unit c)) * IZR (units c T)) by (rewrite <- mult_IZR; f_equal;
    exact whole).
  rewrite E, mult_IZR, <- (q_times_unit a (statement_unit c)). ring.
Qed.

Lemma times_max : forall a b, IZR T * Rmax a b = Rmax (IZR T * a) (IZR T * b).
Proof. intros a b. symmetry. apply RmaxRmult. lra. Qed.

Lemma times_min : forall a b, IZR T * Rmin a b = Rmin (IZR T * a) (IZR T * b).
Proof. intros a b. apply scaled_min_of. lra. Qed.

Lemma low_or_zero : forall lo, IZR (Z.max 0 (from_end c T 0 lo)) =
  IZR T * Rmax 0 (match lo with Some a => q a (statement_unit c) | None => 0 end).
Proof.
  intros [a|]; unfold from_end; rewrite IZR_max, times_max, Rmult_0_r; [rewrite end_real|]; reflexivity.
Qed.

Lemma left_real : forall l, IZR (left_of_patch c T l) = IZR T * mass_left c l.
Proof.
  intros l. unfold left_of_patch, mass_left.
  rewrite IZR_max, times_max, Rmult_0_r, minus_IZR, Rmult_minus_distr_l, Rmult_1_r.
  f_equal. f_equal. induction (statements c) as [|s ss IH]; [cbn; ring|]. cbn [map zsum fold_right].
  rewrite plus_IZR, Rmult_plus_distr_l, IH. f_equal. destruct s as [i j lo hi| | |]; try ring.
  destruct (Nat.eqb i l); [apply low_or_zero|ring].
Qed.

Lemma top_real : forall k, IZR (top_of c T k) = IZR T * greatest_stated c k.
Proof.
  intros k. unfold top_of, greatest_stated. assert (L := left_real).
  induction (statements c) as [|s ss IH]; [cbn; ring|].
  cbn [map fold_right]. rewrite IZR_max, times_max, IH. f_equal. destruct s as [l j lo hi| | |]; try ring.
  destruct (Nat.eqb j k); [|ring]. rewrite IZR_min, times_min, plus_IZR, Rmult_plus_distr_l, low_or_zero, L. f_equal.
  destruct hi as [a|]; cbn [from_end]; [apply end_real|ring].
Qed.

Lemma nth_tops : forall k, (k < P)%nat -> nth k (tops_of h c T) 0%Z = top_of c T k.
Proof.
  intros k Hk. unfold tops_of. rewrite (nth_indep _ 0%Z (top_of c T P)) by (rewrite map_length, seq_length; exact Hk).
  rewrite map_nth, seq_nth by exact Hk. reflexivity.
Qed.

Lemma nth_combined : forall (b : box) k, length b = P -> (k < P)%nat ->
  nth k (combine (map fst b) (tops_of h c T)) (0, 0)%Z = (fst (nth k b (0, 0)%Z), nth k (tops_of h c T) 0%Z).
Proof.
  intros b k L Hk. rewrite combine_nth by (unfold tops_of; rewrite !map_length, seq_length; exact L). f_equal.
  change 0%Z with (fst (0, 0)%Z) at 1. apply map_nth.
Qed.

Section Rival.
Variables (b : box) (r : nat) (v lo : nat -> R).
Hypothesis prices : forall k, 0 <= v k.
Hypothesis low_enough : forall j, (j < length b)%nat -> IZR T * lo j <= IZR (fst (nth j b (0, 0)%Z)).
Let p := predicted c.
Let w (k : nat) : R := weight_of h r k - weight_of h p k.
Let paid (k : nat) : R := if Rle_dec (w k) 0 then 0 else v k.
Let excess (l k : nat) : R :=
  if Rle_dec (w k) 0 then 0 else
  if existsb (states l k) (statements c) then 0 else w k * Rmax 0 (mass_left c l - greatest_stated c k) - v k.
Let given (l : nat) : R := Rmax 0 (rmax P (excess l)).

Lemma weight_difference : forall k, W * w k = IZR (nth k (weights h r) 0 - nth k (weights h p) 0)%Z.
Proof. intros k. rewrite minus_IZR, <- !weight_scaled. unfold w. ring. Qed.

Lemma paid_nonneg : forall k, 0 <= paid k.
Proof. intros k. unfold paid. destruct (Rle_dec _ _); [lra|apply prices]. Qed.

Lemma yield_paid : forall l k, (k < P)%nat ->
  IZR (yield c T (tops_of h c T) (weights h p) (weights h r) (l, k)) <= IZR T * W * (given l + paid k).
Proof.
  intros l k Hk. assert (G : 0 <= given l) by apply Rmax_l. assert (Q := paid_nonneg k).
  assert (Z0 : 0 <= IZR T * W * (given l + paid k)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
  unfold yield. rewrite nth_tops by exact Hk. destruct (_ && _) eqn:C; [|exact Z0].
  apply andb_prop in C as [C S]. apply andb_prop in C as [C1 C2]. apply Z.ltb_lt, IZR_lt in C1, C2.
  apply negb_true_iff in S. rewrite mult_IZR, <- weight_difference. rewrite <- weight_difference in C1.
  rewrite minus_IZR, left_real, top_real in *. assert (Pw : 0 < w k) by nra.
  assert (E : excess l k <= given l).
  { eapply Rle_trans; [|apply Rmax_r]. apply (rmax_ge P (excess l)). exact Hk. }
  unfold excess, paid in *. rewrite S in E. destruct (Rle_dec (w k) 0) as [N|_]; [lra|].
  assert (M := Rmax_r 0 (mass_left c l - greatest_stated c k)).
  assert (K : w k * (mass_left c l - greatest_stated c k) <= given l + v k).
  { apply Rle_trans with (w k * Rmax 0 (mass_left c l - greatest_stated c k)); [apply Rmult_le_compat_l; lra|lra]. }
  apply (Rmult_le_compat_l (IZR T * W)) in K; [lra|]. apply Rmult_le_pos; lra.
Qed.

Lemma yields_paid : forall pairs, (forall pair, In pair pairs -> (fst pair < patches c)%nat /\ (snd pair < P)%nat) ->
  NoDup (map fst pairs) -> NoDup (map snd pairs) ->
  IZR (zsum (map (yield c T (tops_of h c T) (weights h p) (weights h r)) pairs)) <=
  IZR T * W * (rsum (patches c) given + rsum P paid).
Proof.
  intros pairs B N1 N2.
  assert (S1 := sum_of_some given (patches c) (map fst pairs) (fun l => Rmax_l _ _) N1
    ltac:(intros i I; apply in_map_iff in I as (x & <- & I); apply B, I)).
  assert (S2 := sum_of_some paid P (map snd pairs) paid_nonneg N2
    ltac:(intros i I; apply in_map_iff in I as (x & <- & I); apply B, I)).
  apply Rle_trans with (IZR T * W * (sum_of (map given (map fst pairs)) + sum_of (map paid (map snd pairs)))).
  2: { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|lra]. }
  clear S1 S2 N1 N2. induction pairs as [|[l k] pairs IH]; [cbn; lra|]. cbn [map zsum].
  rewrite plus_IZR. assert (Y := yield_paid l k (proj2 (B (l, k) (or_introl eq_refl)))).
  assert (H := IH (fun x I => B x (or_intror I))). unfold sum_of in *. cbn [fold_right fst snd]. lra.
Qed.

Lemma priced_known : forall known, length b = P ->
  linear_least h T (combine (map fst b) (tops_of h c T)) p r = Some known ->
  IZR T * W * (bias_of h p - bias_of h r -
    rsum P (fun k => if Rle_dec (w k) 0 then w k * lo k else w k * greatest_stated c k)) <= IZR known.
Proof.
  intros known L E. unfold linear_least in E. destruct (_ && _)%bool eqn:G; [|discriminate]. injection E as <-.
  apply andb_prop in G as [G1 G2]. apply Nat.eqb_eq in G1, G2. unfold has_width in *.
  assert (LC : length (combine (map fst b) (tops_of h c T)) = P).
  { rewrite combine_length, map_length. unfold tops_of. rewrite map_length, seq_length. fold P. lia. }
  rewrite plus_IZR, mult_IZR, minus_IZR, <- !bias_scaled, least_sum_real by (rewrite LC; assumption). rewrite LC.
  rewrite Rmult_minus_distr_l, <- rsum_scal.
  match goal with |- ?u - ?s <= ?t + ?v => assert (- s <= t); [|lra] end. rewrite <- rsum_opp. apply rsum_le.
  intros k Hk. rewrite nth_combined by (exact Hk || exact L).
  assert (D := weight_difference k). set (d := (nth k (weights h r) 0 - nth k (weights h p) 0)%Z) in *.
  replace (nth k (weights h p) 0 - nth k (weights h r) 0)%Z with (- d)%Z by (unfold d; ring).
  assert (Lo := low_enough k ltac:(rewrite L; exact Hk)).
  unfold least_term. cbn [fst snd]. destruct (0 <=? - d)%Z eqn:Ed, (Rle_dec (w k) 0) as [Pw|Pw].
  - rewrite mult_IZR, opp_IZR, <- D. apply (Rmult_le_compat_l (- (W * w k))) in Lo; [lra|nra].
  - apply Z.leb_le, IZR_le in Ed. rewrite opp_IZR, <- D in Ed. exfalso. nra.
  - apply Z.leb_gt, IZR_lt in Ed. rewrite opp_IZR, <- D in Ed. exfalso. nra.
  - right. rewrite mult_IZR, opp_IZR, <- D, nth_tops, top_real by exact Hk. ring.
Qed.

Lemma priced_margin_ok : forall pairs, no_prices_prove h c T b p r (tops_of h c T) pairs = true ->
  margin_by_prices h c r lo v <= 0.
Proof.
  intros pairs H. unfold no_prices_prove in H. apply andb_prop in H as [H E]. apply andb_prop in H as [H N2].
  apply andb_prop in H as [H N1]. apply andb_prop in H as [H B]. apply andb_prop in H as [_ L]. apply Nat.eqb_eq in L.
  apply no_repeats_right in N1, N2. rewrite forallb_forall in B.
  assert (B' : forall pair, In pair pairs -> (fst pair < patches c)%nat /\ (snd pair < P)%nat).
  { intros pair I. apply B, andb_prop in I as [I1 I2]. split; apply Nat.ltb_lt; assumption. }
  destruct (linear_least _ _ _ _ _) as [known|] eqn:K; [|discriminate]. apply priced_known in K; [|exact L].
  assert (Y := yields_paid pairs B' N1 N2). apply Z.leb_le, IZR_le in E. rewrite minus_IZR in E.
  assert (M : IZR T * W * margin_by_prices h c r lo v <= 0); [|apply (Rmult_le_reg_l (IZR T * W)); [nra|lra]].
  unfold margin_by_prices. fold p. change (fun l => Rmax 0 (rmax (count h) _)) with given.
  rewrite (rsum_ext (count h) (fun k => if Rle_dec _ 0 then _ else _ + v k)
    (fun k => (if Rle_dec (w k) 0 then w k * lo k else w k * greatest_stated c k) + paid k)).
  - rewrite rsum_plus. fold P. lra.
  - intros k _. unfold paid. fold (w k). destruct (Rle_dec (w k) 0); ring.
Qed.
End Rival.
End Sound.

Theorem no_prices_prove_ok : forall h c T b r lo pairs, (0 < T)%Z ->
  (forall j, (j < length b)%nat -> IZR T * lo j <= IZR (fst (nth j b (0, 0)%Z))) ->
  no_prices_prove h c T b (predicted c) r (tops_of h c T) pairs = true ->
  forall v, (forall k, 0 <= v k) -> margin_by_prices h c r lo v <= 0.
Proof.
  intros h c T b r lo pairs HT Lo H v V.
  apply (priced_margin_ok h c T HT) with (b := b) (pairs := pairs); [|exact V|exact Lo|exact H].
  unfold no_prices_prove in H. do 5 apply andb_prop in H as [H _]. apply Z.eqb_eq in H. exact H.
Qed.
