(** The greatest similarity of a column.

    Where similarities of all patches are enclosed, the two ends are pooled separately. Where the similarity falls or
    rises with the observable, the observables are pooled instead, and one similarity is taken: logarithms are slow. *)

From Coq Require Import Reals ZArith List Lia Lra.
From Verale Require Import Semantics Grid Sums Boxes Columns.
Import ListNotations.
Open Scope R_scope.

(** * The greatest of integers *)

(** The head of the list is given apart: the list is not empty. *)
Definition greatest (x : Z) (l : list Z) : Z := fold_left Z.max l x.

Lemma greatest_ge : forall l x y, In y (x :: l) -> (y <= greatest x l)%Z.
Proof.
  unfold greatest. induction l as [|z l IH]; intros x y H; cbn [fold_left]; [destruct H as [->|[]]; lia|].
  assert (M := IH (Z.max x z) (Z.max x z) (or_introl eq_refl)). destruct H as [->|[->|H]]; [lia|lia|].
  apply IH. right. exact H.
Qed.

Lemma greatest_in : forall l x, In (greatest x l) (x :: l).
Proof.
  unfold greatest. induction l as [|z l IH]; intros x; cbn [fold_left]; [left; reflexivity|].
  destruct (IH (Z.max x z)) as [H|H]; [|right; right; exact H]. rewrite <- H.
  destruct (Z.max_spec x z) as [[_ ->]|[_ ->]]; [right; left; reflexivity|left; reflexivity].
Qed.

(** * Of enclosures *)

