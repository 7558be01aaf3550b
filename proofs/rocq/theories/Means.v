(** Poolings with a mean of similarities, each of which is enclosed by [lo_l, hi_l], l = 1..L.

    top_mean, the mean of the n = min(K, L) greatest: the sum of the n greatest does not fall with any of them, so it
    goes from that of the lo_l to that of the hi_l. For any threshold t
        n t + sum_l max(0, hi_l - t) >= the sum of the n greatest g_l >= the sum of any n of the lo_l.
    With t the n-th greatest of the hi_l, and the n greatest of the lo_l, these are the two ends. A sort finds them;
    that it sorts need not be proved.

    max_minus_mean, max_l g_l - mean_l g_l, has the range
        sup = max_l ((L - 1) hi_l - sum_{i != l} lo_i) / L,     inf = mean_l max(0, t - hi_l) with t = max_l lo_l. *)

From Coq Require Import Reals ZArith List Bool Lia Lra Mergesort Orders.
From Verale Require Import Semantics Grid Sums Boxes Columns Maxima.
Import ListNotations.
Open Scope R_scope.

(** * The sum of the greatest *)

(** More than all of them is all of them. *)
Lemma rtop_min : forall n k f, rtop k n f = rtop (Nat.min k n) n f.
Proof.
  induction n as [|n IH]; intros [|k] f; try reflexivity. cbn [Nat.min rtop].
  destruct (Nat.leb_spec (S n) (S k)) as [L|L].
  - rewrite (IH k), !Nat.min_r by lia. rewrite Nat.leb_refl. reflexivity.
  - rewrite Nat.min_l by lia. destruct (Nat.leb_spec (S n) (S k)); [lia|]. reflexivity.
Qed.

(** sum_l max(0, x_l - t) *)
Definition excess (t : Z) (l : list Z) : Z := fold_right (fun x s => Z.max 0 (x - t) + s)%Z 0%Z l.

Lemma excess_nonneg : forall t l, (0 <= excess t l)%Z.
Proof. intros t l. unfold excess. induction l as [|x l IH]; cbn [fold_right]; lia. Qed.

Definition is_above (B b : Z) (x : R) : Prop := IZR B * x <= IZR b.
Definition is_below (B a : Z) (x : R) : Prop := IZR a <= IZR B * x.

Lemma rtop_at_most : forall B t l f k, (0 < B)%Z -> along (is_above B) l f -> (k <= length l)%nat ->
  IZR B * rtop k (length l) f <= IZR (Z.of_nat k * t + excess t l).
Proof.
  intros B t l f k HB. revert k. induction l as [|b l IH]; intros k H Hk.
  - cbn in Hk. replace k with O by lia. cbn. lra.
  - destruct H as [Hb H]. destruct k as [|k]; [cbn [rtop length]; rewrite Rmult_0_r; apply IZR_le, excess_nonneg|].
    assert (T1 := IH k H ltac:(cbn in Hk; lia)). unfold is_above in Hb. set (n := length l) in *.
    assert (Taken : IZR B * (f n + rtop k n f) <= IZR (Z.of_nat (S k) * t + excess t (b :: l))).
    { replace (Z.of_nat (S k) * t + excess t (b :: l))%Z
        with ((Z.of_nat k * t + excess t l) + (t + Z.max 0 (b - t)))%Z by (cbn [excess fold_right]; unfold excess; lia).
      rewrite plus_IZR. assert (IZR b <= IZR (t + Z.max 0 (b - t))) by (apply IZR_le; lia). lra. }
    cbn [length rtop]. fold n. destruct (Nat.leb_spec (S n) (S k)) as [L|L]; [exact Taken|].
    apply Rmax_case; [exact Taken|]. eapply Rle_trans; [apply (IH (S k) H); lia|]. apply IZR_le.
    cbn [excess fold_right]. unfold excess. lia.
Qed.

(** The sum and the number of those that are greater than [t], and of [spare] more that are equal to it *)
Fixpoint picked (t : Z) (spare : nat) (l : list Z) : Z * nat :=
  match l with
  | nil => (0%Z, O)
  | x :: l' =>
      if (t <? x)%Z then let (s, n) := picked t spare l' in ((x + s)%Z, S n) else
      match spare with
      | O => picked t O l'
      | S rest => if (x =? t)%Z then let (s, n) := picked t rest l' in ((x + s)%Z, S n) else picked t spare l'
      end
  end.

