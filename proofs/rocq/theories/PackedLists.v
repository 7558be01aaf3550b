(** Lists packed coordinate by coordinate, as digits of great numbers.

    One by one the numbers that are shifted grow with every list, so that the time grows with the square of how many
    there are. Two by two most of them are short. Both give the same numbers. *)

From Coq Require Import ZArith List Lia.
Import ListNotations.
Open Scope Z_scope.

(** * What runs *)

(** p + 2^bits a, coordinate by coordinate *)
Fixpoint plus_times (bits : Z) (p a : list Z) : list Z :=
  match p, a with
  | x :: p', y :: a' => x + Z.shiftl y bits :: plus_times bits p' a'
  | nil, _ => map (fun y => Z.shiftl y bits) a
  | _, nil => p
  end.

Fixpoint pack (bits : Z) (ps : list (list Z)) : list Z :=
  match ps with p :: ps' => plus_times bits p (pack bits ps') | nil => nil end.

(** The same two by two, so that few of the numbers that are shifted are great. *)
Fixpoint two_by_two (bits : Z) (ps : list (list Z)) : list (list Z) :=
  match ps with p :: q :: ps' => plus_times bits p q :: two_by_two bits ps' | _ => ps end.

(** As often as [levels] says; what is left then, one by one. *)
Fixpoint packed_by (levels : nat) (bits : Z) (ps : list (list Z)) : list Z :=
  match ps with
  | nil => nil
  | [p] => p
  | _ =>
      match levels with
      | O => pack bits ps
      | S levels' => packed_by levels' (2 * bits) (two_by_two bits ps)
      end
  end.

(** * What it means *)

Lemma shiftl_twice : forall x y z bits, 0 < bits ->
  x + Z.shiftl (y + Z.shiftl z bits) bits = x + Z.shiftl y bits + Z.shiftl z (2 * bits).
Proof.
  intros x y z bits H. rewrite !Z.shiftl_mul_pow2 by lia. replace (2 * bits) with (bits + bits) by lia.
  rewrite Z.pow_add_r by lia. ring.
Qed.

Lemma plus_times_nil : forall bits p, plus_times bits p nil = p.
Proof. intros bits [|x p]; reflexivity. Qed.

Lemma shifted_twice : forall bits a, 0 < bits ->
  map (fun y => Z.shiftl y bits) (map (fun y => Z.shiftl y bits) a) = map (fun y => Z.shiftl y (2 * bits)) a.
Proof.
  intros bits a H. rewrite map_map. apply map_ext. intros y. assert (T := shiftl_twice 0 0 y bits H).
  rewrite Z.shiftl_0_l, !Z.add_0_l in T. exact T.
Qed.

Lemma plus_times_twice : forall bits p q a, 0 < bits ->
  plus_times bits p (plus_times bits q a) = plus_times (2 * bits) (plus_times bits p q) a.
Proof.
  intros bits p q a H. revert q a. induction p as [|x p IH]; intros q a.
  - revert a. induction q as [|y q IHq]; intros a; [exact (shifted_twice bits a H)|].
    destruct a as [|z a]; [reflexivity|]. cbn [plus_times map]. f_equal; [|exact (IHq a)].
    assert (T := shiftl_twice 0 y z bits H). rewrite !Z.add_0_l in T. exact T.
  - destruct q as [|y q].
    + destruct a as [|z a]; [reflexivity|]. cbn [plus_times map]. f_equal.
      * assert (T := shiftl_twice x 0 z bits H). rewrite Z.shiftl_0_l, Z.add_0_l, Z.add_0_r in T. exact T.
      * rewrite <- (plus_times_nil bits p) at 2. rewrite <- IH. reflexivity.
    + destruct a as [|z a]; [reflexivity|]. cbn [plus_times]. f_equal; [exact (shiftl_twice x y z bits H)|apply IH].
Qed.

Lemma pack_two_by_two : forall bits ps, 0 < bits -> pack (2 * bits) (two_by_two bits ps) = pack bits ps.
Proof.
  intros bits ps H.
  assert (K : forall n ps, (length ps <= n)%nat -> pack (2 * bits) (two_by_two bits ps) = pack bits ps).
  { induction n as [|n IH]; intros [|p [|q ps']] L; try reflexivity; try (cbn in L; lia).
    - cbn [two_by_two pack]. rewrite !plus_times_nil. reflexivity.
    - cbn [two_by_two pack]. rewrite plus_times_twice, IH by (exact H || (cbn in L; lia)). reflexivity. }
  exact (K (length ps) ps (Nat.le_refl _)).
Qed.

Theorem packed_by_is : forall levels bits ps, 0 < bits -> packed_by levels bits ps = pack bits ps.
Proof.
  induction levels as [|levels IH]; intros bits [|p [|q ps]] H; try reflexivity;
    try (cbn [packed_by pack]; rewrite plus_times_nil; reflexivity).
  change (packed_by (S levels) bits (p :: q :: ps)) with (packed_by levels (2 * bits) (two_by_two bits (p :: q :: ps))).
  rewrite IH by lia. apply pack_two_by_two. exact H.
Qed.
