(** Numbers that certainly lie in what activations say of each other.

    An activation is the similarity of an observable x, of its least distance or its greatest cosine. What another one
    says of it are the similarities of all x that fit an observable y of the other one, with a similarity as stated. So
    one x that fits such a y shows how far the range reaches at least. Which x and which y are hints. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Boxes Sums Grid Root Log Columns Ends Embedding Facts Direction
  Similarity
  Activations InnerDomain InnerPooling InnerRange InnerStatements Lipschitz Angles.
Import ListNotations.

(** * What runs *)

(** Untrusted: for each prototype the x where its activation is least, and greatest; and between which two numbers its y
    has a similarity as stated. *)
Record reach_hints := ReachHints { lowest_at : list Z; highest_at : list Z; spots : list (Z * Z) }.

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms) (ms : list measure).

(** T times the cosine of two prototypes is not more. *)
Definition alike_most (j k : measure) (product : Z) : Z :=
  let r := root_unit h * root_unit h in
  Z.min T (if 0 <=? product then ceil_div (T * product * r) (near j * near k)
           else ceil_div (T * product * r) (far j * far k)).

(** How far prototypes are apart: T times a squared distance, over the square of their unit; or their cosine. *)
Definition gap_between (p : list Z) (m : measure) (x : list Z * measure) : Z :=
  let product := zdot (fst x) p in
  if euclidean h then T * (square (snd x) - 2 * product + square m) else alike_most (snd x) m product.
Definition gaps_of (k : nat) : list Z :=
  let p := points h k in let m := nth k ms (Measure 0 0 1 1) in
  map (gap_between p m) (combine (prototypes h) ms).

(** Whether x and y, both over T, fit each other. *)
Definition close (gap x y : Z) : bool :=
  if euclidean h then
    let u := unit_of h * unit_of h in
    let s := (x + y) * u - gap in (0 <=? x) && (0 <=? y) && ((s <=? 0) || (s * s <=? 4 * (x * u) * (y * u)))
  else let s := gap * T - x * y in (s <=? 0) || (s * s <=? (T * T - x * x) * (T * T - y * y)).

Definition between_spots (spot : Z * Z) (x : Z) : Z := Z.max (fst spot) (Z.min (snd spot) x).

Fixpoint all_close (k : nat) (spot : Z * Z) (i : nat) (gaps xs : list Z) : bool :=
  match gaps, xs with
  | g :: gaps', x :: xs' =>
      (Nat.eqb i k || close g x (between_spots spot x)) && all_close k spot (S i) gaps' xs'
  | nil, nil => true
  | _, _ => false
  end.
Fixpoint close_to_all (j : nat) (x : Z) (i : nat) (gaps : list Z) (spots : list (Z * Z)) : bool :=
  match gaps, spots with
  | g :: gaps', spot :: spots' =>
      (Nat.eqb i j || close g x (between_spots spot x)) && close_to_all j x (S i) gaps' spots'
  | nil, nil => true
  | _, _ => false
  end.

Definition inside (free : option (Z * Z)) (x : Z) : bool :=
  match free with Some e => (fst e <=? x) && (x <=? snd e) | None => false end.

Section Statements.
Variables (u : positive) (ss : list statement).

Definition within_ends (lo hi : option Z) (v : Z * Z) : bool :=
  let e := inner_stated_ends u B lo hi in
  match fst e with Some a => a <=? fst v | None => true end && match snd e with Some b => snd v <=? b | None => true end.
Definition as_stated (k : nat) (v : Z * Z) : bool :=
  forallb (fun s =>
    match s with
    | AboutActivation j lo hi => negb (Nat.eqb j k) || within_ends lo hi v
    | AboutOthers except lo hi => existsb (Nat.eqb k) except || within_ends lo hi v
    | _ => true
    end) ss.

Definition spot_right (k : nat) (o : own) (free : option (Z * Z)) (spot : Z * Z) : bool :=
  (fst spot <=? snd spot) && inside free (fst spot) && inside free (snd spot) &&
  match direction_of h o with Neither => false | _ => true end &&
  match value_at h T B terms logs o (fst spot), value_at h T B terms logs o (snd spot) with
  | Some v, Some w => as_stated k v && as_stated k w
  | _, _ => false
  end.
Fixpoint spots_right (wanted : nat -> bool) (i : nat) (os : list own) (free : list (option (Z * Z)))
    (spots : list (Z * Z)) : bool :=
  match os, free, spots with
  | o :: os', f :: free', spot :: spots' =>
      (negb (wanted i) || spot_right i o f spot) && spots_right wanted (S i) os' free' spots'
  | nil, _, _ => true
  | _, _, _ => false
  end.

Definition own_stated : list nat :=
  flat_map (fun s => match s with AboutActivation k _ _ => [k] | _ => nil end) ss.
Definition listed (side : option Z * option Z -> option Z) : list nat :=
  flat_map (fun s => match s with
    | AboutOthers except lo hi => match side (lo, hi) with Some _ => except | None => nil end
    | _ => nil
    end) ss.
End Statements.