Lemma picked_most : forall t l spare, (snd (picked t spare l) <= length l)%nat.
Proof.
  intros t l. induction l as [|x l IH]; intros spare; [reflexivity|]. cbn [picked length].
  assert (H := IH spare). destruct (t <? x)%Z; [destruct (picked t spare l); cbn in *; lia|].
  destruct spare as [|rest]; [lia|]. assert (H' := IH rest).
  destruct (x =? t)%Z; [destruct (picked t rest l); cbn in *; lia|lia].
Qed.

Lemma rtop_take : forall k n f, f n + rtop k n f <= rtop (S k) (S n) f.
Proof. intros k n f. cbn [rtop]. destruct (Nat.leb (S n) (S k)); [right; reflexivity|apply Rmax_l]. Qed.

Lemma rtop_leave : forall k n f, (k <= n)%nat -> rtop k n f <= rtop k (S n) f.
Proof.
  intros [|k] n f H; [destruct n; right; reflexivity|]. cbn [rtop]. destruct (Nat.leb_spec (S n) (S k)); [lia|].
  apply Rmax_r.
Qed.

Lemma rtop_at_least : forall B t l f spare, (0 < B)%Z -> along (is_below B) l f ->
  IZR (fst (picked t spare l)) <= IZR B * rtop (snd (picked t spare l)) (length l) f.
Proof.
  intros B t l f spare HB. apply IZR_pos in HB. revert spare.
  induction l as [|x l IH]; intros spare H; [cbn; lra|]. destruct H as [Hx H]. unfold is_below in Hx.
  assert (Take : forall s, IZR (x + fst (picked t s l)) <= IZR B * rtop (S (snd (picked t s l))) (S (length l)) f).
  { intros s. specialize (IH s H). rewrite plus_IZR.
    eapply Rle_trans; [|apply Rmult_le_compat_l; [lra|apply rtop_take]]. lra. }
  assert (Leave : forall s, IZR (fst (picked t s l)) <= IZR B * rtop (snd (picked t s l)) (S (length l)) f).
  { intros s. eapply Rle_trans; [exact (IH s H)|]. apply Rmult_le_compat_l; [lra|]. apply rtop_leave, picked_most. }
  cbn [picked length]. destruct (t <? x)%Z; [specialize (Take spare); destruct (picked t spare l); exact Take|].
  destruct spare as [|rest]; [apply Leave|].
  destruct (x =? t)%Z; [specialize (Take rest); destruct (picked t rest l); exact Take|apply Leave].
Qed.

(** * top_mean *)

Module Descending <: TotalLeBool.
  Definition t := Z.
  Definition leb (x y : Z) : bool := (y <=? x)%Z.
  Theorem leb_total : forall x y, leb x y = true \/ leb y x = true.
  Proof. intros x y. unfold leb. rewrite !Z.leb_le. lia. Qed.
End Descending.
Module DescendingSort := Sort Descending.

(** The n-th greatest. That it is so need not be proved. *)
Definition nth_greatest (n : nat) (l : list Z) : Z := nth (pred n) (DescendingSort.sort l) 0%Z.

Definition number_above (t : Z) (l : list Z) : nat := length (filter (fun x => (t <? x)%Z) l).

Definition top_mean_ends (k : nat) (s : box) : option (Z * Z) :=
  let n := Nat.min k (length s) in
  let lows := map fst s in
  let highs := map snd s in
  let t := nth_greatest n lows in
  let u := nth_greatest n highs in
  let (least, taken) := picked t (n - number_above t lows) lows in
  if Nat.ltb 0 n && Nat.eqb taken n then
    Some (floor_div least (Z.of_nat n), ceil_div (Z.of_nat n * u + excess u highs) (Z.of_nat n))%Z
  else None.

Theorem top_mean_ends_ok : forall B k s f x, (0 < B)%Z -> along (encloses B) s f -> top_mean_ends k s = Some x ->
  encloses B x (rtop k (length s) f / INR (Nat.min k (length s))).
Proof.
  intros B k s f x HB K H. unfold top_mean_ends in H. set (n := Nat.min k (length s)) in *.
  set (t := nth_greatest _ _) in H.
  assert (Kl : along (is_below B) (map fst s) f).
  { apply along_map. eapply along_weaken; [|exact K]. intros e y [L _]. exact L. }
  assert (Kh : along (is_above B) (map snd s) f).
  { apply along_map. eapply along_weaken; [|exact K]. intros e y [_ U]. exact U. }
  assert (L := rtop_at_least B t (map fst s) f (n - number_above t (map fst s)) HB Kl).
  destruct (picked _ _ _) as [least taken]. destruct (_ && _)%bool eqn:C; [|discriminate]. injection H as <-.
  apply andb_prop in C as [Hn C]. apply Nat.ltb_lt in Hn. apply Nat.eqb_eq in C as ->. cbn [fst snd] in L.
  assert (U := rtop_at_most B (nth_greatest n (map snd s)) (map snd s) f n HB Kh
                 ltac:(rewrite map_length; apply Nat.le_min_r)).
  rewrite map_length in L, U. rewrite rtop_min. fold n. rewrite INR_IZR_INZ.
  assert (Zn : (0 < Z.of_nat n)%Z) by lia. assert (Rn := IZR_pos _ Zn).
  assert (E : forall r, IZR (Z.of_nat n) * (IZR B * (r / IZR (Z.of_nat n))) = IZR B * r) by (intros r; field; lra).
  split; cbn [fst snd]; [apply floor_div_below|apply ceil_div_above]; try exact Zn; rewrite E; assumption.
Qed.

(** * max_minus_mean *)

Definition total (l : list Z) : Z := fold_right Z.add 0%Z l.

(** sum_l max(0, t - hi_l), and (L - 1) hi_l + lo_l *)
Definition shortfall (t : Z) (s : box) : Z := total (map (fun e => Z.max 0 (t - snd e))%Z s).
Definition surplus (L : Z) (e : Z * Z) : Z := ((L - 1) * snd e + fst e)%Z.

Definition max_minus_mean_of (e : Z * Z) (s : box) : Z * Z :=
  let L := Z.of_nat (length (e :: s)) in
  let t := greatest (fst e) (map fst s) in
  let most := greatest (surplus L e) (map (surplus L) s) in
  (floor_div (shortfall t (e :: s)) L, ceil_div (most - total (map fst (e :: s))) L).

Definition max_minus_mean_ends (s : box) : option (Z * Z) :=
  match s with nil => None | e :: s' => Some (max_minus_mean_of e s') end.

