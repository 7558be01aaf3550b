(** The claim [picture], and what follows from it and from entailment: network and head give the picture its class.

    The network's latents lie in a box. Whatever the box holds lies in the domain and satisfies every statement: that is
    checked on enclosures of observables over it, and of activations where a statement is about some. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics NetworkSemantics Boxes Sums Grid Log Columns Simplex Direction Vectors
  SpatialEvaluation Evaluation Pooling SumStatements Instance Check EnclosedVolumes LayerBox NetworkBox LatentBox MassBox.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (c : certificate) (s : settings) (U : positive).
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).

(** ** Over a box of latents: for each patch the ends of its coordinates, over U *)

Definition length_inside_over (z : list (Z * Z)) : bool :=
  match head_geometry h with
  | InnerProduct (Some r) =>
      (0 <=? numerator r) &&
      (snd (length_ends_over z) * (Zpos (denominator r) * Zpos (denominator r)) <=?
        numerator r * numerator r * (Zpos U * Zpos U))
  | Cosine e | RootedCosine e => negb (numerator e =? 0) || (0 <? fst (length_ends_over z))
  | _ => true
  end.

Definition patch_inside (z : list (Z * Z)) : bool :=
  forallb (fun e => coordinate_inside h U (fst e) && coordinate_inside h U (snd e)) z && length_inside_over z.

Definition row_over (ms : list measured) (z : list (Z * Z)) : option row :=
  option_map (map as_ends)
    match head_geometry h with
    | Softmax => masses_over T (terms s) U z
    | _ =>
        match stretch_over T h U (length_ends_over z) with
        | Some stretch => all_some (map (observed_over T h U z stretch) ms)
        | None => None
        end
    end.

Definition table_over (b : list (list (Z * Z))) : option table :=
  match measured_prototypes h T with
  | Some ms => all_some (map (row_over ms) b)
  | None => None
  end.

(** The head's activations are enclosed only if a statement is about some. *)
Definition statements_over (t : table) : bool :=
  let true_for b := forallb (statement_true T t B b (statement_unit c) (sum_true h c B b)) (statements c) in
  if forallb about_a_patch (statements c) then true_for nil
  else match pool_box h T B (terms s) (logarithms_for B (terms s)) t with Some b => true_for b | None => false end.

Definition complies_over (b : list (list (Z * Z))) : bool :=
  Nat.ltb 0 (length b) && Nat.eqb (length b) (patches c) && forallb patch_inside b &&
  match table_over b with Some t => statements_over t | None => false end.

(** ** Over what a network gives *)

Definition latents_over (e : enclosed) : list (list (Z * Z)) :=
  map (fun l => map (fun d => found e d (Nat.div l (wide e)) (Nat.modulo l (wide e))) (seq 0 (planes e)))
    (seq 0 (tall e * wide e)).

(** The ends of the latents that a network gives for a picture, patch by patch, over [U]. *)
Definition picture_latents (terms : nat) (n : network) (p : picture) : option (list (list (Z * Z))) :=
  match enclosed_output (Zpos U) terms n p with
  | Some e => if Nat.eqb (planes e) (depth h) then Some (latents_over e) else None
  | None => None
  end.

Definition picture_proved (n : network) (p : picture) : bool :=
  match picture_latents (terms s) n p with Some b => complies_over b | None => false end.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (c : certificate) (s : settings) (U : positive).
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).

Lemma length_inside_over_ok : forall z v, latent_within h U z v -> length_inside_over h U z = true ->
  match head_geometry h with
  | InnerProduct (Some r) => norm h v <= real r
  | Cosine e | RootedCosine e => real e = 0 -> 0 < norm h v
  | _ => True
  end.
Proof.
  intros z v W H. assert (P := Zpos_pos U). destruct (length_ends_ok h U z v W) as [L G]. rewrite mult_IZR in L, G.
  unfold length_inside_over in H.
  assert (Positive : forall e, (negb (numerator e =? 0) || (0 <? fst (length_ends_over z)))%Z = true -> real e = 0 ->
    0 < norm h v).
  { intros e K Z0. apply real_zero in Z0. rewrite Z0 in K. apply Z.ltb_lt, IZR_pos in K. apply sqrt_lt_R0.
    apply (Rmult_lt_reg_l (IZR (Zpos U) * IZR (Zpos U))); [apply Rmult_lt_0_compat; exact P|]. lra. }
  destruct (head_geometry h) as [|e|e|[r|]|]; try exact I; try (apply Positive; exact H).
  apply andb_prop in H as [N H]. apply Z.leb_le, IZR_nonneg in N. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
  assert (Q := Zpos_pos (denominator r)). unfold norm, real, q. set (d := IZR (Zpos (denominator r))) in *.
  set (k := IZR (numerator r)) in *. set (y := IZR (Zpos U)) in *.
  assert (K : 0 <= k / d) by (apply div_nonneg; assumption). rewrite <- (sqrt_square _ K). apply sqrt_le_1_alt.
  replace (k / d * (k / d)) with (k * k / (d * d)) by (field; lra).
  apply le_div_iff; [apply Rmult_lt_0_compat; exact Q|].
  apply (Rmult_le_reg_l (y * y)); [apply Rmult_lt_0_compat; exact P|].
  apply Rle_trans with (IZR (snd (length_ends_over z)) * (d * d)); [|lra].
  replace (y * y * (d * d * dot h v v)) with (y * y * dot h v v * (d * d)) by ring.
  apply Rmult_le_compat_r; [nra|exact G].