(** The ends that the hints show, over [B]; and those of a box that they cut. *)
Fixpoint cut_inward (os : list own) (free : list (option (Z * Z))) (least most : list Z) (b : box) : option box :=
  match os, free, least, most, b with
  | o :: os', f :: free', x :: least', y :: most', e :: b' =>
      if inside f x && inside f y then
        match value_at h T B terms logs o x, value_at h T B terms logs o y, cut_inward os' free' least' most' b' with
        | Some v, Some w, Some rest => Some ((Z.max (fst e) (snd v), Z.min (snd e) (fst w)) :: rest)
        | _, _, _ => None
        end
      else None
  | nil, _, _, _, nil => Some nil
  | _, _, _, _, _ => None
  end.

Fixpoint row_for (k : nat) (table : list (nat * list Z)) : list Z :=
  match table with (i, row) :: table' => if Nat.eqb i k then row else row_for k table' | nil => gaps_of k end.

(** Rows for all prototypes of which statements speak by name *)
Definition gap_table (ss : list statement) : list (nat * list Z) :=
  if are_linked h then map (fun k => (k, gaps_of k)) (own_stated ss ++ listed ss fst ++ listed ss snd) else nil.

Definition linked_box (table : list (nat * list Z)) (free : list (option (Z * Z))) (c : certificate) (x : reach_hints)
    (b : box) : option box :=
  let ss := statements c in
  let own := own_stated ss in
  let floors := listed ss fst in
  let ceilings := listed ss snd in
  if negb (are_linked h) || (Nat.eqb (length own) 0 && Nat.eqb (length floors) 0 && Nat.eqb (length ceilings) 0)
  then Some b else
  let wanted := if Nat.eqb (length floors) 0 && Nat.eqb (length ceilings) 0 then fun k => existsb (Nat.eqb k) own
                else fun _ => true in
  let spot k := nth k (spots x) (0, 0) in
  let row k := row_for k table in
  if Nat.eqb (length (prototypes h)) (count h) && Nat.eqb (length ms) (count h) &&
     spots_right (statement_unit c) ss wanted 0 (owns h) free (spots x) &&
     forallb (fun k => all_close k (spot k) 0 (row k) (lowest_at x) && all_close k (spot k) 0 (row k) (highest_at x)) own &&
     forallb (fun j => close_to_all j (nth j (lowest_at x) 0) 0 (row j) (spots x)) floors &&
     forallb (fun j => close_to_all j (nth j (highest_at x) 0) 0 (row j) (spots x)) ceilings
  then cut_inward (owns h) free (lowest_at x) (highest_at x) b else None.
End Run.

Open Scope R_scope.

(** * What it means *)

(** ** Two observables that fit each other *)

(** |x^(1/2) - y^(1/2)| is at most a where x + y - a^2 is at most 2 (x y)^(1/2). *)
Lemma roots_close : forall x y a s, 0 <= x -> 0 <= y -> 0 <= a -> s = x + y - a * a -> s <= 0 \/ s * s <= 4 * x * y ->
  Rabs (sqrt x - sqrt y) <= a.
Proof.
  intros x y a s X Y A E H. assert (P := sqrt_pos x). assert (Q := sqrt_pos y).
  assert (XX := sqrt_sqrt x X). assert (YY := sqrt_sqrt y Y).
  assert (K : s <= 2 * (sqrt x * sqrt y)).
  { assert (N : 0 <= sqrt x * sqrt y) by (apply Rmult_le_pos; assumption).
    destruct H as [H|H]; [lra|]. destruct (Rle_dec s 0) as [L|L]; [lra|]. apply Rnot_le_lt in L.
    apply Rsqr_incr_0; [|lra|lra]. unfold Rsqr.
    replace (2 * (sqrt x * sqrt y) * (2 * (sqrt x * sqrt y))) with (4 * (sqrt x * sqrt x) * (sqrt y * sqrt y)) by ring.
    rewrite XX, YY. exact H. }
  rewrite <- (Rabs_right a) by lra. apply Rsqr_le_abs_0. unfold Rsqr.
  replace ((sqrt x - sqrt y) * (sqrt x - sqrt y)) with (sqrt x * sqrt x + sqrt y * sqrt y - 2 * (sqrt x * sqrt y))
    by ring. rewrite XX, YY. lra.
Qed.

Lemma angles_close : forall g x y, g - x * y <= 0 \/ (g - x * y) * (g - x * y) <= (1 - x * x) * (1 - y * y) ->
  g <= x * y + sqrt ((1 - x * x) * (1 - y * y)).
Proof.
  intros g x y H. assert (P := sqrt_pos ((1 - x * x) * (1 - y * y))). destruct H as [H|H]; [lra|].
  destruct (Rle_dec (g - x * y) 0) as [L|L]; [lra|]. apply Rnot_le_lt in L.
  assert (K := le_sqrt (g - x * y) _ (Rlt_le _ _ L) H). lra.
Qed.

Section Sound.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms) (ms : list measure).
Hypothesis HT : (0 < T)%Z.
Hypothesis HB : (0 < B)%Z.
Hypothesis Hlogs : right_logarithms logs.
Hypothesis measured : measures h = Some ms.
Hypothesis signs : signs_differ h = true.
Hypothesis linked : are_linked h = true.
Let D := depth h.
Let S := IZR (unit_of h).
Let RT : 0 < IZR T := IZR_pos T HT.
Let P (j : nat) : nat -> R := vector (points h j).
Let none := Measure 0 0 1 1.

Lemma nth_gaps : forall k j, (j < count h)%nat -> length (prototypes h) = count h ->
  nth j (gaps_of h T ms k) 0%Z = gap_between h T (points h k) (nth k ms none) (points h j, nth j ms none).
