(** The observables of an image: a table of enclosures at its latents, which are exact.

    The products of a latent with all prototypes are the digits of its product with the packed prototypes (Packing.v),
    which are packed once for all patches of the image. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Packing Boxes Columns Simplex Vectors SpatialEvaluation
  SoftmaxEvaluation.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (T : Z).

Definition as_ends (e : Z * Z) : ends := (Some (fst e), Some (snd e)).

(** Computed once for all patches; softmax has no prototypes. *)
Definition measured_prototypes : option (list measured) :=
  match head_geometry h with
  | Softmax => if is_softmax h then Some nil else None
  | _ =>
      if Nat.eqb (length (prototypes h)) (count h) && forallb (fun p => Nat.leb (length p) (depth h)) (prototypes h)
      then Some (map (measured_of T h) (prototypes h)) else None
  end.

(** What no coordinate exceeds in size *)
Definition largest_of (z : list Z) (most : Z) : Z := fold_right (fun x most => Z.max (Z.abs x) most) most z.
Definition largest (zs : list (list Z)) : Z := fold_right largest_of 0 zs.

(** From how many patches on it pays to pack the prototypes *)
Definition worth_packing : nat := 8.

(** What gives the products of a row with all prototypes. *)
Definition products_for (zs : list (list Z)) : list Z -> list Z :=
  let ps := prototypes h in
  if Nat.leb worth_packing (length zs) then
    let bits := bits_for ps (largest zs) in
    let packed := packs bits (length ps) ps in
    fun z => digits_of bits (length ps) packed (row_of packed z)
  else fun z => map (zdot z) ps.

Definition spatial_row (products : list Z -> list Z) (z : list Z) (U : positive) (ms : list measured) :
  option (list (Z * Z)) :=
  let square := zdot z z in
  match stretch_ends T h U square with
  | Some stretch =>
      all_some (map (fun e => observed_of T h (fst e) U square stretch (snd e)) (combine (products z) ms))
  | None => None
  end.

Definition evaluated_row (terms : nat) (products : list Z -> list Z) (ms : list measured) (i : image) (l : nat) :
  option row :=
  let z := nth l (rows i) nil in
  if Nat.eqb (length z) (depth h) then
    match head_geometry h with
    | Softmax => option_map (map as_ends) (masses T terms (image_unit i) z)
    | _ => option_map (map as_ends) (spatial_row products z (image_unit i) ms)
    end
  else None.

Definition evaluated_table (terms : nat) (i : image) : option table :=
  match measured_prototypes with
  | Some ms => all_some (map (evaluated_row terms (products_for (rows i)) ms i) (seq 0 (length (rows i))))
  | None => None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma as_ends_row_ok : forall h T (es : list (Z * Z)) v, length es = count h ->
  (forall j, (j < count h)%nat -> encloses T (nth j es (0, 0)%Z) (observable h v j)) -> row_ok h T (map as_ends es) v.
Proof.
  intros h T es v L H. split; [rewrite map_length; exact L|]. intros j Hj.
  rewrite (nth_indep _ anything (as_ends (0, 0)%Z)) by (rewrite map_length, L; exact Hj).
  rewrite map_nth. exact (H j Hj).
Qed.

Lemma nth_short : forall (ps : list (list Z)) n j, forallb (fun p => Nat.leb (length p) n) ps = true ->
  (length (nth j ps nil) <= n)%nat.
Proof.
  intros ps n j H. destruct (Nat.lt_ge_cases j (length ps)) as [J|J]; [|rewrite nth_overflow by exact J; cbn; lia].
  rewrite forallb_forall in H. apply Nat.leb_le. apply (H (nth j ps nil)), nth_In, J.
Qed.

(** ** Products *)

Section Products.
Local Open Scope Z_scope.

Lemma largest_of_grows : forall z most, most <= largest_of z most.
Proof. induction z as [|x z IH]; intros most; cbn [largest_of fold_right]; [lia|]. specialize (IH most).
  unfold largest_of in IH. lia.
Qed.

Lemma largest_of_is : forall z most bound, largest_of z most <= bound -> at_most bound z.
Proof.
  induction z as [|x z IH]; intros most bound H; constructor; cbn [largest_of fold_right] in H; [lia|].
  apply (IH most). unfold largest_of. lia.
Qed.

Lemma largest_nonneg : forall zs, 0 <= largest zs.
Proof. induction zs as [|z zs IH]; [reflexivity|]. cbn [largest fold_right].
  assert (G := largest_of_grows z (largest zs)). unfold largest in *. lia.
Qed.

Lemma largest_is : forall zs z, In z zs -> at_most (largest zs) z.
Proof.
  induction zs as [|z' zs IH]; intros z []; cbn [largest fold_right].
  - subst z'. apply (largest_of_is z (largest zs)). reflexivity.
  - assert (G := largest_of_grows z' (largest zs)). unfold largest in *.
    eapply Forall_impl; [|apply IH; assumption]. cbn beta. lia.
Qed.

Lemma products_for_right : forall h zs z, In z zs -> products_for h zs z = map (zdot z) (prototypes h).
Proof.
  intros h zs z I. unfold products_for. destruct (Nat.leb _ _); [|reflexivity]. set (ps := prototypes h).
  assert (S := products_small ps (largest zs) z (fun p => p) (largest_nonneg zs) (largest_is zs z I)
    (fun row => Z.le_refl (sizes row))).
  rewrite map_id in S. apply (digits_of_right _ (bits_for_positive ps (largest zs)) (zdot z)); [|exact S|lia].
  apply row_of_right, bits_for_positive.
Qed.

Lemma combined_products : forall T h z ps,
  combine (map (zdot z) ps) (map (measured_of T h) ps) = map (fun p => (zdot z p, measured_of T h p)) ps.
Proof. intros T h z ps. induction ps as [|p ps IH]; cbn [map combine]; congruence. Qed.
End Products.

Lemma spatial_row_ok : forall h T products z U es, (0 < T)%Z -> length z = depth h ->
  products z = map (zdot z) (prototypes h) -> length (prototypes h) = count h ->
  forallb (fun p => Nat.leb (length p) (depth h)) (prototypes h) = true ->
  spatial_row h T products z U (map (measured_of T h) (prototypes h)) = Some es -> row_ok h T (map as_ends es) (over z U).
Proof.
  intros h T products z U es HT W Q C S E. unfold spatial_row in E.
  destruct (stretch_ends T h U (zdot z z)) as [st|] eqn:X; [|discriminate].
  rewrite Q, combined_products, map_map in E.
  assert (L := length_values _ _ _ _ _ (all_some_spec _ _ _ E)). apply as_ends_row_ok; [congruence|]. intros j Hj.
  assert (N := nth_all_some _ _ _ _ _ j nil (0, 0)%Z E ltac:(congruence)). cbv beta in N.
  apply (observed_ends_ok T h z U HT ltac:(lia) (nth j (prototypes h) nil)) with (st := st);
    auto using nth_short.
Qed.

Theorem evaluated_row_ok : forall h T terms ms i l r, (0 < T)%Z -> measured_prototypes h T = Some ms ->
  (l < length (rows i))%nat -> evaluated_row h T terms (products_for h (rows i)) ms i l = Some r -> row_ok h T r (latents_of i l).
Proof.
  intros h T terms ms i l r HT M Hl E. rewrite latents_over. unfold evaluated_row in E.
  assert (Q := products_for_right h (rows i) (nth l (rows i) nil) (nth_In _ _ Hl)).
  destruct (Nat.eqb _ _) eqn:W; [|discriminate]. apply Nat.eqb_eq in W. unfold measured_prototypes in M.
  destruct (head_geometry h);
    try (destruct (_ && _)%bool eqn:C; [|discriminate]; injection M as <-; apply andb_prop in C as [C S];
         apply Nat.eqb_eq in C; destruct (spatial_row _ _ _ _ _ _) as [es|] eqn:X; [|discriminate];
         injection E as <-; apply (spatial_row_ok h T _ _ (image_unit i)) in X; assumption).
  destruct (is_softmax h) eqn:S; [|discriminate]. destruct (masses _ _ _ _) as [es|] eqn:X; [|discriminate].
  injection E as <-. rewrite (proj2 (is_softmax_ok h S)) in W.
  destruct (masses_ok T terms h _ (image_unit i) HT S W es X). apply as_ends_row_ok; assumption.
Qed.

Theorem evaluated_table_ok : forall h T terms i t, (0 < T)%Z -> evaluated_table h T terms i = Some t ->
  table_ok h T (length (rows i)) t (latents_of i).
Proof.
  intros h T terms i t HT E. unfold evaluated_table in E.
  destruct (measured_prototypes h T) as [ms|] eqn:M; [|discriminate].
  assert (L := length_values _ _ _ _ _ (all_some_spec _ _ _ E)). rewrite seq_length in L. split; [exact L|].
  intros l Hl. apply (evaluated_row_ok h T terms ms); [exact HT|exact M|exact Hl|].
  assert (N := nth_all_some _ _ _ _ _ l O nil E). rewrite seq_length, seq_nth in N by exact Hl. apply N. exact Hl.
Qed.
