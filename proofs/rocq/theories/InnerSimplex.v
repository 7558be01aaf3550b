(** Softmax heads: numbers that certainly are the mass of a prototype at some point of the space that satisfies what
    is stated at a patch.

    The mass k can be x if the others can sum to 1 - x: where each of them has a low end and a high one, they can sum
    to anything between the sum of these and that of those. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Sums Grid Boxes Ends Stated Activations Simplex Facts InnerDomain
  InnerStatements.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (c : certificate) (T : Z).

(** Between what two integers over [T] every mass of the patch satisfies what is stated of it. A box is met with
    statements about its numbers; here these are masses. *)
Definition masses_stated (l : nat) : list statement :=
  map (fun e => AboutActivation (fst e) (fst (snd e)) (snd (snd e))) (stated_at l (statements c)).
Definition mass_ends (l : nat) : box :=
  met_box (inner_stated_ends (statement_unit c) T) (repeat (0, T) (count h)) (masses_stated l).

Definition meet_ends (e f : Z * Z) : Z * Z := (Z.max (fst e) (fst f), Z.min (snd e) (snd f)).

(** [lows] and [highs] are sums over all masses. *)
Definition mass_within (lows highs : Z) (e : Z * Z) : Z * Z :=
  meet_ends e (T - (highs - snd e), T - (lows - fst e)).

Definition inner_mass_row (own : list (option (Z * Z))) (l : nat) : list (option (Z * Z)) :=
  let es := mass_ends l in
  if is_softmax h && forallb (fun e => Nat.ltb (fst e) (count h)) (stated_at l (statements c)) &&
     forallb (fun e => fst e <=? snd e) es
  then
    let lows := zsum (map fst es) in
    let highs := zsum (map snd es) in
    map (fun p => option_map (meet_ends (mass_within lows highs (snd p))) (fst p)) (combine own es)
  else map (fun _ => None) own.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma meet_ends_ok : forall T e f (Q Q' : R -> Prop), all_within T e Q -> all_within T f Q' ->
  all_within T (meet_ends e f) (fun x => Q x /\ Q' x).
Proof.
  intros T e f Q Q' HQ HQ' x [L H]. cbn [meet_ends fst snd] in L, H. rewrite IZR_max in L. rewrite IZR_min in H.
  assert (L1 := Rmax_l (IZR (fst e)) (IZR (fst f))). assert (L2 := Rmax_r (IZR (fst e)) (IZR (fst f))).
  assert (U1 := Rmin_l (IZR (snd e)) (IZR (snd f))). assert (U2 := Rmin_r (IZR (snd e)) (IZR (snd f))).
  split; [apply HQ|apply HQ']; split; lra.
Qed.

(** Numbers between given ones sum to anything between the sums. *)
Lemma filling : forall n (l g : nat -> R) s, (forall i, (i < n)%nat -> l i <= g i) -> rsum n l <= s <= rsum n g ->
  exists y, (forall i, (i < n)%nat -> l i <= y i <= g i) /\ rsum n y = s.
Proof.
  intros n l g s H [L U]. destruct (Rle_lt_or_eq_dec _ _ (Rle_trans _ _ _ L U)) as [P|E].
  - set (t := (s - rsum n l) / (rsum n g - rsum n l)). assert (T0 : 0 <= t <= 1).
    { unfold t. split; [apply div_nonneg; lra|apply div_le_iff; lra]. }
    exists (fun i => l i + t * (g i - l i)). split.
    + intros i Hi. specialize (H i Hi). assert (0 <= t * (g i - l i)) by (apply Rmult_le_pos; lra).
      assert (t * (g i - l i) <= 1 * (g i - l i)) by (apply Rmult_le_compat_r; lra). lra.
    + rewrite rsum_plus, rsum_scal, rsum_minus. unfold t. field. lra.
  - exists l. split; [|lra]. intros i Hi. specialize (H i Hi). lra.
Qed.

Lemma rsum_replaced : forall n f k x, (k < n)%nat ->
  rsum n (fun i => if Nat.eqb i k then x else f i) = rsum n f - f k + x.
Proof.
  induction n as [|n IH]; intros f k x Hk; [inversion Hk|]. cbn [rsum]. destruct (Nat.eq_dec k n) as [->|N].
  - rewrite Nat.eqb_refl, (rsum_ext n _ f); [ring|]. intros i Hi.
    destruct (Nat.eqb_spec i n); [lia|reflexivity].
  - rewrite IH by lia. destruct (Nat.eqb_spec n k); [lia|ring].
Qed.

Lemma stated_at_all : forall l ss j lo hi, In (AboutPatch l j lo hi) ss -> In (j, (lo, hi)) (stated_at l ss).
Proof.
  intros l ss j lo hi. induction ss as [|s ss IH]; intros I; [destruct I|]. destruct I as [->|I]; cbn [stated_at].
  - rewrite Nat.eqb_refl. left. reflexivity.
  - destruct s as [k i a b| | |]; auto. destruct (Nat.eqb k l); [right|]; auto.
Qed.

Section Sound.
Variables (h : head) (c : certificate) (T : Z).
Hypothesis HT : (0 < T)%Z.
Let RT : 0 < IZR T := IZR_pos T HT.
Let P := count h.

Lemma zsum_of_ends : forall (f : Z * Z -> Z) (es : box), f (0, 0)%Z = 0%Z ->
  IZR (zsum (map f es)) = rsum (length es) (fun i => IZR (f (nth i es (0, 0)%Z))).
Proof.
  intros f es E. rewrite (zsum_real (length es)) by (rewrite map_length; lia). apply rsum_ext. intros i _.
  unfold vector. rewrite <- E at 1. rewrite map_nth. reflexivity.
Qed.

Lemma mass_ends_ok : forall l j, (j < P)%nat -> length (mass_ends h c T l) = P /\
  all_within T (nth j (mass_ends h c T l) (0, 0)%Z) (fun x => 0 <= x /\
    forall lo hi, In (AboutPatch l j lo hi) (statements c) -> between (statement_unit c) lo hi x).
Proof.
  intros l j Hj. set (ss := masses_stated c l).
  destruct (met_box_within (statement_unit c) T HT ss (repeat (0, T)%Z P) j) as [L W];
    [rewrite repeat_length; exact Hj|]. rewrite repeat_length in L. split; [exact L|].
  intros x H. apply W in H as [H F]. rewrite (nth_indep _ (0, 0)%Z (0, T)%Z) in H by (rewrite repeat_length; exact Hj).
  rewrite nth_repeat in H. cbn [fst snd] in H. split; [apply (Rmult_le_reg_l (IZR T)); lra|]. intros lo hi I.
  apply stated_at_all in I.
  apply (in_map (fun e => AboutActivation (fst e) (fst (snd e)) (snd (snd e)))) in I. cbn [fst snd] in I.
  rewrite Forall_forall in F. exact (F _ I eq_refl).
Qed.

Theorem inner_mass_row_ok : forall own l j e, length own = P -> (j < P)%nat ->
  (forall e, nth j own None = Some e -> all_within T e (domain_range h j)) ->
  nth j (inner_mass_row h c T own l) None = Some e -> all_within T e (reference_range h c l j).
Proof.
  intros own l j e L Hj Own H. unfold inner_mass_row in H. destruct (mass_ends_ok l j Hj) as [Le _].
  set (es := mass_ends h c T l) in *.
  destruct (_ && _) eqn:C.
  2: { assert (none : forall (r : list (option (Z * Z))) i, nth i (map (fun _ => @None (Z * Z)) r) None = None)
         by (induction r; destruct i; cbn; auto).
       rewrite none in H. discriminate. }
  apply andb_prop in C as [C S]. apply andb_prop in C as [C In']. unfold is_softmax in C.
  destruct (head_geometry h) eqn:G; try discriminate. apply Nat.eqb_eq in C.
  rewrite forallb_forall in S, In'.
  set (f := fun p : option (Z * Z) * (Z * Z) => _) in H.
  rewrite (nth_indep _ None (f (None, (0, 0)%Z))) in H by (rewrite map_length, combine_length; lia).
  rewrite map_nth, combine_nth in H by congruence. unfold f in H. cbn [fst snd] in H.
  destruct (nth j own None) as [o|] eqn:O; [|discriminate]. injection H as <-. specialize (Own o eq_refl).
  set (d := nth j es (0, 0)%Z) in *. intros x X.
  apply (meet_ends_ok T _ _ (range_given h c l j) (domain_range h j)) in X;
    [split; [apply X|intros _; apply X]| |exact Own].
  clear x X. intros x X. set (lows := zsum (map fst es)) in *. set (highs := zsum (map snd es)) in *.
  apply (meet_ends_ok T _ _ (fun x => IZR (fst d) <= IZR T * x <= IZR (snd d))
    (fun x => IZR (T - (highs - snd d)) <= IZR T * x <= IZR (T - (lows - fst d)))) in X; [|intros y Y; exact Y..].
  destruct X as [X1 X2]. rewrite !minus_IZR in X2.
  assert (order : forall i, (i < P)%nat -> IZR (fst (nth i es (0, 0)%Z)) <= IZR (snd (nth i es (0, 0)%Z))).
  { intros i Hi. apply IZR_le, Z.leb_le, S, nth_In. lia. }
  destruct (filling P
    (fun i => if Nat.eqb i j then IZR T * x else IZR (fst (nth i es (0, 0)%Z)))
    (fun i => if Nat.eqb i j then IZR T * x else IZR (snd (nth i es (0, 0)%Z))) (IZR T)) as (y & Y & Sum).
  { intros i Hi. destruct (Nat.eqb i j); [lra|apply order; exact Hi]. }
  { rewrite !rsum_replaced by exact Hj. unfold lows, highs in X2. rewrite !zsum_of_ends, Le in X2 by reflexivity.
    fold d. lra. }
  assert (E : y j / IZR T = x).
  { specialize (Y j Hj). rewrite Nat.eqb_refl in Y. replace (y j) with (IZR T * x) by lra. field. lra. }
  assert (W : forall i, (i < P)%nat -> IZR (fst (nth i es (0,
    0)%Z)) <= IZR T * (y i / IZR T) <= IZR (snd (nth i es (0, 0)%Z))).
  { intros i Hi. replace (IZR T * (y i / IZR T)) with (y i) by (field; lra). specialize (Y i Hi).
    destruct (Nat.eqb_spec i j) as [Ej|N]; [|exact Y]. rewrite Ej in *. fold d. lra. }
  intros ep He. assert (member : exists v, in_space h v /\ satisfies h c l v /\ x = observable_at h v j).
  { exists (fun i => y i / IZR T). split; [|split].
    - unfold in_space. rewrite G. split.
      + intros i Hi. apply (mass_ends_ok l i ltac:(unfold P; lia)). apply W. unfold P. lia.
      + rewrite C. fold P. unfold Rdiv. rewrite (rsum_ext P _ (fun i => / IZR T * y i)) by (intros; ring).
        rewrite rsum_scal, Sum. field. lra.
    - intros k lo hi I. assert (J := In' _ (stated_at_all _ _ _ _ _ I)). apply Nat.ltb_lt in J.
      unfold observable_at. rewrite G. exact (proj2 (proj2 (mass_ends_ok l k J) _ (W k J)) lo hi I).
    - unfold observable_at. rewrite G. symmetry. exact E. }
  split; exists x; (split; [exact member|lra]).
Qed.
End Sound.