Proof.
  intros k j Hj L. destruct (measures_ok h ms measured) as (_ & C & _ & _). unfold gaps_of. cbv zeta.
  set (f := gap_between _ _ _ _). rewrite (nth_indep _ 0%Z (f (nil, none))).
  - rewrite map_nth, nth_of_combined; [reflexivity|]. rewrite combine_length, C, L, Nat.min_id. exact Hj.
  - rewrite map_length, combine_length, C, L, Nat.min_id. exact Hj.
Qed.

Lemma square_is : forall j, (j < count h)%nat -> square (nth j ms none) = zdot (points h j) (points h j).
Proof.
  intros j Hj. destruct (measures_ok h ms measured) as (_ & _ & L & M). destruct (M j none Hj) as [E _].
  apply eq_IZR. rewrite E, (zdot_real D) by (rewrite L by exact Hj; apply Nat.le_refl). reflexivity.
Qed.

Lemma square_gap : forall j k, (j < count h)%nat -> (k < count h)%nat ->
  IZR (square (nth j ms none) - 2 * zdot (points h j) (points h k) + square (nth k ms none)) =
  S * S * (norm h (fun d => coord h j d - coord h k d) * norm h (fun d => coord h j d - coord h k d)).
Proof.
  intros j k Hj Hk. destruct (measures_ok h ms measured) as (_ & _ & L & _). rewrite !square_is by assumption.
  change (zdot (points h j) (points h j) - 2 * zdot (points h j) (points h k) + zdot (points h k) (points h k))%Z
    with (square_apart (points h j) (points h k)).
  rewrite (square_apart_right h) by (rewrite L by assumption; apply Nat.le_refl). rewrite norm_square. reflexivity.
Qed.

(** The cosine of two prototypes is at most what is computed of it. *)
Lemma cosine_is : forall j k, euclidean h = false -> (j < count h)%nat -> (k < count h)%nat ->
  0 < size h j /\ 0 < size h k /\
  dot h (coord h j) (coord h k) / (norm h (coord h j) * norm h (coord h k)) =
  IZR (zdot (points h j) (points h k)) / (size h j * size h k).
Proof.
  intros j k G Hj Hk. destruct (measures_ok h ms measured) as (_ & _ & L & HM).
  assert (Aj := size_nonneg h j _ (HM j none Hj)). assert (Ak := size_nonneg h k _ (HM k none Hk)).
  split; [exact Aj|]. split; [exact Ak|]. assert (SP : 0 < S) by apply unit_positive.
  assert (sized : forall i, norm h (coord h i) = / S * size h i).
  { intros i. rewrite norm_coord. fold S. f_equal. unfold size. assert (K := linked). unfold are_linked, euclidean in *.
    destruct (head_geometry h); try discriminate; try reflexivity;
      destruct (head_pooling h); discriminate. }
  assert (Q : IZR (zdot (points h j) (points h k)) = inner D (P j) (P k))
    by (apply zdot_real; rewrite L by exact Hj; apply Nat.le_refl).
  rewrite !sized, Q. assert (E : dot h (coord h j) (coord h k) = / S * / S * inner D (P j) (P k)).
  { rewrite inner_coord. fold S. rewrite inner_comm, <- (dot_inner h), inner_coord. fold S. rewrite inner_comm.
    fold D (P j) (P k). ring. }
  rewrite E. field. repeat split; lra.
Qed.

Lemma alike_most_right : forall j k, euclidean h = false -> (j < count h)%nat -> (k < count h)%nat ->
  dot h (coord h j) (coord h k) / (norm h (coord h j) * norm h (coord h k)) <=
  IZR (alike_most h T (nth j ms none) (nth k ms none) (zdot (points h j) (points h k))) / IZR T.