Qed.

Lemma patch_inside_ok : forall z v, latent_within h U z v -> patch_inside h U z = true -> patch_in_domain h v.
Proof.
  intros z v W H. apply andb_prop in H as [C L]. split; [|exact (length_inside_over_ok z v W L)].
  destruct (nth_within h U z v W) as [N E]. intros d Hd. rewrite forallb_forall in C.
  specialize (C (nth d z zero) (@nth_In _ d z zero ltac:(lia))). specialize (E d Hd) as [A G].
  apply andb_prop in C as [C1 C2]. unfold coordinate_inside in C1, C2.
  apply andb_prop in C1 as [C1 _]. apply andb_prop in C2 as [_ C2]. assert (P := Zpos_pos U). split.
  - destruct (lower h) as [a|]; [|exact I]. apply Rle_trans with (q (fst (nth d z zero)) U).
    + apply q_le, Z.leb_le. exact C1.
    + apply div_le_iff; assumption.
  - destruct (upper h) as [b|]; [|exact I]. apply Rle_trans with (q (snd (nth d z zero)) U).
    + apply le_div_iff; assumption.
    + apply q_le, Z.leb_le. exact C2.
Qed.

Lemma row_over_ok : forall ms z v r, measured_prototypes h T = Some ms -> latent_within h U z v ->
  row_over h s U ms z = Some r -> row_ok h T r v.
Proof.
  intros ms z v r M W E. unfold row_over in E. fold T in E. unfold measured_prototypes in M.
  assert (spatial : (if Nat.eqb (length (prototypes h)) (count h) &&
      forallb (fun p => Nat.leb (length p) (depth h)) (prototypes h)
      then Some (map (measured_of T h) (prototypes h)) else None) = Some ms ->
    option_map (map as_ends) match stretch_over T h U (length_ends_over z) with
      | Some stretch => all_some (map (observed_over T h U z stretch) ms)
      | None => None
      end = Some r -> row_ok h T r v).
  { clear M E. intros M E. destruct (_ && _)%bool eqn:C; [|discriminate]. injection M as <-.
    apply andb_prop in C as [C S]. apply Nat.eqb_eq in C.
    destruct (stretch_over _ _ _ _) as [st|] eqn:X; [|discriminate].
    destruct (all_some _) as [es|] eqn:A; [|discriminate]. injection E as <-. rewrite map_map in A.
    assert (L := length_values _ _ _ _ _ (all_some_spec _ _ _ A)). apply as_ends_row_ok; [congruence|]. intros j Hj.
    assert (N := nth_all_some _ _ _ _ _ j nil (0, 0)%Z A ltac:(congruence)). cbv beta in N.
    apply (observed_over_ok T h U z v eq_refl W (nth j (prototypes h) nil) (nth_short _ _ j S) j st); auto. }
  destruct (head_geometry h); try (apply spatial; assumption). clear spatial.
  destruct (is_softmax h) eqn:S; [|discriminate]. destruct (masses_over _ _ _ _) as [es|] eqn:X; [|discriminate].
  injection E as <-. destruct (masses_over_ok T (terms s) h U z v es eq_refl S W X).
  apply as_ends_row_ok; assumption.
Qed.

(** Whatever lies in the box complies with the certificate. *)
Theorem complies_over_ok : forall b z, complies_over h c s U b = true ->
  (forall l, (l < length b)%nat -> latent_within h U (nth l b nil) (z l)) -> complies h c z.
Proof.
  intros b z H W. unfold complies_over in H. apply andb_prop in H as [H G]. apply andb_prop in H as [H D].
  apply andb_prop in H as [Hn N]. apply Nat.ltb_lt in Hn. apply Nat.eqb_eq in N. rewrite forallb_forall in D.
  split.
  - intros l Hl. apply (patch_inside_ok (nth l b nil)); [apply W; lia|]. apply D, nth_In. lia.
  - destruct (table_over h s U b) as [t|] eqn:E; [|discriminate].
    assert (K : table_ok h T (patches c) t z).
    { unfold table_over in E. fold T in E. destruct (measured_prototypes h T) as [ms|] eqn:M; [|discriminate].
      assert (L := length_values _ _ _ _ _ (all_some_spec _ _ _ E)). split; [congruence|]. intros l Hl.
      apply (row_over_ok ms (nth l b nil)); [exact M|apply W; lia|].
      apply (nth_all_some _ _ _ _ _ l nil nil E). lia. }
    intros st I. unfold statements_over in G. fold T B in G.
    destruct (forallb about_a_patch (statements c)) eqn:A.
    + rewrite forallb_forall in A, G.
      apply (statement_true_ok h c T t B nil); try reflexivity; auto.
    + destruct (pool_box _ _ _ _ _ _) as [bx|] eqn:P; [|discriminate]. rewrite forallb_forall in G.
      apply (statement_true_ok h c T t B bx); try reflexivity; auto. right.
      apply (pool_box_ok h T B (terms s) (logarithms_for B (terms s))) with (t := t); try reflexivity;
        [apply logarithms_for_right|lia|exact K|exact P].