(** Every difference in the mean of M - g_l is at least max(0, t - hi_l), as M >= t and M >= g_l. *)
Lemma differences_at_least : forall B t s f M, along (encloses B) s f -> IZR t <= IZR B * M ->
  (forall l, (l < length s)%nat -> IZR B * f l <= IZR B * M) ->
  IZR (shortfall t s) <= IZR B * (INR (length s) * M - rsum (length s) f).
Proof.
  intros B t s f M K Ht H. induction s as [|e s IH]; [cbn; lra|]. destruct K as [[_ U] K].
  unfold shortfall, total in *. cbn [map fold_right length rsum]. rewrite plus_IZR, S_INR.
  assert (I := IH K ltac:(intros l Hl; apply H; cbn; lia)).
  assert (IZR (Z.max 0 (t - snd e)) <= IZR B * (M - f (length s))).
  { assert (Hf := H (length s) ltac:(cbn; lia)). apply Z.max_case; [lra|]. rewrite minus_IZR. lra. }
  lra.
Qed.

(** All numbers but that of patch l are at least their lower ends. *)
Lemma total_at_most : forall B s f, along (encloses B) s f -> IZR (total (map fst s)) <= IZR B * rsum (length s) f.
Proof.
  intros B s f K. induction s as [|e s IH]; [cbn; lra|]. destruct K as [[L _] K]. specialize (IH K).
  cbn [map total fold_right length rsum]. rewrite plus_IZR. unfold total in IH. lra.
Qed.

Lemma others_at_least : forall B s f l, along (encloses B) s f -> (l < length s)%nat ->
  exists e, In e s /\ encloses B e (f l) /\
    IZR (total (map fst s)) - IZR (fst e) <= IZR B * rsum (length s) f - IZR B * f l.
Proof.
  intros B s f l K. induction s as [|e s IH]; intros Hl; [inversion Hl|]. destruct K as [[L U] K].
  cbn [map total fold_right length rsum]. rewrite plus_IZR. destruct (Nat.eq_dec l (length s)) as [->|N].
  - exists e. split; [left; reflexivity|]. split; [split; assumption|].
    assert (H := total_at_most B s f K). unfold total in H. lra.
  - destruct (IH K ltac:(cbn in Hl; lia)) as (e' & I & He' & H). exists e'. split; [right; exact I|].
    split; [exact He'|]. unfold total in H. lra.
Qed.

Theorem max_minus_mean_ends_ok : forall B s f x, (0 < B)%Z -> along (encloses B) s f ->
  max_minus_mean_ends s = Some x -> encloses B x (rmax (length s) f - rsum (length s) f / INR (length s)).
Proof.
  intros B [|e0 s'] f x HB K H; [discriminate|]. assert (X : x = max_minus_mean_of e0 s') by (cbn in H; congruence).
  rewrite X. unfold max_minus_mean_of. assert (G := greatest_ends_ok B (e0 :: s') f _ HB K eq_refl). clear H X x.
  set (s := e0 :: s') in *. set (L := Z.of_nat (length s)).
  assert (ZL : (1 <= L)%Z) by (unfold L; cbn [s length]; lia). assert (RL := IZR_le _ _ ZL). apply IZR_pos in HB as RB.
  assert (E : IZR L * (IZR B * (rmax (length s) f - rsum (length s) f / INR (length s))) =
              IZR B * (IZR L * rmax (length s) f - rsum (length s) f)).
  { rewrite INR_IZR_INZ. fold L. field. lra. }
  split; cbn [fst snd]; [apply floor_div_below|apply ceil_div_above]; try lia; rewrite E.
  - unfold L. rewrite <- INR_IZR_INZ. apply differences_at_least; [exact K|apply G|]. intros l Hl.
    apply Rmult_le_compat_l; [lra|]. apply rmax_ge, Hl.
  - destruct (rmax_attained (length s) f) as (l & Hl & ->); [cbn; lia|].
    destruct (others_at_least B s f l K Hl) as (e & I & [_ U] & O).
    assert (M := greatest_ge (map (surplus L) s') (surplus L e0) (surplus L e) (in_map (surplus L) s e I)).
    apply IZR_le in M. rewrite minus_IZR. unfold surplus in M at 1. rewrite plus_IZR, mult_IZR, minus_IZR in M.
    assert (P : (IZR L - 1) * (IZR B * f l) <= (IZR L - 1) * IZR (snd e)) by (apply Rmult_le_compat_l; lra). lra.
Qed.