Proof.
  intros j k G Hj Hk. destruct (cosine_is j k G Hj Hk) as (Aj & Ak & E).
  destruct (measures_ok h ms measured) as (_ & _ & L & HM).
  destruct (HM j none Hj) as (_ & _ & Nj & Lj & Uj). destruct (HM k none Hk) as (_ & _ & Nk & Lk & Uk).
  assert (RP := root_unit_positive h). set (r := IZR (root_unit h)) in *.
  assert (AB : 0 < size h j * size h k) by (apply Rmult_lt_0_compat; assumption).
  apply Rmult_le_reg_l with (IZR T); [exact RT|]. replace (IZR T * (IZR _ / IZR T)) with
    (IZR (alike_most h T (nth j ms none) (nth k ms none) (zdot (points h j) (points h k)))) by (field; lra).
  unfold alike_most. cbv zeta. rewrite IZR_min. apply Rmin_glb.
  { assert (C : dot h (coord h j) (coord h k) <= norm h (coord h j) * norm h (coord h k)).
    { eapply Rle_trans; [apply Rle_abs|]. rewrite dot_inner. unfold norm. rewrite !dot_inner. apply abs_inner_le. }
    assert (N : 0 <= norm h (coord h j) * norm h (coord h k)) by (apply Rmult_le_pos; apply norm_nonneg).
    assert (V : dot h (coord h j) (coord h k) / (norm h (coord h j) * norm h (coord h k)) <= 1).
    { destruct N as [N|N]; [apply div_le_iff; lra|]. rewrite <- N. unfold Rdiv. rewrite Rinv_0. lra. }
    apply (Rmult_le_compat_l (IZR T)) in V; lra. }
  rewrite E. set (x := zdot (points h j) (points h k)). set (mj := nth j ms none) in *. set (mk := nth k ms none) in *.
  set (a := size h j) in *. set (b := size h k) in *.
  assert (NP : IZR (near mj) * IZR (near mk) <= r * r * (a * b)).
  { replace (r * r * (a * b)) with (r * a * (r * b)) by ring. apply Rmult_le_compat; lra. }
  assert (FP : r * r * (a * b) <= IZR (far mj) * IZR (far mk)).
  { replace (r * r * (a * b)) with (r * a * (r * b)) by ring. apply Rmult_le_compat; try lra;
      apply Rmult_le_pos; lra. }
  assert (F0 : 0 < IZR (far mj) * IZR (far mk)) by (apply Rmult_lt_0_compat; lra).
  assert (N0 : 0 < IZR (near mj) * IZR (near mk)) by (apply Rmult_lt_0_compat; assumption).
  assert (main : forall d : Z, 0 < IZR d ->
    (0 <= x)%Z /\ IZR d <= r * r * (a * b) \/ (x <= 0)%Z /\ r * r * (a * b) <= IZR d ->
    IZR T * (IZR x / (a * b)) <= IZR (ceil_div (T * x * (root_unit h * root_unit h)) d)).
  { intros d D0 H. apply (lt_IZR 0) in D0 as D1. eapply Rle_trans; [|apply le_ceil_div; exact D1].
    apply le_div_iff; [exact D0|]. rewrite !mult_IZR. fold r.
    apply (Rmult_le_reg_r (a * b)); [exact AB|].
    replace (IZR d * (IZR T * (IZR x / (a * b))) * (a * b)) with (IZR T * IZR x * IZR d) by (field; lra).
    replace (IZR T * IZR x * (r * r) * (a * b)) with (IZR T * IZR x * (r * r * (a * b))) by ring.
    destruct H as [[H1 H2]|[H1 H2]]; apply IZR_le in H1.
    - apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact H2].
    - apply Rmult_le_compat_neg_l; [|exact H2]. assert (0 <= IZR T * - IZR x) by (apply Rmult_le_pos; lra). lra. }
  destruct (0 <=? x)%Z eqn:X.
  - apply Z.leb_le in X. apply main; rewrite ?mult_IZR; [exact N0|left; split; assumption].
  - apply Z.leb_gt in X. apply main; rewrite ?mult_IZR; [exact F0|right; split; [lia|assumption]].
Qed.

Lemma close_right : forall j k x y, (j < count h)%nat -> (k < count h)%nat ->
  close h T (gap_between h T (points h k) (nth k ms none) (points h j, nth j ms none)) x y = true ->
  fit_each_other h j k (IZR x / IZR T) (IZR y / IZR T).
Proof.
  intros j k x y Hj Hk H. unfold close, gap_between in H. cbv zeta in H. cbn [fst snd] in H.
  destruct (euclidean h) eqn:G.
  - apply euclidean_true in G. unfold fit_each_other. rewrite G. assert (SP : 0 < S) by apply unit_positive.
    apply andb_prop in H as [H K]. apply andb_prop in H as [X Y]. apply Z.leb_le, IZR_le in X, Y.
    assert (E := square_gap j k Hj Hk). set (a := norm h _) in *. set (g := (square _ - _ + square _)%Z) in *.
    assert (U : 0 < S * S) by (apply Rmult_lt_0_compat; exact SP).
    assert (TU : 0 < IZR T * (S * S)) by (apply Rmult_lt_0_compat; assumption).
    apply (roots_close _ _ a (IZR x / IZR T + IZR y / IZR T - a * a)).
    + apply div_nonneg; [exact X|exact RT].
    + apply div_nonneg; [exact Y|exact RT].
    + apply norm_nonneg.
    + reflexivity.
    + assert (W : IZR ((x + y) * (unit_of h * unit_of h) - T * g) =
        IZR T * (S * S) * (IZR x / IZR T + IZR y / IZR T - a * a)).
      { rewrite minus_IZR, !mult_IZR, plus_IZR, E. fold S. field. lra. }
      apply orb_prop in K as [K|K]; apply Z.leb_le, IZR_le in K.
      * left. rewrite W in K. apply (Rmult_le_reg_l (IZR T * (S * S))); lra.
      * right. rewrite mult_IZR, W, !mult_IZR in K. fold S in K.
        apply (Rmult_le_reg_l (IZR T * (S * S) * (IZR T * (S * S)))); [apply Rmult_lt_0_compat; exact TU|].
        set (s := IZR x / IZR T + IZR y / IZR T - a * a) in *.
        replace (IZR T * (S * S) * (IZR T * (S * S)) * (4 * (IZR x / IZR T) * (IZR y / IZR T))) with
          (4 * (IZR x * (S * S)) * (IZR y * (S * S))) by (field; lra). lra.
  - assert (A := alike_most_right j k G Hj Hk). set (g := alike_most _ _ _ _ _) in *.
    assert (F : dot h (coord h j) (coord h k) / (norm h (coord h j) * norm h (coord h k)) <=
      IZR x / IZR T * (IZR y / IZR T) + sqrt ((1 - IZR x / IZR T * (IZR x / IZR T)) * (1 - IZR y / IZR T * (IZR y / IZR
        T)))).
    { eapply Rle_trans; [exact A|]. apply angles_close.
      assert (TT : 0 < IZR T * IZR T) by (apply Rmult_lt_0_compat; exact RT).
      assert (W : IZR (g * T - x * y) = IZR T * IZR T * (IZR g / IZR T - IZR x / IZR T * (IZR y / IZR T))).
      { rewrite minus_IZR, !mult_IZR. field. lra. }
      apply orb_prop in H as [H|H]; apply Z.leb_le, IZR_le in H.
      - left. rewrite W in H. apply (Rmult_le_reg_l (IZR T * IZR T)); lra.
      - right. rewrite mult_IZR, W, mult_IZR, !minus_IZR, !mult_IZR in H.
        apply (Rmult_le_reg_l (IZR T * IZR T * (IZR T * IZR T))); [apply Rmult_lt_0_compat; exact TT|].
        set (s := IZR g / IZR T - _) in *.
        replace (IZR T * IZR T * (IZR T * IZR T) * ((1 - IZR x / IZR T * (IZR x / IZR T)) * (1 - IZR y / IZR T * (IZR y /
          IZR T)))) with ((IZR T * IZR T - IZR x * IZR x) * (IZR T * IZR T - IZR y * IZR y)) by (field; lra). lra. }
    unfold fit_each_other. unfold euclidean in G. destruct (head_geometry h); [discriminate|exact F..].
