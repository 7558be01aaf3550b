(** Softmax heads that pool by the maximum: the box of activations, without a table of all masses.

    The greatest mass of a prototype is at most the greatest of what its patches have as a high end, and at least every
    low end. Of a patch that states something of a few masses, all the others have the same ends; so for each prototype
    the few are looked through, patch by patch. It is the box of [simplex_table], where every patch leaves two masses
    without a high end; else that table says more. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes Ends Columns Direction Similarity Maxima Simplex FewEntries
  Leftover SimplexTable.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (T : Z) (similar_of : own -> ends -> option (Z * Z)) (left_over : leftover) (domain : row).

(** A range of the greatest mass of the prototype [k], widened by what is stated of a patch. *)
Definition widened (k : nat) (r : Z * Z) (patch : Z * few) : Z * Z :=
  let e := few_at k (snd patch) in
  let most := most_of (fst patch) e in
  if (snd r <? most) || (fst r <? fst e) then (Z.max (fst r) (fst e), Z.max (snd r) most) else r.

Definition greatest_mass (k : nat) : ends :=
  let r := fold_left (widened k) (stated_patches left_over) (0, if free_patches left_over =? 0 then 0 else T) in
  (Some (fst r), Some (snd r)).

Definition leaves_two (patch : Z * few) : bool := Nat.ltb (length (snd patch) + 1) (count h).

Definition pools_rising : bool :=
  match head_pooling h with
  | MaxPool => forallb (fun o => match direction_of h o with Rises => true | _ => false end) (owns h)
  | _ => false
  end.

Definition simplex_box : option box :=
  if pools_rising && Nat.ltb 1 (count h) && forallb leaves_two (stated_patches left_over) then
    all_some (map (fun p => similar_of (fst p) (snd p))
      (combine (owns h) (meet_rows domain (map greatest_mass (seq 0 (count h))))))
  else None.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma widened_grows : forall k ps r, (snd r <= snd (fold_left (widened k) ps r))%Z.
Proof.
  intros k. induction ps as [|p ps IH]; intros r; [apply Z.le_refl|]. cbn [fold_left].
  eapply Z.le_trans; [|apply IH]. unfold widened. destruct (_ || _)%bool; cbn [snd]; lia.
Qed.

Lemma widened_covers : forall k ps r rest es, In (rest, es) ps ->
  (most_of rest (few_at k es) <= snd (fold_left (widened k) ps r))%Z.
Proof.
  intros k. induction ps as [|p ps IH]; intros r rest es I; [destruct I|]. cbn [fold_left].
  destruct I as [->|I]; [|apply (IH _ rest es I)]. eapply Z.le_trans; [|apply widened_grows].
  unfold widened. cbn [fst snd].
  destruct (Z.ltb_spec (snd r) (most_of rest (few_at k es))); cbn [orb]; [cbn [snd]; lia|].
  destruct (_ <? _)%Z; cbn [snd]; lia.
Qed.

Lemma widened_low : forall k ps r x, IZR (fst r) <= x ->
  (forall rest es, In (rest, es) ps -> IZR (fst (few_at k es)) <= x) -> IZR (fst (fold_left (widened k) ps r)) <= x.
Proof.
  intros k. induction ps as [|[rest es] ps IH]; intros r x R H; [exact R|]. cbn [fold_left]. apply IH.
  - unfold widened. cbn [fst snd]. destruct (_ || _)%bool; [|exact R]. cbn [fst].
    destruct (Z.max_spec (fst r) (fst (few_at k es))) as [[_ ->]|[_ ->]]; [|exact R]. apply (H rest). left. reflexivity.
  - intros rest' es' I. apply (H rest'). right. exact I.
Qed.

Section Sound.
Variables (h : head) (c : certificate) (z : latents) (T B : Z) (domain : row).
Variable similar_of : own -> ends -> option (Z * Z).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis similar_of_ok : forall o e x r, within T e x -> sane h x -> similar_of o e = Some r ->
  encloses B r (similar h o x).
Hypothesis complying : complies h c z.
Hypothesis softmax : is_softmax h = true.
Hypothesis domain_ok : forall v, patch_in_domain h v -> row_ok h T domain v.
Hypothesis has_patches : (0 < patches c)%nat.
Let kept : leftover := left_of T c (count h).
Let m (k l : nat) : R := observable h (z l) k.

Lemma entries_ends : forall l k, (k < count h)%nat ->
  IZR (fst (few_at k (few_entries T c (count h) l))) <= IZR T * m k l <=
  IZR (most_of (few_remainder T (few_entries T c (count h) l)) (few_at k (few_entries T c (count h) l))).
Proof.
  intros l k Hk. assert (E := entries_hold h c z T l T_positive softmax complying).
  destruct (few_entries_agree T c (count h) l) as (_ & A & _). rewrite few_remainder_is, <- A by exact Hk.
  split; [apply (proj2 E k Hk)|].
  apply (most_of_ok T _ (count h) (fun j => IZR T * observable h (z l) j)); [exact E| |exact Hk].
  rewrite rsum_scal, masses_sum_to_one by (auto; lia). ring.
Qed.

Lemma greatest_mass_ok : forall k x, (k < count h)%nat -> greatest_of (patches c) (m k) x ->
  within T (greatest_mass T kept k) x.
Proof.
  intros k x Hk [(l & Hl & ->) G]. assert (PT := IZR_pos T T_positive). unfold greatest_mass.
  set (r := (0, if free_patches kept =? 0 then 0 else T)%Z).
  split; cbn [fst snd above below].
  - apply widened_low.
    + cbn [r fst]. apply Rmult_le_pos; [lra|]. left. apply mass_positive; assumption.
    + intros rest es I. apply in_map_iff in I as (i & E & I). injection E as <- <-. apply filter_In in I as [I _].
      apply in_seq in I. eapply Rle_trans; [apply entries_ends; exact Hk|]. apply Rmult_le_compat_l; [lra|].
      apply (G i). lia.
  - destruct (has_statement c l) eqn:D.
    + eapply Rle_trans; [apply (entries_ends l k Hk)|]. apply IZR_le.
      apply (widened_covers k (stated_patches kept) r _ (few_entries T c (count h) l)).
      apply in_map_iff. exists l. split; [reflexivity|]. apply filter_In. split; [apply in_seq; lia|exact D].
    + apply Rle_trans with (IZR (snd r)); [|apply IZR_le, widened_grows].
      assert (F : (free_patches kept =? 0)%Z = false).
      { apply Z.eqb_neq. unfold kept. cbn [left_of free_patches]. set (ls := filter _ _).
        assert (I : In l ls) by (apply filter_In; rewrite D; split; [apply in_seq; lia|reflexivity]).
        destruct ls; [destruct I|discriminate]. }
      cbn [r snd]. rewrite F. assert (M := mass_at_most_one h (z l) k softmax Hk). unfold m. nra.
Qed.

Lemma meet_rows_nth : forall (r s : row) j, (j < length r)%nat -> (j < length s)%nat ->
  nth j (meet_rows r s) anything = meet (nth j r anything) (nth j s anything).
Proof.
  induction r as [|a r IH]; intros [|e s] [|j] H1 H2; cbn [length] in *; try lia; [reflexivity|].
  cbn [meet_rows nth]. apply IH; lia.
Qed.

Lemma meet_rows_length : forall (r s : row), length r = length s -> length (meet_rows r s) = length s.
Proof.
  induction r as [|a r IH]; intros [|e s] H; cbn [length meet_rows] in *; try lia. rewrite IH by lia. reflexivity.
Qed.

Theorem simplex_box_ok : forall b, simplex_box h T similar_of kept domain = Some b -> box_ok h B (patches c) b z.
Proof.
  intros b E. unfold simplex_box in E. destruct (pools_rising h) eqn:P; [|discriminate].
  destruct (_ && _)%bool; [|discriminate]. set (ranges := map (greatest_mass T kept) _) in E.
  assert (LR : length ranges = count h) by (unfold ranges; rewrite map_length; apply seq_length).
  assert (LO : length domain = count h) by (apply (domain_ok (z O)), (proj1 complying); exact has_patches).
  assert (LM : length (meet_rows domain ranges) = count h) by (rewrite meet_rows_length; congruence).
  set (pairs := combine (owns h) (meet_rows domain ranges)) in E.
  assert (LP : length pairs = count h).
  { unfold pairs. rewrite combine_length, length_owns, LM. apply Nat.min_id. }
  assert (S := all_some_spec _ _ _ E). split; [rewrite <- LP; exact (length_values _ _ _ _ _ S)|].
  intros k Hk. destruct (greatest_exists (patches c) (m k) has_patches) as [x G].
  assert (X := G). destruct X as [(l & Hl & El) _].
  assert (N := nth_all_some _ _ _ pairs b k (own_at h k, anything) (0, 0)%Z E ltac:(lia)).
  unfold pairs in N. rewrite combine_nth in N by (rewrite length_owns, LM; reflexivity).
  rewrite nth_owns in N by exact Hk. cbn [fst snd] in N.
  unfold pools_rising in P. destruct (head_pooling h) eqn:Pool; try discriminate. rewrite forallb_forall in P.
  assert (I : In (own_at h k) (owns h)).
  { rewrite <- (nth_owns h k (own_at h k) Hk). apply nth_In. rewrite length_owns. exact Hk. }
  specialize (P _ I). destruct (direction_of h (own_at h k)) eqn:R; try discriminate.
  assert (A : activation h (patches c) z k = sim h k x).
  { unfold activation, activation_of. rewrite Pool. apply (greatest_of_rising (patches c) (sim h k) (m k)); [|exact G].
    intros i j _ _. apply sim_rises. exact R. }
  rewrite A, sim_similar. refine (similar_of_ok _ _ x _ _ _ N).
  - rewrite meet_rows_nth by lia. apply meet_ok.
    + rewrite El. unfold m. apply (domain_ok (z l)); [apply (proj1 complying); exact Hl|exact Hk].
    + unfold ranges. rewrite (nth_indep _ anything (greatest_mass T kept O)) by (fold ranges; lia).
      rewrite map_nth, seq_nth by exact Hk. apply greatest_mass_ok; [exact Hk|exact G].
  - rewrite El. apply observable_sane.
Qed.
End Sound.
