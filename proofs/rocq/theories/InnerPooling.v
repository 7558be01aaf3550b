(** Numbers that certainly lie in the range of every activation, from numbers that lie in those of the observables.

    What the head computes of any observables in their ranges lies in the range of the activation. So its lower end is at
    most the upper end of an enclosure of one such value, and its upper end at least the lower end of another one. Which
    observables give the least and the greatest value need not be proved, only that they lie in their ranges. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Grid Log Boxes Columns Direction Similarity Pooling InnerDomain.
Import ListNotations.

(** * What runs *)

(** Two numbers of each range, over the unit [T]; the first entry is about the last patch. *)
Definition inner_column : Type := list (Z * Z).

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms) (o : own).

(** Where a similarity is least and greatest; one that has a peak, away from it and near it. *)
Definition worst (e : Z * Z) : Z :=
  match direction_of h o with
  | Falls => snd e
  | Rises => fst e
  | Neither =>
      if Zpos (denominator (snd o)) * (fst e + snd e) <=? 2 * T * numerator (snd o) then fst e else snd e
  end.
Definition into (e : Z * Z) (x : Z) : Z := Z.min (snd e) (Z.max (fst e) x).
Definition best (e : Z * Z) : Z :=
  match direction_of h o with
  | Falls => fst e
  | Rises => snd e
  | Neither => into e (floor_div (T * numerator (snd o)) (Zpos (denominator (snd o))))
  end.

(** One number that is in as many ranges as may be, and else the nearest one *)
Definition levelled (c : inner_column) : list Z :=
  match c with
  | nil => nil
  | e :: c' =>
      let t := match direction_of h o with
               | Falls => fold_right Z.min (snd e) (map snd c')
               | _ => fold_right Z.max (fst e) (map fst c')
               end in
      map (fun e => into e t) c
  end.

(** One patch at its best, and all others at their worst; and which one, of [count]. *)
Fixpoint one_best (place : nat) (c : inner_column) : list Z :=
  match c, place with
  | nil, _ => nil
  | e :: c', O => best e :: map worst c'
  | e :: c', S place' => worst e :: one_best place' c'
  end.
Definition outdoes (count : Z) (e f : Z * Z) : bool :=
  match direction_of h o with
  | Falls => (fst e <? fst f) || (fst e =? fst f) && (snd e <? snd f)
  | _ => (count - 1) * snd f + fst f <? (count - 1) * snd e + fst e
  end.
Fixpoint place_of (count : Z) (i : nat) (chosen : nat * (Z * Z)) (c : inner_column) : nat :=
  match c with
  | nil => fst chosen
  | e :: c' => place_of count (S i) (if outdoes count e (snd chosen) then (i, e) else chosen) c'
  end.
Definition best_alone (c : inner_column) : list Z :=
  match c with
  | nil => nil
  | e :: c' => one_best (place_of (Z.of_nat (length c)) 1 (0%nat, e) c') c
  end.

Definition least_points (c : inner_column) : list Z :=
  match head_pooling h with
  | MaxMinusMean | MaxMinusMeanDistance => levelled c
  | _ => map worst c
  end.
Definition greatest_points (c : inner_column) : list Z :=
  match head_pooling h with
  | MaxMinusMean | MaxMinusMeanDistance => best_alone c
  | _ => map best c
  end.

(** Whether each number lies between the two of its patch, and may be an observable. *)
Fixpoint fit (points : list Z) (c : inner_column) : bool :=
  match points, c with
  | nil, nil => true
  | x :: points', e :: c' =>
      (fst e <=? x) && (x <=? snd e) && (negb (euclidean h) || (0 <=? x)) && fit points' c'
  | _, _ => false
  end.

Definition value_of (row : list Z) (points : list Z) (c : inner_column) : option (Z * Z) :=
  if fit points c then pool_column h T B terms logs row o (map (fun x => (Some x, Some x)) points) else None.

(** [row] is that of the mask. *)
Definition inner_activation (row : list Z) (c : inner_column) : option (Z * Z) :=
  match value_of row (least_points c) c, value_of row (greatest_points c) c with
  | Some (_, low), Some (high, _) => Some (low, high)
  | _, _ => None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms).
Hypothesis HT : (0 < T)%Z.
Hypothesis HB : (0 < B)%Z.
Hypothesis Hlogs : right_logarithms logs.
Let RT : 0 < IZR T := IZR_pos T HT.

(** What the points say: number l is that of patch l. *)
Definition number_at (points : list Z) (l : nat) : R := IZR (nth l (rev points) 0%Z) / IZR T.

Lemma points_along : forall points, along (within T) (map (fun x => (Some x, Some x)) points) (number_at points).
Proof.
  induction points as [|x points IH]; [exact I|]. cbn [map along]. rewrite map_length. split.
  - unfold number_at. cbn [rev]. rewrite app_nth2; rewrite rev_length; [|lia]. rewrite Nat.sub_diag. cbn [nth].
    split; cbn [fst snd above below]; right; field; lra.
  - refine (along_ext _ _ _ _ _ _ IH). intros l Hl. rewrite map_length in Hl. unfold number_at. cbn [rev].
    rewrite app_nth1 by (rewrite rev_length; exact Hl). reflexivity.
