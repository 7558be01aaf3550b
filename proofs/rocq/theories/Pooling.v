(** From a table of observables to a box of activations: the five poolings.

    [max] and [masked_max] are pooled before the similarity is taken, where it falls or rises; the poolings with a mean take
    the similarity of every patch, once for ends that occur again and again. *)

From Coq Require Import Reals ZArith List Lia Lra.
From Verale Require Import Semantics Grid Log Sums Boxes Columns Direction Similarity Maxima Means MeanDistance.
Import ListNotations.
Open Scope R_scope.

(** What is made of the columns of all prototypes, from their rows of the mask and from what they have of their own. *)
Fixpoint pool_columns {A V} (pool : list Z -> own -> A ->
  V) (rows : list (list Z)) (os : list own) (cs : list A) : list V :=
  match os, cs with
  | o :: os', c :: cs' => pool (hd nil rows) o c :: pool_columns pool (tl rows) os' cs'
  | _, _ => nil
  end.

Lemma length_pool_columns : forall A V (pool : list Z -> own -> A -> V) rows os cs, length os = length cs ->
  length (pool_columns pool rows os cs) = length cs.
Proof.
  intros A V pool rows os. revert rows.
  induction os as [|o os IH]; intros rows [|c cs] H; try discriminate; [reflexivity|].
  cbn [pool_columns length]. rewrite IH; [reflexivity|]. injection H as H. exact H.
Qed.

Lemma nth_pool_columns : forall A V (pool : list Z -> own -> A -> V) os cs rows j o a v, length os = length cs ->
  (j < length cs)%nat -> nth j (pool_columns pool rows os cs) v = pool (nth j rows nil) (nth j os o) (nth j cs a).
Proof.
  intros A V pool. induction os as [|o' os IH]; intros [|c cs] rows j o a v H Hj; cbn [length] in *; try lia.
  destruct j as [|j]; [destruct rows; reflexivity|]. cbn [pool_columns nth]. rewrite (IH cs (tl rows) j o a) by lia.
  destruct rows as [|row rows]; [destruct j|]; reflexivity.
Qed.

Section Pooling.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms).

Let similar_of : own -> ends -> option (Z * Z) := similar_ends h T B terms logs.

(** Enclosures of the similarities of all patches *)
Definition each_similarity (o : own) (c : column) : option box :=
  all_some (map_remembering same_ends (similar_of o) c).

Definition greatest_similarity (o : own) (c : column) : option (Z * Z) :=
  match c with
  | nil => None
  | _ =>
      match direction_of h o with
      | Falls => similar_of o (pooled lesser c)
      | Rises => similar_of o (pooled greater c)
      | Neither => match each_similarity o c with Some s => greatest_ends s | None => None end
      end
  end.

(** The activation of one prototype; [row] is its row of the mask, if there is one. *)
Definition pool_column (row : list Z) (o : own) (c : column) : option (Z * Z) :=
  match head_pooling h with
  | MaxPool => greatest_similarity o c
  | MaskedMax _ => greatest_similarity o (kept row (length c) c)
  | TopMean k => match each_similarity o c with Some s => top_mean_ends k s | None => None end
  | MaxMinusMean => match each_similarity o c with Some s => max_minus_mean_ends s | None => None end
  | MaxMinusMeanDistance => max_minus_mean_distance_ends h T B terms logs o c
  end.

Definition mask_of (p : pooling) : list (list Z) := match p with MaskedMax mask => mask | _ => nil end.

Definition pool_box (t : table) : option box :=
  all_some (pool_columns pool_column (mask_of (head_pooling h)) (owns h) (columns (count h) t)).

Hypothesis HT : (0 < T)%Z.
Hypothesis HB : (0 < B)%Z.
Hypothesis Hlogs : right_logarithms logs.

Lemma similar_of_ok : forall j e m x, within T e m -> sane h m -> similar_of (own_at h j) e = Some x ->
  encloses B x (sim h j m).
Proof.
  intros j e m x W C H. rewrite sim_similar. exact (similar_ends_ok h T B terms logs HT HB Hlogs _ e m x W C H).
Qed.

(** * One prototype *)

Section Column.
Variables (j : nat) (c : column) (m : nat -> R).
Hypothesis all_sane : forall l, sane h (m l).
Hypothesis known : along (within T) c m.

Let g (l : nat) : R := sim h j (m l).

Lemma each_similarity_ok : forall s, each_similarity (own_at h j) c = Some s ->
  length s = length c /\ along (encloses B) s g.