Qed.

(** ** What is stated *)

Section Statements.
Variables (c : certificate).
Local Notation u := (statement_unit c).

Lemma within_ends_right : forall lo hi v g, within_ends B u lo hi v = true -> encloses B v g -> between u lo hi g.
Proof.
  intros lo hi v g H E. apply (cut_within u B HB lo hi v g). unfold within_ends in H. cbv zeta in H.
  apply andb_prop in H as [L U]. unfold cut_by, inner_stated_ends in *. cbn [fst snd] in *.
  destruct E as [E1 E2]. split.
  - destruct lo as [a|]; cbn [option_map] in *; [|exact E1]. apply Z.leb_le in L. rewrite Z.max_l by exact L. exact E1.
  - destruct hi as [b|]; cbn [option_map] in *; [|exact E2]. apply Z.leb_le in U. rewrite Z.min_l by exact U. exact E2.
Qed.

Lemma as_stated_right : forall k v g, as_stated B u (statements c) k v = true -> encloses B v g -> said c k g.
Proof.
  intros k v g H E. unfold as_stated in H. rewrite forallb_forall in H. split.
  - intros lo hi I. specialize (H _ I). cbn in H. rewrite Nat.eqb_refl in H. cbn in H.
    exact (within_ends_right lo hi v g H E).
  - intros except lo hi I N. specialize (H _ I). cbn in H. apply orb_prop in H as [H|H].
    + exfalso. apply N. apply existsb_exists in H as (i & Hi & Q). apply Nat.eqb_eq in Q. subst i. exact Hi.
    + exact (within_ends_right lo hi v g H E).
Qed.

Lemma said_convex : forall k x y z, said c k x -> said c k z -> x <= y <= z -> said c k y.
Proof.
  assert (B1 : forall lo hi x y z, between u lo hi x -> between u lo hi z -> x <= y <= z -> between u lo hi y).
  { intros [a|] [b|] x y z [X1 X2] [Z1 Z2] H; split; try exact I; lra. }
  intros k x y z [X1 X2] [Z1 Z2] H. split; intros.
  - exact (B1 lo hi x y z (X1 lo hi H0) (Z1 lo hi H0) H).
  - exact (B1 lo hi x y z (X2 except lo hi H0 H1) (Z2 except lo hi H0 H1) H).
Qed.

(** ** One number of what an activation says *)

Let free := inner_domain_row h T terms.

Lemma inside_right : forall j x, (j < count h)%nat -> inside (nth j free None) x = true ->
  domain_range h j (IZR x / IZR T).
Proof.
  intros j x Hj H. unfold inside in H. destruct (nth j free None) as [e|] eqn:E; [|discriminate].
  apply andb_prop in H as [H1 H2]. apply Z.leb_le, IZR_le in H1, H2.
  apply (inner_domain_row_ok h T terms HT j e signs Hj E).
  replace (IZR T * (IZR x / IZR T)) with (IZR x) by (field; lra). split; assumption.
Qed.

Lemma sane_of_range : forall j x, domain_range h j x -> sane h x.
Proof.
  intros j x R G. unfold domain_range in R. rewrite G in R. destruct R as [R _]. eapply Rle_trans; [|exact R].
  apply rsum_nonneg. intros d _. apply Rle_0_sqr.
Qed.

Lemma spot_said : forall k spot x, (k < count h)%nat ->
  spot_right h T B terms logs u (statements c) k (own_at h k) (nth k free None) spot = true ->
  let y := (IZR (between_spots spot x) / IZR T) in domain_range h k y /\ said c k (sim h k y).
