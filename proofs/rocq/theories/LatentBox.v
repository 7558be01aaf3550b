(** Observables over a box of latents: ends that hold for every latent whose coordinates lie between given ends.

    A squared distance is a sum of squares, a product a sum of coordinates times integers, and each term is taken at its
    own extremes. A cosine is the product over a length, which lies between two roots. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Root Boxes UnitInterval Vectors SpatialEvaluation EnclosedVolumes
  RowSums LayerBox.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (T : Z) (h : head) (U : positive).
Let S := coord_unit h.

(** The square of a number between two ends, over the square of their unit *)
Definition square_ends (e : Z * Z) : Z * Z :=
  let near := Z.max 0 (Z.max (fst e) (- snd e)) in
  let far := Z.max (- fst e) (snd e) in (near * near, far * far).
Definition length_ends_over (z : list (Z * Z)) : Z * Z := total (map square_ends z).

(** Coordinates are over U and the point's over S, so differences are over U S. *)
Definition shifted_ends (x : Z) (e : Z * Z) : Z * Z := (fst e * Zpos S - x * Zpos U, snd e * Zpos S - x * Zpos U).
Fixpoint distance_ends (p : list Z) (z : list (Z * Z)) : Z * Z :=
  match z with
  | nil => zero
  | e :: z' => add_ends (square_ends (shifted_ends (hd 0 p) e)) (distance_ends (tl p) z')
  end.

(** |z| + E or (|z|^2 + E)^(1/2), over T *)
Definition stretch_over (square : Z * Z) : option (Z * Z) :=
  let finer := rescale_ends (Zpos U * Zpos U) (T * T) square in
  let root e := (root_floor (fst e), root_ceil (snd e)) in
  match head_geometry h with
  | Cosine e =>
      if 0 <=? numerator e
      then Some (add_ends (root finer) (quotient_ends T (numerator e) (Zpos (denominator e)))) else None
  | RootedCosine e =>
      if 0 <=? numerator e
      then Some (root (add_ends finer (quotient_ends (T * T) (numerator e) (Zpos (denominator e))))) else None
  | _ => Some zero
  end.

(** A product over U S, divided by two lengths over T, of which the first one is S times as long *)
Definition cosine_over (D size stretch : Z * Z) : Z * Z :=
  let low := Zpos U * (fst size * fst stretch) in let high := Zpos U * (snd size * snd stretch) in
  match ratio_ends (T * T * T * fst D) low high, ratio_ends (T * T * T * snd D) low high with
  | Some e, Some f => (Z.max (- T) (fst e), Z.min T (snd f))
  | _, _ => (- T, T)
  end.

Definition observed_over (z : list (Z * Z)) (stretch : Z * Z) (m : measured) : option (Z * Z) :=
  match head_geometry h with
  | Euclidean => Some (rescale_ends (Zpos U * Zpos S * (Zpos U * Zpos S)) T (distance_ends (integers m) z))
  | InnerProduct _ => Some (rescale_ends (Zpos U * Zpos S) T (weighted (integers m) z))
  | Cosine _ | RootedCosine _ => Some (cosine_over (weighted (integers m) z) (length_ends m) stretch)
  | Softmax => None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

(** The coordinates of a latent lie between these ends. *)
Definition latent_within (h : head) (U : positive) (z : list (Z * Z)) (v : nat -> R) : Prop :=
  Forall2 (encloses (Zpos U)) z (map v (seq 0 (depth h))).

Lemma latent_sum : forall v n (f : R -> nat -> R),
  rsum (length (map v (seq 0 n))) (fun k => f (nth k (map v (seq 0 n)) 0) k) = rsum n (fun k => f (v k) k).
Proof.
  intros v n f. rewrite map_length, seq_length. apply rsum_ext. intros k Hk. rewrite nth_map_seq by exact Hk.
  reflexivity.
Qed.

Lemma square_ends_ok : forall B e r, encloses B e r -> encloses (B * B) (square_ends e) (r * r).
Proof.
  intros B [a b] r [L H]. unfold encloses, square_ends. cbn [fst snd] in *. rewrite !mult_IZR.
  replace (IZR B * IZR B * (r * r)) with (IZR B * r * (IZR B * r)) by ring. set (x := IZR B * r) in *.
  rewrite !IZR_max, !opp_IZR. unfold Rmax.
  split; destruct (Rle_dec 0 x); repeat destruct (Rle_dec _ _); nra.
Qed.

Lemma square_ends_nonneg : forall e, (0 <= fst (square_ends e))%Z /\ (0 <= snd (square_ends e))%Z.
Proof. intros e. split; apply Z.square_nonneg. Qed.

Lemma squares_ok : forall B es rs, Forall2 (encloses B) es rs ->
  encloses (B * B) (total (map square_ends es)) (rsum (length rs) (fun k => nth k rs 0 * nth k rs 0)).
Proof.
  intros B es rs F. induction F as [|e r es rs E F IH]; [apply zero_ok|]. cbn [length]. rewrite rsum_front.
  apply add_ends_ok; [apply square_ends_ok; exact E|exact IH].
Qed.

Lemma length_ends_nonneg : forall z, (0 <= fst (length_ends_over z))%Z.
Proof.
  induction z as [|e z IH]; [reflexivity|]. unfold length_ends_over, total in *. cbn [map fold_right add_ends fst].
  assert (N := square_ends_nonneg e). lia.
Qed.

Lemma differences_ok : forall h U z rs, Forall2 (encloses (Zpos U)) z rs -> forall p,
  let w := over p (coord_unit h) in
  encloses (Zpos U * Zpos (coord_unit h) * (Zpos U * Zpos (coord_unit h))) (distance_ends h U p z)
    (rsum (length rs) (fun k => (nth k rs 0 - w k) * (nth k rs 0 - w k))).
Proof.
  intros h U z rs F. induction F as [|e r z rs E F IH]; intros p w; [apply zero_ok|].
  cbn [length distance_ends]. rewrite rsum_front. apply add_ends_ok.
  - apply square_ends_ok. destruct E as [L H]. assert (P := Zpos_pos (coord_unit h)). unfold w, over, q.
    replace (nth 0 p 0%Z) with (hd 0%Z p) by (destruct p; reflexivity).
    unfold encloses, shifted_ends. cbn [fst snd nth]. rewrite !minus_IZR, !mult_IZR.
    replace (IZR (Zpos U) * IZR (Zpos (coord_unit h)) * (r - IZR (hd 0%Z p) / IZR (Zpos (coord_unit h)))) with
      (IZR (Zpos U) * r * IZR (Zpos (coord_unit h)) - IZR (hd 0%Z p) * IZR (Zpos U)) by (field; lra).
    apply (Rmult_le_compat_r (IZR (Zpos (coord_unit h)))) in L, H; lra.
  - specialize (IH (tl p)). cbv zeta in IH. rewrite (rsum_ext _ (fun i => _) (fun k =>
      (nth k rs 0 - over (tl p) (coord_unit h) k) * (nth k rs 0 - over (tl p) (coord_unit h) k))); [exact IH|].
    intros k _. cbn [nth]. unfold w, over. destruct p as [|x p]; [destruct k|]; reflexivity.
Qed.

Section Sound.
Variables (T : Z) (h : head) (U : positive) (z : list (Z * Z)) (v : nat -> R).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis within_box : latent_within h U z v.
Let S := coord_unit h.

Lemma length_ends_ok : encloses (Zpos U * Zpos U) (length_ends_over z) (dot h v v).
Proof. unfold dot. rewrite <- (latent_sum v (depth h) (fun x _ => x * x)). apply squares_ok. exact within_box. Qed.

Variable p : list Z.
Let w : nat -> R := over p S.

Lemma distance_ends_ok : encloses (Zpos U * Zpos S * (Zpos U * Zpos S)) (distance_ends h U p z)
  (rsum (depth h) (fun d => (v d - w d) * (v d - w d))).
Proof.
  rewrite <- (latent_sum v (depth h) (fun x d => (x - w d) * (x - w d))). apply differences_ok. exact within_box.
Qed.

Lemma product_ok : encloses (Zpos U * Zpos S) (weighted p z) (dot h v w).
Proof.
  assert (P := Zpos_pos S). destruct (weighted_ok _ _ _ within_box p) as [L H].
  rewrite (latent_sum v (depth h) (fun x d => IZR (nth d p 0%Z) * x)) in L, H.
  assert (E : rsum (depth h) (fun d => IZR (nth d p 0%Z) * v d) = IZR (Zpos S) * dot h v w).
  { unfold dot. rewrite <- rsum_scal. apply rsum_ext. intros d _. unfold w, over, q. field. lra. }
  rewrite E in L, H. unfold encloses. rewrite mult_IZR. split; lra.
Qed.

(** ** Cosines *)

Definition length_and_more : R :=
  match head_geometry h with
  | Cosine e => norm h v + real e
  | RootedCosine e => sqrt (dot h v v + real e)
  | _ => 0
  end.

Lemma roots_ok : forall e x, (0 <= fst e)%Z -> encloses (T * T) e x ->
  encloses T (root_floor (fst e), root_ceil (snd e)) (sqrt x).
Proof.
  intros e x N E. assert (TT : (0 < T * T)%Z) by (apply Z.mul_pos_pos; exact T_positive).
  assert (X := encloses_nonneg _ _ _ TT N E). assert (O := encloses_order _ _ _ E). destruct E as [L H].
  rewrite mult_IZR in L, H. unfold encloses. cbn [fst snd].
  rewrite sqrt_scaled by (try exact X; apply IZR_nonneg; lia).
  split; [apply root_floor_below|apply root_ceil_above]; (assumption || lia).
Qed.

Lemma stretch_over_ok : forall st, stretch_over T h U (length_ends_over z) = Some st ->
  (0 <= fst st)%Z /\ encloses T st length_and_more.
Proof.
  intros st E. unfold stretch_over, length_and_more in *.
  assert (TT : (0 < T * T)%Z) by (apply Z.mul_pos_pos; exact T_positive).
  assert (F := rescale_ends_ok (Zpos U * Zpos U) (T * T) _ _ eq_refl TT length_ends_ok).
  assert (N := rescale_ends_nonneg (Zpos U * Zpos U) (T * T) _ eq_refl TT (length_ends_nonneg z)).
  set (finer := rescale_ends _ _ _) in *.
  destruct (head_geometry h) as [|f|f| |];
    try (injection E as <-; split; [reflexivity|unfold encloses; cbn; lra]);
    destruct (0 <=? numerator f)%Z eqn:P; try discriminate; apply Z.leb_le in P; injection E as <-.
  - split; [apply Z.add_nonneg_nonneg; [apply root_floor_nonneg|]|].
    + apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg; lia|reflexivity].
    + apply add_ends_ok; [exact (roots_ok finer _ N F)|apply quotient_ends_ok; reflexivity].
  - split; [apply root_floor_nonneg|].
    apply (roots_ok (add_ends finer (quotient_ends (T * T) (numerator f) (Zpos (denominator f))))).
    + apply Z.add_nonneg_nonneg; [exact N|]. apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg; lia|reflexivity].
    + apply add_ends_ok; [exact F|apply quotient_ends_ok; reflexivity].