Qed.

Lemma latents_over_ok : forall e n p, encloses_volume (Zpos U) e (output n p) -> planes e = depth h ->
  length (latents_over e) = network_patches n p /\
  forall l, (l < length (latents_over e))%nat ->
  latent_within h U (nth l (latents_over e) nil) (network_latents n p l).
Proof.
  intros e n p (EC & EH & EW & E) D. unfold latents_over, network_patches. rewrite map_length, seq_length.
  split; [congruence|]. intros l Hl. rewrite nth_map_seq by exact Hl. unfold latent_within, network_latents.
  rewrite <- EW, <- D. apply Forall2_same. intros d I. apply in_seq in I. assert (W : wide e <> O) by nia.
  apply E; [lia| |].
  - rewrite <- EH. apply Nat.div_lt_upper_bound; [exact W|nia].
  - rewrite <- EW. apply Nat.mod_upper_bound. exact W.
Qed.

(** The latents that a network gives for a picture lie within their ends. *)
Lemma picture_latents_ok : forall terms n p b, picture_latents h U terms n p = Some b ->
  gives_latents n p /\ channels (output n p) = depth h /\ length b = network_patches n p /\
  forall l, (l < length b)%nat -> latent_within h U (nth l b nil) (network_latents n p l).
Proof.
  intros terms n p b E. unfold picture_latents in E. destruct (enclosed_output _ _ _ _) as [e|] eqn:O; [|discriminate].
  destruct (Nat.eqb (planes e) (depth h)) eqn:D; [|discriminate]. injection E as <-. apply Nat.eqb_eq in D.
  apply enclosed_output_ok in O as [F O]; [|reflexivity]. split; [exact F|].
  split; [destruct O as (EC & _); congruence|exact (latents_over_ok e n p O D)].
Qed.

(** The theorem: what is accepted is true. What was found of a picture once serves for all certificates. *)
Theorem latents_comply_sound : forall terms n p b, picture_latents h U terms n p = Some b ->
  complies_over h c s U b = true -> pictured h c n p.
Proof.
  intros terms n p b E H. apply picture_latents_ok in E as (F & D & L & W). assert (C := complies_over_ok _ _ H W).
  split; [exact F|]. split; [exact D|]. split; [|exact C].
  unfold complies_over in H. apply andb_prop in H as [H _]. apply andb_prop in H as [H _].
  apply andb_prop in H as [_ H]. apply Nat.eqb_eq in H. congruence.
Qed.

Corollary picture_proved_sound : forall n p, picture_proved h c s U n p = true -> pictured h c n p.
Proof.
  intros n p H. unfold picture_proved in H. destruct (picture_latents _ _ _ _ _) as [b|] eqn:E; [|discriminate].
  exact (latents_comply_sound _ n p b E H).
Qed.
End Sound.

Theorem picture_latents_sound : forall h U terms n p b, picture_latents h U terms n p = Some b ->
  gives_latents n p /\ length b = network_patches n p /\
  forall l, (l < length b)%nat -> latent_within h U (nth l b nil) (network_latents n p l).
Proof.
  intros h U terms n p b E.
  destruct (picture_latents_ok h (Settings 1 1 0) U terms n p b E) as (F & _ & L).
  exact (conj F L).
Qed.

(** Of what is prepared for [check] it needs head and settings alone. *)
Definition check_picture (r : prepared) (c : certificate) : positive -> network -> picture -> bool :=
  picture_proved (head_of r) c (settings_of r).

Theorem check_picture_sound : forall h s c U n p, check_picture (prepare h s) c U n p = true -> pictured h c n p.
Proof. intros h s c. exact (picture_proved_sound h c s). Qed.

(** * The class of the picture *)

(** Entailment and the claim [picture] together: network and head give the picture the predicted class, by the stated
    margins. *)
Theorem entailed_pictured_classified : forall h c n p, (predicted c < classes h)%nat ->
  entails h c -> pictured h c n p -> network_gives h n p (predicted c) (margin c).
Proof.
  intros h c n p K E (F & _ & N & C). split; [exact F|]. split; [exact K|]. intros r Hr Hk. rewrite N.
  destruct (E _ C r Hr Hk). split; lra.
Qed.

(** Through the checkers. *)
Corollary check_classified_picture : forall h s s' cs c x U n p, Nat.ltb (predicted c) (classes h) = true ->
  check (fold_left learn cs (prepare h s)) c x = true -> check_picture (prepare h s') c U n p = true ->
  network_gives h n p (predicted c) (margin c).
Proof.
  intros h s s' cs c x U n p K E I. apply Nat.ltb_lt in K.
  apply entailed_pictured_classified; [exact K| |exact (check_picture_sound h s' c U n p I)].
  exact (check_learned_sound h s cs c x E).
Qed.