Proof.
  intros k [a b] x Hk H y. unfold spot_right in H. cbn [fst snd] in H.
  apply andb_prop in H as [H V]. apply andb_prop in H as [H Di]. apply andb_prop in H as [H Ib].
  apply andb_prop in H as [O Ia]. apply Z.leb_le in O. apply inside_right in Ia, Ib; try exact Hk.
  destruct (value_at h T B terms logs (own_at h k) a) as [v|] eqn:Va; [|discriminate].
  destruct (value_at h T B terms logs (own_at h k) b) as [w|] eqn:Vb; [|discriminate].
  apply andb_prop in V as [V W].
  apply (value_at_ok h T B terms logs HT HB Hlogs) in Va, Vb. rewrite <- sim_similar in Va, Vb.
  apply as_stated_right with (g := sim h k (IZR a / IZR T)) in V; [|exact Va].
  apply as_stated_right with (g := sim h k (IZR b / IZR T)) in W; [|exact Vb].
  assert (M : IZR a / IZR T <= y <= IZR b / IZR T).
  { unfold y, between_spots. cbn [fst snd].
    assert (Z1 : (a <= Z.max a (Z.min b x) <= b)%Z) by lia. destruct Z1 as [Z1 Z2]. apply IZR_le in Z1, Z2.
    assert (I : 0 <= / IZR T) by (left; apply Rinv_0_lt_compat; exact RT).
    split; apply Rmult_le_compat_r; assumption. }
  split; [exact (domain_range_convex h k _ _ _ Ia Ib M)|].
  destruct (direction_of h (own_at h k)) eqn:R; try discriminate.
  - apply (said_convex k (sim h k (IZR b / IZR T)) _ (sim h k (IZR a / IZR T))); try assumption.
    assert (Sa := sane_of_range k _ Ia). split; apply sim_falls; try assumption; try lra.
    intros G. specialize (Sa G). lra.
  - apply (said_convex k (sim h k (IZR a / IZR T)) _ (sim h k (IZR b / IZR T))); try assumption.
    split; apply sim_rises; try assumption; lra.
Qed.

Lemma beside_shown : forall j k spot x, (j < count h)%nat -> (k < count h)%nat -> length (prototypes h) = count h ->
  spot_right h T B terms logs u (statements c) k (own_at h k) (nth k free None) spot = true ->
  inside (nth j free None) x = true -> close h T (nth j (gaps_of h T ms k) 0%Z) x (between_spots spot x) = true ->
  beside h c k j (sim h j (IZR x / IZR T)).
Proof.
  intros j k spot x Hj Hk L Sp In C. destruct (spot_said k spot x Hk Sp) as [Y Q].
  rewrite nth_gaps in C by assumption.
  exists (IZR x / IZR T), (IZR (between_spots spot x) / IZR T). split; [exact (inside_right j x Hj In)|].
  split; [exact Y|]. split; [exact (close_right j k _ _ Hj Hk C)|]. split; [exact Q|reflexivity].
Qed.

(** The gap of k and j is that of j and k. *)
Lemma gaps_symmetric : forall j k, (j < count h)%nat -> (k < count h)%nat -> length (prototypes h) = count h ->
  nth j (gaps_of h T ms k) 0%Z = nth k (gaps_of h T ms j) 0%Z.
Proof.
  intros j k Hj Hk L. rewrite !nth_gaps by assumption. unfold gap_between, alike_most. cbv zeta. cbn [fst snd].
  rewrite (zdot_comm (points h k)). destruct (euclidean h); [f_equal; ring|]. 
  rewrite (Z.mul_comm (near (nth k ms none))), (Z.mul_comm (far (nth k ms none))). reflexivity.
Qed.

(** ** All of them *)

Lemma all_close_at : forall k spot gaps xs i j, all_close h T k spot i gaps xs = true -> (j < length gaps)%nat ->
  (i + j)%nat <> k -> close h T (nth j gaps 0%Z) (nth j xs 0%Z) (between_spots spot (nth j xs 0%Z)) = true.
Proof.
  intros k spot. induction gaps as [|g gaps IH]; intros [|x xs] i j H Hj N; cbn in *; try lia; try discriminate.
  apply andb_prop in H as [H1 H2]. destruct j as [|j].
  - rewrite Nat.add_0_r in N. apply Nat.eqb_neq in N. rewrite N in H1. exact H1.
  - apply (IH xs (Datatypes.S i) j H2); lia.
Qed.

Lemma close_to_all_at : forall j x gaps spots i k, close_to_all h T j x i gaps spots = true -> (k < length gaps)%nat ->
  (i + k)%nat <> j -> close h T (nth k gaps 0%Z) x (between_spots (nth k spots (0, 0)%Z) x) = true.
Proof.
  intros j x. induction gaps as [|g gaps IH]; intros [|s spots] i k H Hk N; cbn in *; try lia; try discriminate.
  apply andb_prop in H as [H1 H2]. destruct k as [|k].
  - rewrite Nat.add_0_r in N. apply Nat.eqb_neq in N. rewrite N in H1. exact H1.
  - apply (IH spots (Datatypes.S i) k H2); lia.
Qed.

Lemma spots_right_at : forall wanted os fs ss i k, spots_right h T B terms logs u (statements c) wanted i os fs ss = true ->
  (k < length os)%nat -> wanted (i + k)%nat = true ->
  spot_right h T B terms logs u (statements c) (i + k) (nth k os (own_at h 0)) (nth k fs None) (nth k ss (0, 0)%Z) = true.
Proof.
  intros wanted. induction os as [|o os IH]; intros [|f fs] [|s ss] i k H Hk W; cbn in *; try lia; try discriminate.
  apply andb_prop in H as [H1 H2]. destruct k as [|k].
  - rewrite Nat.add_0_r in *. rewrite W in H1. exact H1.
  - rewrite <- Nat.add_succ_comm in *. apply (IH fs ss (Datatypes.S i) k H2); [lia|exact W].
Qed.

