(** The observables of an image: a table of enclosures at its latents, which are exact. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes Columns Simplex Vectors SpatialEvaluation SoftmaxEvaluation.
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

Definition spatial_row (z : list Z) (U : positive) (ms : list measured) : option (list (Z * Z)) :=
  let square := zdot z z in
  match stretch_ends T h U square with
  | Some stretch => all_some (map (observed_ends T h z U square stretch) ms)
  | None => None
  end.

Definition evaluated_row (terms : nat) (ms : list measured) (i : image) (l : nat) : option row :=
  let z := nth l (rows i) nil in
  if Nat.eqb (length z) (depth h) then
    match head_geometry h with
    | Softmax => option_map (map as_ends) (masses T terms (image_unit i) z)
    | _ => option_map (map as_ends) (spatial_row z (image_unit i) ms)
    end
  else None.

Definition evaluated_table (terms : nat) (i : image) : option table :=
  match measured_prototypes with
  | Some ms => all_some (map (evaluated_row terms ms i) (seq 0 (length (rows i))))
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

Lemma spatial_row_ok : forall h T z U es, (0 < T)%Z -> length z = depth h -> length (prototypes h) = count h ->
  forallb (fun p => Nat.leb (length p) (depth h)) (prototypes h) = true ->
  spatial_row h T z U (map (measured_of T h) (prototypes h)) = Some es -> row_ok h T (map as_ends es) (over z U).
Proof.
  intros h T z U es HT W C S E. unfold spatial_row in E.
  destruct (stretch_ends T h U (zdot z z)) as [st|] eqn:X; [|discriminate]. rewrite map_map in E.
  assert (L := length_values _ _ _ _ _ (all_some_spec _ _ _ E)). apply as_ends_row_ok; [congruence|]. intros j Hj.
  assert (N := nth_all_some _ _ _ _ _ j nil (0, 0)%Z E ltac:(congruence)). cbv beta in N.
  apply (observed_ends_ok T h z U HT ltac:(lia) (nth j (prototypes h) nil)) with (st := st);
    auto using nth_short.
Qed.

Theorem evaluated_row_ok : forall h T terms ms i l r, (0 < T)%Z -> measured_prototypes h T = Some ms ->
  evaluated_row h T terms ms i l = Some r -> row_ok h T r (latents_of i l).
Proof.
  intros h T terms ms i l r HT M E. rewrite latents_over. unfold evaluated_row in E.
  destruct (Nat.eqb _ _) eqn:W; [|discriminate]. apply Nat.eqb_eq in W. unfold measured_prototypes in M.
  destruct (head_geometry h);
    try (destruct (_ && _)%bool eqn:C; [|discriminate]; injection M as <-; apply andb_prop in C as [C S];
         apply Nat.eqb_eq in C; destruct (spatial_row _ _ _ _ _) as [es|] eqn:X; [|discriminate];
         injection E as <-; apply (spatial_row_ok h T _ (image_unit i)); assumption).
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
  intros l Hl. apply (evaluated_row_ok h T terms ms); [exact HT|exact M|].
  assert (N := nth_all_some _ _ _ _ _ l O nil E). rewrite seq_length, seq_nth in N by exact Hl. apply N. exact Hl.
Qed.