Qed.

Hypothesis p_short : (length p <= depth h)%nat.

Lemma cosine_over_ok : forall st X, (0 <= fst st)%Z -> encloses T st X -> norm h v <= X ->
  encloses T (cosine_over T U (weighted p z) (root_over T (zdot p p)) st) (dot h v w / (norm h w * X)).
Proof.
  intros st X S0 Hs HX. assert (HT := IZR_pos T T_positive). set (m := dot h v w / (norm h w * X)).
  assert (Up : m <= 1) by (apply cosine_at_most_one; exact HX).
  assert (Lo : -1 <= m).
  { assert (V := norm_nonneg h v). assert (N := norm_nonneg h w). assert (C := proj1 (dot_le_norms h v w)).
    assert (K : - dot h v w / (norm h w * X) <= 1) by (apply quotient_at_most_one; nra). unfold m, Rdiv in *. lra. }
  assert (All : encloses T (- T, T)%Z m) by (unfold encloses; cbn [fst snd]; rewrite opp_IZR; nra).
  unfold cosine_over. set (size := root_over T (zdot p p)).
  set (low := (Zpos U * (fst size * fst st))%Z). set (high := (Zpos U * (snd size * snd st))%Z).
  destruct (ratio_ends (T * T * T * fst (weighted p z)) low high) as [e|] eqn:E; [|exact All].
  destruct (ratio_ends (T * T * T * snd (weighted p z)) low high) as [f|] eqn:F; [|exact All].
  assert (Hn := root_over_ok T (zdot p p) T_positive (zdot_square_nonneg p)). fold size in Hn.
  assert (N0 : (0 <= fst size)%Z) by apply root_floor_nonneg.
  assert (P := Zpos_pos S). assert (Q := Zpos_pos U).
  set (n := sqrt (IZR (zdot p p))) in *. assert (W : norm h w = n / IZR (Zpos S)) by (apply norm_over; exact p_short).
  assert (Nn : 0 <= n) by apply sqrt_pos.
  set (d := IZR (Zpos U) * (IZR T * n * (IZR T * X))).
  assert (B : IZR low <= d <= IZR high).
  { unfold low, high, d. rewrite !mult_IZR. apply IZR_nonneg in S0, N0. destruct Hs, Hn.
    split; apply Rmult_le_compat_l; try lra; apply Rmult_le_compat; try lra. }
  assert (D0 : 0 <= d) by (apply IZR_nonneg in S0, N0; destruct Hs, Hn; unfold d; apply Rmult_le_pos; [lra|];
    apply Rmult_le_pos; lra).
  apply (ratio_ends_ok _ _ _ d) in E; [|exact B]. apply (ratio_ends_ok _ _ _ d) in F; [|exact B].
  destruct product_ok as [L H]. rewrite mult_IZR in L, H.
  assert (I : 0 <= / d) by (destruct (Req_dec d 0) as [->|]; [rewrite Rinv_0; lra|left; apply Rinv_0_lt_compat; lra]).
  assert (M : IZR T * m = IZR T * IZR T * IZR T * (IZR (Zpos U) * IZR (Zpos S) * dot h v w) / d).
  { unfold m, d. rewrite W. unfold Rdiv. rewrite !Rinv_mult, Rinv_inv. generalize (/ n) (/ X). intros. field. lra. }
  assert (TTT : 0 <= IZR T * IZR T * IZR T) by (repeat apply Rmult_le_pos; lra).
  assert (below_ : IZR (fst e) <= IZR T * m).
  { eapply Rle_trans; [apply E|]. rewrite M. apply Rmult_le_compat_r; [exact I|]. rewrite !mult_IZR.
    apply Rmult_le_compat_l; assumption. }
  assert (above_ : IZR T * m <= IZR (snd f)).
  { eapply Rle_trans; [|apply F]. rewrite M. apply Rmult_le_compat_r; [exact I|]. rewrite !mult_IZR.
    apply Rmult_le_compat_l; assumption. }
  unfold encloses. cbn [fst snd]. rewrite IZR_max, IZR_min, opp_IZR. unfold Rmax, Rmin.
  split; destruct (Rle_dec _ _); nra.