Lemma cut_inward_at : forall os fs least most b b', cut_inward h T B terms logs os fs least most b = Some b' ->
  length b' = length b /\ forall j, (j < length os)%nat -> exists v w,
    inside (nth j fs None) (nth j least 0%Z) = true /\ inside (nth j fs None) (nth j most 0%Z) = true /\
    value_at h T B terms logs (nth j os (own_at h 0)) (nth j least 0%Z) = Some v /\
    value_at h T B terms logs (nth j os (own_at h 0)) (nth j most 0%Z) = Some w /\
    nth j b' (0, 0)%Z = (Z.max (fst (nth j b (0, 0)%Z)) (snd v), Z.min (snd (nth j b (0, 0)%Z)) (fst w))%Z.
Proof.
  induction os as [|o os IH]; intros fs least most b b' H.
  { cbn in H. destruct b; [|discriminate]. injection H as <-. split; [reflexivity|]. intros j Hj. inversion Hj. }
  cbn in H. destruct fs as [|f fs]; [discriminate|]. destruct least as [|x least]; [discriminate|].
  destruct most as [|y most]; [discriminate|]. destruct b as [|e b]; [discriminate|].
  destruct (inside f x && inside f y)%bool eqn:I; [|discriminate]. apply andb_prop in I as [I1 I2].
  destruct (value_at h T B terms logs o x) as [v|] eqn:V; [|discriminate].
  destruct (value_at h T B terms logs o y) as [w|] eqn:W; [|discriminate].
  destruct (cut_inward _ _ _ _ _ _ _ _ _ _) as [rest|] eqn:R; [|discriminate]. injection H as <-.
  destruct (IH _ _ _ _ _ R) as [L K]. split; [cbn; congruence|]. intros [|j] Hj; [|apply (K j); cbn in Hj; lia].
  exists v, w. cbn. auto.
Qed.

Lemma row_for_right : forall k ss, row_for h T ms k (gap_table h T ms ss) = gaps_of h T ms k.
Proof.
  intros k ss. unfold gap_table. rewrite linked. induction (_ ++ _) as [|i l IH]; [reflexivity|]. cbn.
  destruct (Nat.eqb i k) eqn:E; [apply Nat.eqb_eq in E; subst; reflexivity|exact IH].
Qed.

Lemma own_stated_in : forall k lo hi, In (AboutActivation k lo hi) (statements c) -> In k (own_stated (statements c)).
Proof. intros k lo hi I. unfold own_stated. apply in_flat_map. exists (AboutActivation k lo hi). split; [exact I|left; auto]. Qed.

Lemma listed_in : forall side j except lo hi, In (AboutOthers except lo hi) (statements c) -> In j except ->
  side (lo, hi) <> None -> In j (listed (statements c) side).
Proof.
  intros side j except lo hi I Ij N. unfold listed. apply in_flat_map. exists (AboutOthers except lo hi). split; [exact I|].
  destruct (side (lo, hi)); [exact Ij|congruence].
Qed.

