(** Squared distances of one prototype, whose greatest values may be unbounded, and which patches may be the nearest.

    Where one patch is at its least distance and all others are at their greatest, the mean is that least distance plus
    the sum of the others, divided. Such a pair, a least distance and a sum, is a candidate for the greatest difference
    between the similarity of the nearest patch and that of the mean. *)

From Coq Require Import Reals ZArith List Bool Lia Lra.
From Verale Require Import Semantics Grid Sums Boxes Columns Similarity.
Import ListNotations.
Open Scope R_scope.

(** * Distances of one prototype *)

(** The least distance, and the greatest where it is bounded. A distance is not negative. *)
Definition distance : Type := Z * option Z.

Definition distance_of (e : ends) : distance :=
  (match fst e with Some a => Z.max 0 a | None => 0%Z end, option_map (Z.max 0) (snd e)).

Definition distant (T : Z) (p : distance) (x : R) : Prop :=
  (0 <= fst p)%Z /\ IZR (fst p) <= IZR T * x /\ below T (snd p) x.

Lemma distance_of_ok : forall T e x, (0 < T)%Z -> 0 <= x -> within T e x -> distant T (distance_of e) x.
Proof.
  intros T e x HT Hx W. assert (N := not_negative_ok T HT e x Hx W). destruct (not_negative_sane e) as [S _].
  unfold distance_of. split; [exact (S _ eq_refl)|exact N].
Qed.

(** The sum of the greatest distances that are bounded, and how many are not *)
Definition bounded_sum (c : list distance) : Z :=
  fold_right (fun p s => match snd p with Some b => b + s | None => s end)%Z 0%Z c.
Definition unbounded (c : list distance) : nat :=
  fold_right (fun p n => match snd p with Some _ => n | None => S n end) O c.

(** The sum of the greatest distances of all patches but one, if they are bounded; the one has the distance [p]. *)
Definition others (sum : Z) (infinite : nat) (p : distance) : option Z :=
  match snd p, infinite with Some b, O => Some (sum - b)%Z | None, S O => Some sum | _, _ => None end.

Lemma bounded_sum_ok : forall T c d, along (distant T) c d -> unbounded c = O ->
  IZR T * rsum (length c) d <= IZR (bounded_sum c).
Proof.
  intros T c d. induction c as [|[lo [b|]] c IH]; intros K U; [cbn; lra| |discriminate].
  destruct K as [(_ & _ & Kb) K]. specialize (IH K U). cbn in Kb |- *. rewrite plus_IZR. unfold bounded_sum in IH. lra.
Qed.