Qed.

Lemma epsilon_of_stretch : forall square st e, stretch_over T h U square = Some st ->
  head_geometry h = Cosine e \/ head_geometry h = RootedCosine e -> 0 <= real e.
Proof.
  intros square st e E G. apply fraction_nonneg. unfold stretch_over in E.
  destruct G as [G|G]; rewrite G in E; destruct (0 <=? numerator e)%Z; (reflexivity || discriminate).
Qed.

Theorem observed_over_ok : forall j st e, nth j (prototypes h) nil = p ->
  stretch_over T h U (length_ends_over z) = Some st ->
  observed_over T h U z st (measured_of T h p) = Some e -> encloses T e (observable h v j).
Proof.
  intros j st e J E O. destruct (stretch_over_ok st E) as [S0 Ok]. assert (Eps := epsilon_of_stretch (length_ends_over z) st).
  unfold observed_over, observable in *. rewrite coord_over, J. fold S w.
  unfold length_and_more in Ok. unfold measured_of in O. cbn [integers length_ends] in O.
  destruct (head_geometry h) as [|f|f| |] eqn:G; try discriminate; injection O as <-.
  - apply rescale_ends_ok; [reflexivity|exact T_positive|apply distance_ends_ok].
  - apply cosine_over_ok; [exact S0|exact Ok|]. specialize (Eps f E (or_introl eq_refl)). lra.
  - apply cosine_over_ok; [exact S0|exact Ok|]. specialize (Eps f E (or_intror eq_refl)). apply sqrt_le_1_alt. lra.
  - apply rescale_ends_ok; [reflexivity|exact T_positive|apply product_ok].
Qed.
End Sound.