Theorem linked_box_right : forall ss x b b', length b = count h ->
  linked_box h T B terms logs ms (gap_table h T ms ss) free c x b = Some b' ->
  length b' = count h /\ forall j, (j < count h)%nat ->
    (fst (nth j b (0, 0)) <= fst (nth j b' (0, 0)) /\ snd (nth j b' (0, 0)) <= snd (nth j b (0, 0)))%Z /\
    all_within B (nth j b' (0, 0)%Z) (beside_all h c j).
Proof.
  intros ss x b b' Lb H. unfold linked_box in H. cbv zeta in H. rewrite linked in H. cbn [negb orb] in H.
  set (own := own_stated (statements c)) in *. set (floors := listed (statements c) fst) in *.
  set (ceilings := listed (statements c) snd) in *.
  destruct (Nat.eqb (length own) 0 && Nat.eqb (length floors) 0 && Nat.eqb (length ceilings) 0)%bool eqn:None0.
  { injection H as <-. split; [exact Lb|]. intros j Hj. split; [lia|]. intros y _.
    apply andb_prop in None0 as [N C0]. apply andb_prop in N as [O0 F0].
    apply Nat.eqb_eq, length_zero_iff_nil in O0, F0, C0. split.
    - intros k lo hi _ _ I. apply own_stated_in in I. fold own in I. rewrite O0 in I. destruct I.
    - intros except lo hi I Ij k Hk N e He. split; intros Q.
      + exfalso. assert (K := listed_in snd j except lo hi I Ij Q). fold ceilings in K. rewrite C0 in K. destruct K.
      + exfalso. assert (K := listed_in fst j except lo hi I Ij Q). fold floors in K. rewrite F0 in K. destruct K. }
  destruct (_ && _)%bool eqn:A in H; [|discriminate].
  apply andb_prop in A as [A Cs]. apply andb_prop in A as [A Fs]. apply andb_prop in A as [A Os].
  apply andb_prop in A as [A Ss]. apply andb_prop in A as [Lp Lm]. apply Nat.eqb_eq in Lp, Lm.
  rewrite forallb_forall in Cs, Fs, Os. apply cut_inward_at in H as [L K]. rewrite length_owns in K.
  split; [congruence|]. intros j Hj. destruct (K j Hj) as (v & w & Ix & Iy & V & W & ->). cbn [fst snd].
  rewrite nth_owns in V, W by exact Hj. apply (value_at_ok h T B terms logs HT HB Hlogs) in V, W.
  rewrite <- sim_similar in V, W. destruct V as [_ V], W as [W _]. assert (RB := IZR_pos _ HB).
  assert (row_length : forall k, length (gaps_of h T ms k) = count h).
  { intros k. unfold gaps_of. cbv zeta. rewrite map_length, combine_length, Lp, Lm. apply Nat.min_id. }
  assert (spot_at : forall k, (k < count h)%nat -> (if (Nat.eqb (length floors) 0 && Nat.eqb (length ceilings) 0)%bool
      then fun k => existsb (Nat.eqb k) own else fun _ => true) k = true ->
      spot_right h T B terms logs u (statements c) k (own_at h k) (nth k free None) (nth k (spots x) (0, 0)%Z) = true).
  { intros k Hk Wk. apply spots_right_at with (k := k) in Ss; [|rewrite length_owns; exact Hk|exact Wk].
    cbn [Nat.add] in Ss. rewrite nth_owns in Ss by exact Hk. exact Ss. }
  split; [lia|]. intros y [Y1 Y2]. cbn [fst snd] in Y1, Y2. rewrite IZR_max in Y1. rewrite IZR_min in Y2.
  assert (Y3 := Rmax_r (IZR (fst (nth j b (0, 0)%Z))) (IZR (snd v))).
  assert (Y4 := Rmin_r (IZR (snd (nth j b (0, 0)%Z))) (IZR (fst w))).
  assert (below : forall e, 0 < e -> sim h j (IZR (nth j (lowest_at x) 0%Z) / IZR T) <= y + e).
  { intros e He. apply (Rmult_le_reg_l (IZR B)); [exact RB|]. assert (0 < IZR B * e) by (apply Rmult_lt_0_compat; lra).
    lra. }
  assert (above : forall e, 0 < e -> y - e <= sim h j (IZR (nth j (highest_at x) 0%Z) / IZR T)).
  { intros e He. apply (Rmult_le_reg_l (IZR B)); [exact RB|]. assert (0 < IZR B * e) by (apply Rmult_lt_0_compat; lra).
    lra. }
  split.
  - intros k lo hi Hk N I. apply own_stated_in in I. fold own in I. specialize (Os k I).
    apply andb_prop in Os as [O1 O2]. rewrite row_for_right in O1, O2.
    assert (Sp : spot_right h T B terms logs u (statements c) k (own_at h k) (nth k free None)
      (nth k (spots x) (0, 0)%Z) = true).
    { apply spot_at; [exact Hk|]. destruct (Nat.eqb (length floors) 0 && Nat.eqb (length ceilings) 0)%bool; [|reflexivity]. apply existsb_exists. exists k.
      split; [exact I|apply Nat.eqb_refl]. }
    intros e He. split; [exists (sim h j (IZR (nth j (lowest_at x) 0%Z) / IZR T))|
      exists (sim h j (IZR (nth j (highest_at x) 0%Z) / IZR T))]; (split; [|auto]).
    + apply (beside_shown j k _ _ Hj Hk Lp Sp Ix).
      apply (all_close_at k (nth k (spots x) (0, 0)%Z) _ _ 0 j O1); [rewrite row_length; exact Hj|cbn; congruence].
    + apply (beside_shown j k _ _ Hj Hk Lp Sp Iy).
      apply (all_close_at k (nth k (spots x) (0, 0)%Z) _ _ 0 j O2); [rewrite row_length; exact Hj|cbn; congruence].
  - intros except lo hi I Ij k Hk N e He.
    assert (Sp : forall side, side (lo, hi) <> None -> In j (listed (statements c) side) ->
      (side = fst \/ side = snd) -> spot_right h T B terms logs u (statements c) k (own_at h k) (nth k free None)
      (nth k (spots x) (0, 0)%Z) = true).
    { intros side Q K' E. apply spot_at; [exact Hk|]. destruct (Nat.eqb (length floors) 0 && Nat.eqb (length ceilings) 0)%bool
        eqn:Z0; [|reflexivity]. exfalso.
      apply andb_prop in Z0 as [Z1 Z2]. apply Nat.eqb_eq, length_zero_iff_nil in Z1, Z2. unfold floors, ceilings in *.
      destruct E as [-> | ->]; [rewrite Z1 in K'|rewrite Z2 in K']; destruct K'. }
    split; intros Q.
    + assert (J := listed_in snd j except lo hi I Ij Q). exists (sim h j (IZR (nth j (highest_at x) 0%Z) / IZR T)).
      split; [|auto]. apply (beside_shown j k _ _ Hj Hk Lp (Sp snd Q J (or_intror eq_refl)) Iy).
      specialize (Cs j J). rewrite row_for_right in Cs. rewrite gaps_symmetric by assumption.
      apply (close_to_all_at j _ _ _ 0 k Cs); [rewrite row_length; exact Hk|cbn; congruence].
    + assert (J := listed_in fst j except lo hi I Ij Q). exists (sim h j (IZR (nth j (lowest_at x) 0%Z) / IZR T)).
      split; [|auto]. apply (beside_shown j k _ _ Hj Hk Lp (Sp fst Q J (or_introl eq_refl)) Ix).
      specialize (Fs j J). rewrite row_for_right in Fs. rewrite gaps_symmetric by assumption.
      apply (close_to_all_at j _ _ _ 0 k Fs); [rewrite row_length; exact Hk|cbn; congruence].
Qed.
End Statements.
End Sound.
