(** Numbers that certainly lie in the range of every activation, from numbers that lie in those of the observables.

    What the head computes of any observables in their ranges lies in the range of the activation. So its lower end is
    at most the upper end of an enclosure of one such value, and its upper end at least the lower end of another one.
    Which observables give the least and the greatest value need not be proved, only that they lie in their ranges. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Grid Log Boxes Columns Direction Similarity Pooling.
Import ListNotations.

(** * What runs *)

(** Enclosures over [T] of two numbers of a range, a small one and a great one. *)
Notation inner_entry := ((Z * Z) * (Z * Z))%type.

(** The first entry is about the last patch. *)
Notation inner_column := (list inner_entry).

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms) (o : own).

(** The number of a range that is nearest to x / T. *)
Definition nearest_to (x : Z) (e : inner_entry) : Z * Z :=
  if x <=? snd (fst e) then fst e else if fst (snd e) <=? x then snd e else (x, x).

(** Where a similarity is least and greatest; one that has a peak, away from it and near it. *)
Definition worst (e : inner_entry) : Z * Z :=
  match direction_of h o with
  | Falls => snd e
  | Rises => fst e
  | Neither =>
      if Zpos (denominator (snd o)) * (fst (fst e) + snd (snd e)) <=? 2 * T * numerator (snd o) then fst e else snd e
  end.
Definition best (e : inner_entry) : Z * Z :=
  match direction_of h o with
  | Falls => fst e
  | Rises => snd e
  | Neither => nearest_to (floor_div (T * numerator (snd o)) (Zpos (denominator (snd o)))) e
  end.

(** One number that is in as many ranges as may be, and else the nearest one *)
Definition levelled (c : inner_column) : list (Z * Z) :=
  match c with
  | nil => nil
  | e :: c' =>
      let x := match direction_of h o with
               | Falls => fold_right (fun f => Z.min (fst (snd f))) (fst (snd e)) c'
               | _ => fold_right (fun f => Z.max (snd (fst f))) (snd (fst e)) c'
               end in
      map (nearest_to x) c
  end.

(** One patch at its best, and all others at their worst; and which one, of [count]. *)
Fixpoint one_best (place : nat) (c : inner_column) : list (Z * Z) :=
  match c, place with
  | nil, _ => nil
  | e :: c', O => best e :: map worst c'
  | e :: c', S place' => worst e :: one_best place' c'
  end.
Definition outdoes (count : Z) (e f : inner_entry) : bool :=
  let low e := fst (fst e) in
  let high e := snd (snd e) in
  match direction_of h o with
  | Falls => (low e <? low f) || (low e =? low f) && (high e <? high f)
  | _ => (count - 1) * high f + low f <? (count - 1) * high e + low e
  end.
Fixpoint place_of (count : Z) (i : nat) (chosen : nat * inner_entry) (c : inner_column) : nat :=
  match c with
  | nil => fst chosen
  | e :: c' => place_of count (S i) (if outdoes count e (snd chosen) then (i, e) else chosen) c'
  end.
Definition best_alone (c : inner_column) : list (Z * Z) :=
  match c with
  | nil => nil
  | e :: c' => one_best (place_of (Z.of_nat (length c)) 1 (0%nat, e) c') c
  end.

Definition least_numbers (c : inner_column) : list (Z * Z) :=
  match head_pooling h with
  | MaxMinusMean | MaxMinusMeanDistance => levelled c
  | _ => map worst c
  end.
Definition greatest_numbers (c : inner_column) : list (Z * Z) :=
  match head_pooling h with
  | MaxMinusMean | MaxMinusMeanDistance => best_alone c
  | _ => map best c
  end.

(** Whether each encloses a number of the range of its patch. *)
Definition fits (x : Z * Z) (e : inner_entry) : bool :=
  let same f := (fst x =? fst f) && (snd x =? snd f) in
  same (fst e) || same (snd e) || (fst x =? snd x) && (snd (fst e) <=? fst x) && (fst x <=? fst (snd e)).
Fixpoint fit (numbers : list (Z * Z)) (c : inner_column) : bool :=
  match numbers, c with
  | nil, nil => true
  | x :: numbers', e :: c' => fits x e && fit numbers' c'
  | _, _ => false
  end.

Definition value_of (row : list Z) (numbers : list (Z * Z)) (c : inner_column) : option (Z * Z) :=
  if fit numbers c then pool_column h T B terms logs row o (map (fun x => (Some (fst x),
    Some (snd x))) numbers) else None.

(** [row] is that of the mask. *)
Definition inner_activation (row : list Z) (c : inner_column) : option (Z * Z) :=
  match value_of row (least_numbers c) c, value_of row (greatest_numbers c) c with
  | Some (_, low), Some (high, _) => Some (low, high)
  | _, _ => None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Definition convex (Q : R -> Prop) : Prop := forall x y z, Q x -> Q z -> x <= y <= z -> Q y.

Definition some_number (T : Z) (e : Z * Z) (Q : R -> Prop) : Prop := exists x, Q x /\ encloses T e x.
Definition entry_right (T : Z) (Q : R -> Prop) (e : inner_entry) : Prop :=
  some_number T (fst e) Q /\ some_number T (snd e) Q.

Section Sound.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms).
Hypothesis HT : (0 < T)%Z.
Hypothesis HB : (0 < B)%Z.
Hypothesis Hlogs : right_logarithms logs.
Let RT : 0 < IZR T := IZR_pos T HT.

