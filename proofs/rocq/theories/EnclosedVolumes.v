(** The numbers of a layer, enclosed, and kept so that any of them is found fast.

    Those of one place, one for each channel, are a list, which is found by its place. So whoever needs what a window
    meets looks for as many lists as its kernel has places. *)

From Coq Require Import Reals ZArith PArith List Lia FMapPositive.
From Verale Require Import Semantics NetworkSemantics Grid.
Import ListNotations.

(** * What runs *)

Record enclosed := Enclosed { planes : nat; tall : nat; wide : nat; cells : PositiveMap.t (list (Z * Z)) }.

Definition zero : Z * Z := (0, 0)%Z.

Definition nothing_enclosed : enclosed := Enclosed 0 0 0 (PositiveMap.empty _).

(** It adds to a map, so that no stack is as deep as a list is long: that of JavaScript is small. *)
Fixpoint stored {A} (i : positive) (l : list A) (m : PositiveMap.t A) : PositiveMap.t A :=
  match l with nil => m | e :: l' => stored (Pos.succ i) l' (PositiveMap.add i e m) end.

(** The numbers of a place *)
Definition cell (e : enclosed) (y x : nat) : list (Z * Z) :=
  match PositiveMap.find (Pos.of_succ_nat (y * wide e + x)) (cells e) with Some ends => ends | None => nil end.

Definition found (e : enclosed) (c y x : nat) : Z * Z := nth c (cell e y x) zero.

(** [at_place y x] are the numbers of a place, one for each channel. *)
Definition built (C H W : nat) (at_place : nat -> nat -> list (Z * Z)) : enclosed :=
  Enclosed C H W (stored 1 (flat_map (fun y => map (at_place y) (seq 0 W)) (seq 0 H)) (PositiveMap.empty _)).

(** The same, number by number *)
Definition built_each (C H W : nat) (f : nat -> nat -> nat -> Z * Z) : enclosed :=
  built C H W (fun y x => map (fun c => f c y x) (seq 0 C)).

(** Some lists have a number for each channel: for each channel those that they have for it. *)
Fixpoint by_channel (count : nat) (lists : list (list (Z * Z))) : list (list (Z * Z)) :=
  match count with O => nil | S count' => map (hd zero) lists :: by_channel count' (map (@tl _) lists) end.

(** The numbers of a place, exactly one for each channel *)
Fixpoint first_of (count : nat) (l : list (Z * Z)) : list (Z * Z) :=
  match count with O => nil | S count' => hd zero l :: first_of count' (tl l) end.
Definition whole_cell (e : enclosed) (y x : nat) : list (Z * Z) := first_of (planes e) (cell e y x).

(** * What it means *)

Open Scope R_scope.

Definition encloses_volume (B : Z) (e : enclosed) (v : volume) : Prop :=
  planes e = channels v /\ tall e = height v /\ wide e = width v /\
  forall c y x, (c < channels v)%nat -> (y < height v)%nat -> (x < width v)%nat ->
  encloses B (found e c y x) (entry v c y x).

Lemma nothing_enclosed_ok : forall B, encloses_volume B nothing_enclosed nothing.
Proof. intros B. repeat split; cbn in *; lia. Qed.

Lemma find_before : forall A (l : list A) i j m, (j < i)%positive -> PositiveMap.find j (stored i l m) = PositiveMap.find j m.
Proof.
  intros A. induction l as [|e l IH]; intros i j m H; [reflexivity|]. cbn [stored]. rewrite IH by lia.
  apply PositiveMap.gso. lia.
Qed.

Lemma find_stored : forall A (d : A) l i k m, (k < length l)%nat ->
  PositiveMap.find (Pos.of_succ_nat (i + k)) (stored (Pos.of_succ_nat i) l m) = Some (nth k l d).
Proof.
  intros A d. induction l as [|e l IH]; intros i k m H; [inversion H|]. cbn [stored]. destruct k as [|k].
  - rewrite Nat.add_0_r, find_before by lia. apply PositiveMap.gss.
  - cbn [nth length] in *. rewrite <- Nat.add_succ_comm. apply (IH (S i)). lia.
Qed.

Lemma find_stored_first : forall A (d : A) l k m, (k < length l)%nat ->
  PositiveMap.find (Pos.of_succ_nat k) (stored 1 l m) = Some (nth k l d).
Proof. intros A d l k m. exact (find_stored A d l 0 k m). Qed.

(** Lists of one length, one after another *)
Lemma length_blocks : forall (A B : Type) (f : A -> list B) m l, (forall a, In a l -> length (f a) = m) ->
  length (flat_map f l) = (length l * m)%nat.
Proof.
  intros A B f m. induction l as [|a l IH]; intros H; [reflexivity|]. cbn [flat_map length]. rewrite app_length, IH.
  - rewrite H by (left; reflexivity). reflexivity.
  - intros b I. apply H. right. exact I.
Qed.

Lemma nth_blocks : forall (B : Type) (f : nat -> list B) (d : B) m n s,
  (forall i, (s <= i < s + n)%nat -> length (f i) = m) ->
  forall i j, (i < n)%nat -> (j < m)%nat -> nth (i * m + j) (flat_map f (seq s n)) d = nth j (f (s + i)%nat) d.