Lemma unbounded_in : forall c lo, In (lo, None) c -> unbounded c <> O.
Proof.
  intros c lo. induction c as [|[lo' [b|]] c IH]; intros H; [destruct H| |discriminate].
  destruct H as [H|H]; [discriminate|exact (IH H)].
Qed.

Lemma others_ok : forall T c d l, along (distant T) c d -> (l < length c)%nat ->
  exists p, In p c /\ distant T p (d l) /\ forall s, others (bounded_sum c) (unbounded c) p = Some s ->
    IZR T * rsum (length c) d <= IZR s + IZR T * d l.
Proof.
  intros T c d l. induction c as [|[lo hi] c IH]; intros K Hl; [inversion Hl|]. destruct K as [Kp K].
  destruct (Nat.eq_dec l (length c)) as [->|N].
  - exists (lo, hi). split; [left; reflexivity|]. split; [exact Kp|]. intros s H.
    assert (B := bounded_sum_ok T c d K). cbn [length rsum].
    unfold others, bounded_sum, unbounded in H. cbn [snd fold_right] in H. fold (bounded_sum c) (unbounded c) in H.
    destruct hi as [b|], (unbounded c) as [|u]; try discriminate; injection H as <-; specialize (B eq_refl); [|lra].
    replace (b + bounded_sum c - b)%Z with (bounded_sum c) by lia. lra.
  - destruct (IH K ltac:(cbn in Hl; lia)) as ([lo' hi'] & I & Kp' & H). exists (lo', hi').
    split; [right; exact I|]. split; [exact Kp'|]. intros s E. cbn [length rsum].
    unfold others, bounded_sum, unbounded in E. cbn [snd fold_right] in E. fold (bounded_sum c) (unbounded c) in E.
    unfold others in H. cbn [snd] in H. destruct hi as [b|].
    + destruct Kp as (_ & _ & Kb). cbn in Kb.
      destruct hi' as [b'|], (unbounded c) as [|[|u]]; try discriminate; injection E as <-.
      * specialize (H _ eq_refl). rewrite minus_IZR in *. rewrite plus_IZR. lra.
      * specialize (H _ eq_refl). rewrite plus_IZR. lra.
    + destruct hi' as [b'|]; [discriminate|]. destruct (unbounded c) eqn:U; [|discriminate].
      destruct (unbounded_in c lo' I U).
Qed.

(** * Candidates for the greatest difference *)

(** A patch at its least distance and the sum of all distances then: unbounded, or a number. *)
Definition candidate : Type := Z * option Z.

Definition candidate_of (sum : Z) (infinite : nat) (p : distance) : candidate :=
  (fst p, option_map (Z.add (fst p)) (others sum infinite p)).

Definition candidates (c : list distance) : list candidate := map (candidate_of (bounded_sum c) (unbounded c)) c.

(** A candidate with a smaller distance and a larger sum makes another superfluous. Logarithms are slow. *)
Definition beats (p q : candidate) : bool :=
  (fst p <=? fst q)%Z &&
  match snd p, snd q with None, _ => true | Some a, Some b => (b <=? a)%Z | Some _, None => false end.

Fixpoint unbeaten (found l : list candidate) : list candidate :=
  match l with
  | nil => found
  | p :: l' =>
      unbeaten (if existsb (fun q => beats q p) found then found
                else p :: filter (fun q => negb (beats p q)) found) l'
  end.

Lemma beats_self : forall p, beats p p = true.
Proof. intros [a [b|]]; unfold beats; cbn [fst snd]; rewrite ?Z.leb_refl; reflexivity. Qed.

Lemma beats_trans : forall p q r, beats p q = true -> beats q r = true -> beats p r = true.
Proof.
  intros [a x] [b y] [c z]. unfold beats. cbn [fst snd]. rewrite !andb_true_iff, !Z.leb_le. intros [H1 H2] [H3 H4].
  split; [lia|]. destruct x, y, z; try reflexivity; try discriminate. rewrite Z.leb_le in *. lia.
Qed.

(** Every candidate is beaten by one that is kept. *)
Lemma unbeaten_covers : forall l found p, In p l \/ (exists q, In q found /\ beats q p = true) ->
  exists q, In q (unbeaten found l) /\ beats q p = true.
Proof.
  induction l as [|r l IH]; intros found p H; [destruct H as [[]|H]; exact H|]. cbn [unbeaten]. apply IH.
  destruct (existsb _ found) eqn:E.
  - apply existsb_exists in E. destruct H as [[->|H]|H]; auto.
  - destruct H as [[->|H]|(q & I & Q)]; [right; exists p; split; [left; reflexivity|apply beats_self]|auto|right].
    destruct (beats r q) eqn:R.
    + exists r. split; [left; reflexivity|]. exact (beats_trans r q p R Q).
    + exists q. split; [right; apply filter_In; rewrite R; auto|exact Q].
Qed.

Lemma unbeaten_in : forall l found q, In q (unbeaten found l) -> In q found \/ In q l.
Proof.
  induction l as [|r l IH]; intros found q H; [left; exact H|]. apply IH in H as [H|H]; [|right; right; exact H].
  destruct (existsb _ found); [left; exact H|]. destruct H as [->|H]; [right; left; reflexivity|].
  apply filter_In in H as [H _]. left. exact H.
Qed.