Lemma fits_ok : forall Q x e, convex Q -> entry_right T Q e -> fits x e = true -> some_number T x Q.
Proof.
  intros Q [a b] [f g] C [F G] H. unfold fits in H. cbn [fst snd] in *.
  apply orb_prop in H as [H|H]; [apply orb_prop in H as [H|H]|].
  - apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1, H2. subst. destruct f. exact F.
  - apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1, H2. subst. destruct g. exact G.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1. subst b.
    apply Z.leb_le, IZR_le in H2, H3. destruct F as (y & Qy & [_ Y]), G as (z & Qz & [Z0 _]).
    assert (E : IZR T * (IZR a / IZR T) = IZR a) by (field; lra). exists (IZR a / IZR T). split.
    + apply (C y _ z Qy Qz). split; apply (Rmult_le_reg_l (IZR T)); lra.
    + split; cbn [fst snd]; lra.
Qed.

Section Column.
Variables (n j : nat) (c : inner_column) (Q : nat -> R -> Prop).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hc : length c = n.
Hypothesis all_convex : forall l, convex (Q l).
Hypothesis all_sane : forall l x, Q l x -> sane h x.
Hypothesis known : forall l, (l < n)%nat -> entry_right T (Q l) (nth l (rev c) ((0, 0), (0, 0))%Z).

Lemma numbers_of : forall (k : inner_column) numbers,
  (forall l, (l < length k)%nat -> entry_right T (Q l) (nth l (rev k) ((0, 0), (0, 0))%Z)) -> fit numbers k = true ->
  length numbers = length k /\ exists m, (forall l, (l < length k)%nat -> Q l (m l)) /\ (forall l, sane h (m l)) /\
    along (within T) (map (fun x => (Some (fst x), Some (snd x))) numbers) m.
Proof.
  clear known Hc. induction k as [|e k IH]; intros [|x numbers] K F; try discriminate.
  - split; [reflexivity|]. exists (fun _ => 0). split; [intros l Hl; inversion Hl|]. split; [intros l _; lra|exact I].
  - cbn [fit] in F. apply andb_prop in F as [F1 F2]. assert (K' : forall l, (l < length k)%nat ->
      entry_right T (Q l) (nth l (rev k) ((0, 0), (0, 0))%Z)).
    { intros l Hl. specialize (K l ltac:(cbn; lia)). cbn [rev] in K.
      rewrite app_nth1 in K by (rewrite rev_length; exact Hl).
      exact K. }
    destruct (IH numbers K' F2) as (L & m & M & S & A). split; [cbn; congruence|].
    specialize (K (length k) ltac:(cbn; lia)). cbn [rev] in K. rewrite app_nth2 in K by (rewrite rev_length; lia).
    rewrite rev_length, Nat.sub_diag in K. cbn [nth] in K.
    destruct (fits_ok (Q (length k)) x e (all_convex _) K F1) as (y & Qy & [Y1 Y2]).
    exists (fun l => if Nat.eqb l (length k) then y else m l). split; [|split].
    + intros l Hl. destruct (Nat.eqb_spec l (length k)) as [->|N]; [exact Qy|]. apply M. cbn in Hl. lia.
    + intros l. destruct (Nat.eqb l (length k)); [exact (all_sane _ y Qy)|apply S].
    + cbn [map along]. rewrite map_length, L, Nat.eqb_refl. split; [split; assumption|].
      refine (along_ext _ _ _ _ _ _ A). intros l Hl. rewrite map_length, L in Hl.
      destruct (Nat.eqb_spec l (length k)); [lia|reflexivity].
Qed.

Lemma value_of_ok : forall numbers x,
  value_of h T B terms logs (own_at h j) (nth j (mask_of (head_pooling h)) nil) numbers c = Some x ->
  exists m, (forall l, (l < n)%nat -> Q l (m l)) /\ encloses B x (activation_of h n m j).
Proof.
  intros numbers x H. unfold value_of in H. destruct (fit numbers c) eqn:F; [|discriminate].
  destruct (numbers_of c numbers ltac:(rewrite Hc; exact known) F) as (L & m & M & S & A). exists m. rewrite Hc in *.
  split; [exact M|]. apply (pool_column_of h T B terms logs HT HB Hlogs n m j _ x Hn) in H; auto.
  rewrite map_length. exact L.
Qed.

(** Two values of the activation: one is at most the first end, the other one at least the second end. *)
Theorem inner_activation_ok : forall x,
  inner_activation h T B terms logs (own_at h j) (nth j (mask_of (head_pooling h)) nil) c = Some x ->
  (exists m, (forall l, (l < n)%nat -> Q l (m l)) /\ IZR B * activation_of h n m j <= IZR (fst x)) /\
  (exists m, (forall l, (l < n)%nat -> Q l (m l)) /\ IZR (snd x) <= IZR B * activation_of h n m j).
Proof.
  intros x H. unfold inner_activation in H.
  destruct (value_of _ _ _ _ _ _ _ (least_numbers _ _ _ _) _) as [[a low]|] eqn:E1; [|discriminate].
  destruct (value_of _ _ _ _ _ _ _ (greatest_numbers _ _ _ _) _) as [[high b]|] eqn:E2; [|discriminate].
  injection H as <-. apply value_of_ok in E1 as (m1 & K1 & [_ U]), E2 as (m2 & K2 & [V _]).
  split; [exists m1|exists m2]; auto.
Qed.
End Column.
End Sound.