Proof.
  intros B f d m. induction n as [|n IH]; intros s H i j Hi Hj; [lia|]. cbn [seq flat_map].
  assert (L := H s ltac:(lia)). destruct i as [|i].
  - rewrite app_nth1 by (rewrite L; exact Hj). rewrite Nat.add_0_r. reflexivity.
  - rewrite app_nth2 by (rewrite L; lia). rewrite L. replace (S i * m + j - m)%nat with (i * m + j)%nat by lia.
    rewrite (IH (S s)) by (lia || (intros; apply H; lia)). f_equal. f_equal. lia.
Qed.

Lemma nth_blocks_0 : forall (B : Type) (f : nat -> list B) (d : B) m n, (forall i, (i < n)%nat -> length (f i) = m) ->
  forall i j, (i < n)%nat -> (j < m)%nat -> nth (i * m + j) (flat_map f (seq 0 n)) d = nth j (f i) d.
Proof. intros B f d m n H i j Hi Hj. apply (nth_blocks B f d m n 0); [intros; apply H; lia|exact Hi|exact Hj]. Qed.

Lemma nth_map_seq : forall (B : Type) (f : nat -> B) d n k, (k < n)%nat -> nth k (map f (seq 0 n)) d = f k.
Proof.
  intros B f d n k H. rewrite (nth_indep _ d (f 0%nat)) by (rewrite map_length, seq_length; exact H).
  rewrite map_nth, seq_nth by exact H. reflexivity.
Qed.

Lemma nth_tl : forall (A : Type) (l : list A) k d, nth k (tl l) d = nth (S k) l d.
Proof. intros A [|a l] [|k] d; reflexivity. Qed.

Lemma first_of_is : forall count l, first_of count l = map (fun c => nth c l zero) (seq 0 count).
Proof.
  induction count as [|count IH]; intros l; [reflexivity|]. cbn [first_of seq map]. f_equal; [destruct l; reflexivity|].
  rewrite IH, <- seq_shift, map_map. apply map_ext. intros c. apply nth_tl.
Qed.

Lemma length_whole_cell : forall e y x, length (whole_cell e y x) = planes e.
Proof. intros e y x. unfold whole_cell. rewrite first_of_is, map_length, seq_length. reflexivity. Qed.

Lemma whole_cell_is : forall e y x, whole_cell e y x = map (fun c => found e c y x) (seq 0 (planes e)).
Proof. intros e y x. apply first_of_is. Qed.

Lemma nth_whole_cell : forall e c y x, (c < planes e)%nat -> nth c (whole_cell e y x) zero = found e c y x.
Proof. intros e c y x H. rewrite whole_cell_is, nth_map_seq by exact H. reflexivity. Qed.

Lemma by_channel_is : forall count lists, by_channel count lists =
  map (fun c => map (fun l => nth c l zero) lists) (seq 0 count).
Proof.
  induction count as [|count IH]; intros lists; [reflexivity|]. cbn [by_channel seq map]. f_equal.
  - apply map_ext. intros [|e l]; reflexivity.
  - rewrite IH, <- seq_shift, map_map. apply map_ext. intros c. rewrite map_map. apply map_ext. intros l. apply nth_tl.
Qed.

(** What a function makes of the numbers of a channel *)
Lemma nth_map_by_channel : forall (A : Type) (f : list (Z * Z) -> A) d count lists c, (c < count)%nat ->
  nth c (map f (by_channel count lists)) d = f (map (fun l => nth c l zero) lists).
Proof. intros A f d count lists c H. rewrite by_channel_is, map_map, nth_map_seq by exact H. reflexivity. Qed.

Lemma found_built : forall C H W f c y x, (y < H)%nat -> (x < W)%nat ->
  found (built C H W f) c y x = nth c (f y x) zero.
Proof.
  intros C H W f c y x Hy Hx. unfold found, cell. cbn [built wide cells].
  assert (row : forall y', length (map (f y') (seq 0 W)) = W) by (intros; rewrite map_length, seq_length; reflexivity).
  rewrite (find_stored_first _ nil).
  - rewrite nth_blocks_0 by (assumption || (intros; apply row)). rewrite nth_map_seq by exact Hx. reflexivity.
  - rewrite (length_blocks _ _ _ W), seq_length by (intros; apply row). nia.
Qed.

Lemma built_ok : forall B C H W f v, channels v = C -> height v = H -> width v = W ->
  (forall c y x, (c < C)%nat -> (y < H)%nat -> (x < W)%nat -> encloses B (nth c (f y x) zero) (entry v c y x)) ->
  encloses_volume B (built C H W f) v.
Proof.
  intros B C H W f v <- <- <- E. repeat split. all: intros; rewrite found_built by assumption; apply E; assumption.
Qed.

Lemma built_each_ok : forall B C H W f v, channels v = C -> height v = H -> width v = W ->
  (forall c y x, (c < C)%nat -> (y < H)%nat -> (x < W)%nat -> encloses B (f c y x) (entry v c y x)) ->
  encloses_volume B (built_each C H W f) v.
Proof.
  intros B C H W f v HC HH HW E. apply built_ok; [exact HC|exact HH|exact HW|].
  intros c y x Hc Hy Hx. rewrite nth_map_seq by exact Hc. apply E; assumption.
Qed.