Definition greatest_ends (s : box) : option (Z * Z) :=
  match s with
  | nil => None
  | e :: s' => Some (greatest (fst e) (map fst s'), greatest (snd e) (map snd s'))
  end.

Theorem greatest_ends_ok : forall B s f x, (0 < B)%Z -> along (encloses B) s f -> greatest_ends s = Some x ->
  encloses B x (rmax (length s) f).
Proof.
  intros B [|e s] f x HB K H; [discriminate|]. injection H as <-. apply IZR_pos in HB. split; cbn [fst snd].
  - assert (I := greatest_in (map fst s) (fst e)). apply (in_map_iff fst (e :: s)) in I as (e' & <- & I).
    destruct (along_in _ _ _ _ _ K I) as (l & Hl & [L _]). eapply Rle_trans; [exact L|].
    apply Rmult_le_compat_l; [lra|]. apply rmax_ge. exact Hl.
  - destruct (rmax_attained (length (e :: s)) f) as (l & Hl & ->); [cbn; lia|].
    destruct (along_at _ _ _ _ _ K Hl) as (e' & I & [_ U]). eapply Rle_trans; [exact U|]. apply IZR_le, greatest_ge.
    apply (in_map snd (e :: s)). exact I.
Qed.

(** * The least and the greatest observable *)

(** An end of both numbers, which is missing if one of them is; and an end of one of them, if there is one. *)
Definition every (op : Z -> Z -> Z) (x y : option Z) : option Z :=
  match x, y with Some a, Some b => Some (op a b) | _, _ => None end.
Definition either (op : Z -> Z -> Z) (x y : option Z) : option Z :=
  match x, y with Some a, Some b => Some (op a b) | Some a, None => Some a | None, y => y end.

Definition lesser (e e' : ends) : ends := (every Z.min (fst e) (fst e'), either Z.min (snd e) (snd e')).
Definition greater (e e' : ends) : ends := (either Z.max (fst e) (fst e'), every Z.max (snd e) (snd e')).

Fixpoint pooled (op : ends -> ends -> ends) (c : column) : ends :=
  match c with nil => anything | e :: c' => match c' with nil => e | _ => op e (pooled op c') end end.

Definition least_of (n : nat) (m : nat -> R) (x : R) : Prop :=
  (exists l, (l < n)%nat /\ x = m l) /\ forall l, (l < n)%nat -> x <= m l.
Definition greatest_of (n : nat) (m : nat -> R) (x : R) : Prop :=
  (exists l, (l < n)%nat /\ x = m l) /\ forall l, (l < n)%nat -> m l <= x.

Lemma greatest_exists : forall n m, (0 < n)%nat -> exists x, greatest_of n m x.
Proof.
  intros n m Hn. destruct (rmax_attained n m Hn) as (l & Hl & E). exists (rmax n m). split.
  - exists l. split; assumption.
  - intros i Hi. apply rmax_ge. exact Hi.
Qed.

Lemma least_exists : forall n m, (0 < n)%nat -> exists x, least_of n m x.
Proof.
  intros n m Hn. destruct (greatest_exists n (fun l => - m l) Hn) as (x & (l & Hl & E) & G). exists (m l). split.
  - exists l. split; [exact Hl|reflexivity].
  - intros i Hi. specialize (G i Hi). cbv beta in *. lra.
Qed.

Lemma least_step : forall n m x y, least_of (S n) m x -> least_of n m y -> x = Rmin (m n) y.
Proof.
  intros n m x y [(l & Hl & ->) X] [(i & Hi & ->) Y]. apply Rle_antisym.
  - apply Rmin_glb; apply X; lia.
  - destruct (Nat.eq_dec l n) as [->|N]; [apply Rmin_l|]. eapply Rle_trans; [apply Rmin_r|]. apply Y. lia.
Qed.

Lemma greatest_step : forall n m x y, greatest_of (S n) m x -> greatest_of n m y -> x = Rmax (m n) y.
Proof.
  intros n m x y [(l & Hl & ->) X] [(i & Hi & ->) Y]. apply Rle_antisym.
  - destruct (Nat.eq_dec l n) as [->|N]; [apply Rmax_l|]. eapply Rle_trans; [|apply Rmax_r]. apply Y. lia.
  - apply Rmax_lub; apply X; lia.
Qed.

Section Ends.
Variable T : Z.
Hypothesis HT : (0 < T)%Z.

Let at_least_times : forall x y, x <= y -> IZR T * x <= IZR T * y.
Proof. intros x y H. apply IZR_pos in HT. apply Rmult_le_compat_l; lra. Qed.

Lemma lesser_ok : forall e e' x x', within T e x -> within T e' x' -> within T (lesser e e') (Rmin x x').
Proof.
  intros [a b] [a' b'] x x' [L U] [L' U']. cbn in L, U, L', U'. split; cbn [lesser fst snd].
  - destruct a as [a|], a' as [a'|]; try exact I. cbn in *. assert (M := IZR_le _ _ (Z.le_min_l a a')).
    assert (M' := IZR_le _ _ (Z.le_min_r a a')). apply Rmin_case; lra.
  - assert (P := at_least_times _ _ (Rmin_l x x')). assert (P' := at_least_times _ _ (Rmin_r x x')).
    destruct b as [b|], b' as [b'|]; cbn in *; try exact I; [apply Z.min_case| |]; lra.
Qed.

Lemma greater_ok : forall e e' x x', within T e x -> within T e' x' -> within T (greater e e') (Rmax x x').
Proof.
  intros [a b] [a' b'] x x' [L U] [L' U']. cbn in L, U, L', U'. split; cbn [greater fst snd].
  - assert (P := at_least_times _ _ (Rmax_l x x')). assert (P' := at_least_times _ _ (Rmax_r x x')).
    destruct a as [a|], a' as [a'|]; cbn in *; try exact I; [apply Z.max_case| |]; lra.
  - destruct b as [b|], b' as [b'|]; try exact I. cbn in *. assert (M := IZR_le _ _ (Z.le_max_l b b')).
    assert (M' := IZR_le _ _ (Z.le_max_r b b')). apply Rmax_case; lra.
Qed.

Lemma pooled_least : forall c m x, along (within T) c m -> least_of (length c) m x -> within T (pooled lesser c) x.
Proof.
  induction c as [|e c IH]; intros m x K H; [destruct H as [(l & Hl & _) _]; inversion Hl|]. destruct K as [Ke K].
  destruct c as [|e' c].
  - destruct H as [(l & Hl & ->) _]. cbn in Hl. replace l with O by lia. exact Ke.
  - destruct (least_exists (length (e' :: c)) m) as (y & Y); [cbn; lia|].
    rewrite (least_step _ m x y H Y). exact (lesser_ok _ _ _ _ Ke (IH m y K Y)).
Qed.

Lemma pooled_greatest : forall c m x, along (within T) c m -> greatest_of (length c) m x ->
  within T (pooled greater c) x.
Proof.
  induction c as [|e c IH]; intros m x K H; [destruct H as [(l & Hl & _) _]; inversion Hl|]. destruct K as [Ke K].
  destruct c as [|e' c].
  - destruct H as [(l & Hl & ->) _]. cbn in Hl. replace l with O by lia. exact Ke.
  - destruct (greatest_exists (length (e' :: c)) m) as (y & Y); [cbn; lia|].
    rewrite (greatest_step _ m x y H Y). exact (greater_ok _ _ _ _ Ke (IH m y K Y)).
Qed.
End Ends.

(** * The greatest similarity, from a pooled observable *)

Lemma rmax_is : forall n f l, (l < n)%nat -> (forall i, (i < n)%nat -> f i <= f l) -> rmax n f = f l.
Proof. intros n f l Hl H. apply Rle_antisym; [apply rmax_le; [lia|exact H]|apply rmax_ge; exact Hl]. Qed.

Theorem greatest_of_falling : forall n (g : R -> R) m x,
  (forall l i, (l < n)%nat -> (i < n)%nat -> m l <= m i -> g (m i) <= g (m l)) ->
  least_of n m x -> rmax n (fun l => g (m l)) = g x.
Proof.
  intros n g m x H [(l & Hl & ->) X]. apply (rmax_is n (fun l => g (m l)) l Hl). intros i Hi. apply H; auto.
Qed.

Theorem greatest_of_rising : forall n (g : R -> R) m x,
  (forall l i, (l < n)%nat -> (i < n)%nat -> m i <= m l -> g (m i) <= g (m l)) ->
  greatest_of n m x -> rmax n (fun l => g (m l)) = g x.
Proof.
  intros n g m x H [(l & Hl & ->) X]. apply (rmax_is n (fun l => g (m l)) l Hl). intros i Hi. apply H; auto.
Qed.