Proof.
  intros s H. apply all_some_spec in H. rewrite (map_remembering_map _ _ same_ends_sound) in H.
  split; [exact (length_values _ _ _ _ _ H)|].
  assert (K : along (fun e x => within T e x /\ sane h x) c m).
  { clear - known all_sane. induction c as [|e c' IH]; [exact I|]. destruct known as [Ke K].
    split; [split; [exact Ke|apply all_sane]|exact (IH K)]. }
  refine (along_values _ _ _ (encloses B) _ (sim h j) c s m _ H K).
  intros e x v [W C]. exact (similar_of_ok j e x v W C).
Qed.

Lemma greatest_similarity_ok : forall x, greatest_similarity (own_at h j) c = Some x ->
  encloses B x (rmax (length c) g).
Proof.
  intros x H. assert (N : (0 < length c)%nat) by (destruct c; [discriminate|cbn; lia]).
  assert (H' : match direction_of h (own_at h j) with
               | Falls => similar_of (own_at h j) (pooled lesser c)
               | Rises => similar_of (own_at h j) (pooled greater c)
               | Neither => match each_similarity (own_at h j) c with Some s => greatest_ends s | None => None end
               end = Some x) by (destruct c; [discriminate|exact H]).
  clear H. destruct (direction_of h (own_at h j)) eqn:D.
  - destruct (least_exists (length c) m N) as (y & Y). unfold g.
    rewrite (greatest_of_falling (length c) (sim h j) m y); [| |exact Y].
    + assert (C : sane h y) by (destruct Y as [(l & _ & ->) _]; apply all_sane).
      exact (similar_of_ok j _ y x (pooled_least T HT c m y known Y) C H').
    + intros l i _ _. apply sim_falls; [exact D|apply all_sane].
  - destruct (greatest_exists (length c) m N) as (y & Y). unfold g.
    rewrite (greatest_of_rising (length c) (sim h j) m y); [| |exact Y].
    + assert (C : sane h y) by (destruct Y as [(l & _ & ->) _]; apply all_sane).
      exact (similar_of_ok j _ y x (pooled_greatest T HT c m y known Y) C H').
    + intros l i _ _. apply sim_rises. exact D.
  - destruct (each_similarity _ c) as [s|] eqn:E; [|discriminate]. destruct (each_similarity_ok s E) as [L K].
    rewrite <- L. exact (greatest_ends_ok B s g x HB K H').
Qed.
End Column.

(** * Activations *)

Lemma pool_column_of : forall n m j c x, (0 < n)%nat -> length c = n -> (forall l, sane h (m l)) ->
  along (within T) c m -> pool_column (nth j (mask_of (head_pooling h)) nil) (own_at h j) c = Some x ->
  encloses B x (activation_of h n m j).
Proof.
  intros n m j c x Hn <- C K H. unfold activation_of. unfold pool_column in H.
  destruct (head_pooling h) as [|mask|k| |].
  - exact (greatest_similarity_ok j c m C K x H).
  - cbn [mask_of] in H. set (row := nth j mask nil) in *. assert (N : seen row (length c) <> nil).
    { intros N. assert (L := length_kept _ row c). rewrite N in L. destruct (kept row (length c) c); discriminate. }
    rewrite (rgreatest_map _ _ N), <- (length_kept _ row c).
    exact (greatest_similarity_ok j _ _ (fun i => C (nth i _ O)) (along_kept _ _ row c m K) x H).
  - destruct (each_similarity _ c) as [s|] eqn:E; [|discriminate].
    destruct (each_similarity_ok j c m C K s E) as [<- Ks].
    exact (top_mean_ends_ok B k s _ x HB Ks H).
  - destruct (each_similarity _ c) as [s|] eqn:E; [|discriminate].
    destruct (each_similarity_ok j c m C K s E) as [<- Ks].
    exact (max_minus_mean_ends_ok B s _ x HB Ks H).
  - rewrite (rmax_ext _ _ (fun l => similar h (own_at h j) (m l)) Hn), sim_similar by (intros; apply sim_similar).
    exact (max_minus_mean_distance_ends_ok h T B terms logs _ c m x HT HB Hlogs Hn (fun l _ => C l) K H).
Qed.

Lemma pool_column_ok : forall n z j c x, (0 < n)%nat -> length c = n ->
  along (within T) c (fun l => observable h (z l) j) ->
  pool_column (nth j (mask_of (head_pooling h)) nil) (own_at h j) c = Some x -> encloses B x (activation h n z j).
Proof. intros n z j c x Hn L. apply pool_column_of; auto. intros l. apply observable_sane. Qed.

Theorem pool_box_ok : forall n t z b, (0 < n)%nat -> table_ok h T n t z -> pool_box t = Some b -> box_ok h B n b z.
Proof.
  intros n t z b Hn Ht H. destruct (columns_ok_table h T n t z Ht) as [Lc Hc]. apply all_some_spec in H.
  assert (Lo : length (owns h) = length (columns (count h) t)) by (rewrite length_owns, Lc; reflexivity).
  assert (Lb : length b = count h).
  { rewrite <- Lc, <- (length_pool_columns _ _ pool_column (mask_of (head_pooling h)) _ _ Lo), H. symmetry.
    apply map_length. }
  split; [exact Lb|]. intros j Hj. destruct (Hc j Hj) as [Lj Kj].
  assert (N := nth_pool_columns _ _ pool_column _ _ (mask_of (head_pooling h)) j (own_at h j) nil None Lo
    ltac:(rewrite Lc; exact Hj)).
  rewrite H, nth_owns in N by exact Hj. apply (pool_column_ok n z j _ _ Hn Lj Kj). rewrite <- N.
  rewrite (nth_indep _ None (Some (0, 0)%Z)) by (rewrite map_length, Lb; exact Hj). apply map_nth.
Qed.
End Pooling.