Qed.

Lemma fit_spec : forall points c, fit h points c = true ->
  Forall2 (fun x e => (fst e <= x <= snd e)%Z /\ (head_geometry h = Euclidean -> (0 <= x)%Z)) points c.
Proof.
  induction points as [|x points IH]; intros [|e c] H; try discriminate; [constructor|]. cbn [fit] in H.
  apply andb_prop in H as [H F]. apply andb_prop in H as [H S]. apply andb_prop in H as [H1 H2].
  apply Z.leb_le in H1, H2. constructor; [|exact (IH c F)]. split; [lia|]. intros G. apply euclidean_true in G.
  rewrite G in S. apply Z.leb_le. exact S.
Qed.

Lemma Forall2_rev : forall A A' (P : A -> A' -> Prop) l l', Forall2 P l l' -> Forall2 P (rev l) (rev l').
Proof.
  intros A A' P l l' H. induction H; [constructor|]. cbn [rev]. apply Forall2_app; [assumption|]. repeat constructor.
  assumption.
Qed.

Lemma Forall2_nth : forall A A' (P : A -> A' -> Prop) l l' d d' i, Forall2 P l l' -> (i < length l)%nat ->
  P (nth i l d) (nth i l' d').
Proof.
  intros A A' P l l' d d' i H. revert i. induction H; intros [|i] Hi; cbn in *; try lia; [assumption|].
  apply IHForall2. lia.
Qed.

Section Column.
Variables (n j : nat) (c : inner_column) (Q : nat -> R -> Prop).
Hypothesis Hn : (0 < n)%nat.
Hypothesis Hc : length c = n.
Hypothesis known : forall l, (l < n)%nat -> all_within T (nth l (rev c) (0, 0)%Z) (Q l).

Lemma value_of_ok : forall points x,
  value_of h T B terms logs (own_at h j) (nth j (mask_of (head_pooling h)) nil) points c = Some x ->
  exists m, (forall l, (l < n)%nat -> Q l (m l)) /\ encloses B x (activation_of h n m j).
Proof.
  intros points x H. unfold value_of in H. destruct (fit h points c) eqn:F; [|discriminate].
  apply fit_spec in F. assert (L : length points = length c) by (clear - F; induction F; cbn; congruence).
  rewrite Hc in L. apply Forall2_rev in F. exists (number_at points). split.
  - intros l Hl. apply (known l Hl). destruct (Forall2_nth _ _ _ _ _ 0%Z (0, 0)%Z l F ltac:(rewrite rev_length; lia)) as [[A C] _].
    unfold number_at. apply IZR_le in A, C.
    replace (IZR T * (IZR (nth l (rev points) 0%Z) / IZR T)) with (IZR (nth l (rev points) 0%Z)) by (field; lra).
    split; assumption.
  - apply (pool_column_of h T B terms logs HT HB Hlogs n (number_at points) j _ x Hn) in H; [exact H| | |].
    + rewrite map_length. exact L.
    + intros l G. unfold number_at. apply div_nonneg; [|exact RT]. apply IZR_nonneg.
      destruct (Nat.lt_ge_cases l (length points)) as [Hl|Hl].
      * exact (proj2 (Forall2_nth _ _ _ _ _ 0%Z (0, 0)%Z l F ltac:(rewrite rev_length; exact Hl)) G).
      * rewrite nth_overflow by (rewrite rev_length; exact Hl). lia.
    + apply points_along.
Qed.

Theorem inner_activation_ok : forall x,
  inner_activation h T B terms logs (own_at h j) (nth j (mask_of (head_pooling h)) nil) c = Some x ->
  all_within B x (range_of (fun g => exists m, (forall l, (l < n)%nat -> Q l (m l)) /\ g = activation_of h n m j)).
Proof.
  intros x H y [Lo Hi] e He. unfold inner_activation in H.
  destruct (value_of _ _ _ _ _ _ _ (least_points _ _ _ _) _) as [[a low]|] eqn:E1; [|discriminate].
  destruct (value_of _ _ _ _ _ _ _ (greatest_points _ _ _ _) _) as [[high b]|] eqn:E2; [|discriminate].
  injection H as <-. apply value_of_ok in E1 as (m1 & K1 & [_ U]), E2 as (m2 & K2 & [V _]). cbn [fst snd] in *.
  apply IZR_pos in HB. split.
  - exists (activation_of h n m1 j). split; [exists m1; auto|]. apply (Rmult_le_reg_l (IZR B)); [exact HB|].
    rewrite Rmult_plus_distr_l. assert (0 < IZR B * e) by (apply Rmult_lt_0_compat; assumption). lra.
  - exists (activation_of h n m2 j). split; [exists m2; auto|]. apply (Rmult_le_reg_l (IZR B)); [exact HB|].
    rewrite Rmult_minus_distr_l. assert (0 < IZR B * e) by (apply Rmult_lt_0_compat; assumption). lra.
Qed.
End Column.
End Sound.
