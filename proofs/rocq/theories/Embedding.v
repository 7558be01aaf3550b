(** The vector that the statements about a patch speak of, and what is known of it without any statement.

    Euclidean and inner product: y = S z, where S is the unit of the coordinates. Cosines: y = S u, where
    u = z / (|z| + E), of the rooted kind u = z / (|z|^2 + E)^(1/2). In these terms an observable is a function of
    the kind that [Quadratic.v] bounds, with the integer prototype P = S p as its vector:

        |y|^2 - 2 <y, P> + |P|^2 = S^2 m  (euclidean),   - 2 <y, P> = - 2 S^2 m  (inner product),
        - 2 <y, P> = - 2 S |P| m  (cosines).

    So it is [slope] times [size] times the observable. Only the size |P| is not an integer; it is enclosed. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Root Quadratic.
Import ListNotations.
Open Scope R_scope.

(** Sizes are enclosed over this unit. *)
Definition fine : Z := 2 ^ 128.

Section Embedding.
Variable h : head.

Definition unit_of : Z := Zpos (coord_unit h).
Definition points (j : nat) : list Z := nth j (prototypes h) nil.

(** What y is divided by. *)
Definition stretch (v : nat -> R) : R :=
  match head_geometry h with
  | Cosine e => norm h v + real e
  | RootedCosine e => sqrt (dot h v v + real e)
  | _ => 1
  end.

Definition embedded (v : nat -> R) : nat -> R := fun d => IZR unit_of / stretch v * v d.

Definition size (j : nat) : R :=
  match head_geometry h with
  | Cosine _ | RootedCosine _ => sqrt (inner (depth h) (vector (points j)) (vector (points j)))
  | _ => 1
  end.

Definition curvature : Z := match head_geometry h with Euclidean => 1 | _ => 0 end.
Definition constant (F square : Z) : Z := match head_geometry h with Euclidean => F * square | _ => 0 end.
Definition slope : Z :=
  match head_geometry h with
  | Euclidean => unit_of * unit_of
  | Cosine _ | RootedCosine _ => - 2 * unit_of
  | _ => - 2 * (unit_of * unit_of)
  end.

(** The heads that this is about. *)
Definition spatial : bool :=
  match head_geometry h with
  | Euclidean | InnerProduct _ => true
  | Cosine e | RootedCosine e => (0 <=? numerator e)%Z
  | Softmax => false
  end.

Hypothesis is_spatial : spatial = true.
Let S := IZR unit_of.
Let S_positive : 0 < S. Proof. apply unit_positive. Qed.
Let D := depth h.

Lemma coord_vector : forall j d, coord h j d = / S * vector (points j) d.
Proof. intros. unfold coord, q, vector, points, S, unit_of, Rdiv. ring. Qed.

Lemma real_nonneg : forall f, (0 <=? numerator f)%Z = true -> 0 <= real f.
Proof.
  intros f H. apply Z.leb_le, IZR_le in H. unfold real, q. apply div_nonneg; [exact H|apply unit_positive].
Qed.

Lemma stretch_positive : forall v, patch_in_domain h v -> 0 < stretch v.
Proof.
  intros v [_ H]. unfold stretch, spatial in *. destruct (head_geometry h) as [|e|e|r|]; try lra.
  - apply real_nonneg in is_spatial as E. assert (N := norm_nonneg h v).
    destruct E as [E|E]; [lra|]. symmetry in E. specialize (H E). lra.
  - apply real_nonneg in is_spatial as E. apply sqrt_lt_R0. assert (N := inner_square_nonneg D v).
    change (inner D v v) with (dot h v v) in N. destruct E as [E|E]; [lra|]. symmetry in E. specialize (H E).
    assert (Q := norm_square h v). assert (0 < norm h v * norm h v) by (apply Rmult_lt_0_compat; exact H). lra.
Qed.

Lemma inner_coord : forall v j, dot h v (coord h j) = / S * inner D v (vector (points j)).
Proof.
  intros. rewrite dot_inner, <- inner_scal_r. apply inner_ext; [reflexivity|]. intros. apply coord_vector.
Qed.

Lemma inner_coords : forall j,
  dot h (coord h j) (coord h j) = / S * / S * inner D (vector (points j)) (vector (points j)).
Proof.
  intros. rewrite inner_coord, inner_comm.
  rewrite <- (dot_inner h _ (coord h j)), inner_coord. ring.
Qed.

Lemma norm_coord : forall j,
  norm h (coord h j) = / S * sqrt (inner D (vector (points j)) (vector (points j))).
Proof.
  intros. unfold norm. rewrite inner_coords. symmetry. apply sqrt_scaled.
  - left. apply Rinv_0_lt_compat. exact S_positive.
  - apply inner_square_nonneg.
Qed.

Lemma embedded_inner : forall v w, inner D (embedded v) w = S / stretch v * inner D v w.
Proof. intros. apply inner_scal_l. Qed.

Lemma embedded_square : forall v, inner D (embedded v) (embedded v) = S / stretch v * (S / stretch v) * inner D v v.
Proof. intros. rewrite embedded_inner, inner_comm, embedded_inner. ring. Qed.

(** The target's function is the observable, up to slope and size. *)
Theorem value_of_observable : forall F v j square, patch_in_domain h v -> 0 < size j ->
  IZR square = inner D (vector (points j)) (vector (points j)) ->
  value D F (embedded v) curvature (vector (points j)) (constant F square) =
  IZR F * IZR slope * (size j * observable h v j).
Proof.
  intros F v j square HV HS HQ. apply stretch_positive in HV. unfold value.
  rewrite embedded_square, embedded_inner.
  unfold curvature, constant, slope, size, observable, stretch, spatial in *.
  destruct (head_geometry h) as [|e|e|r|]; [| | | |discriminate].
  - rewrite inner_square_of_difference. change (inner (depth h)) with (dot h). rewrite inner_coord, inner_coords.
    rewrite !mult_IZR, HQ. fold S. change (dot h v v) with (inner D v v). field. lra.
  - rewrite norm_coord, inner_coord, mult_IZR. fold S. fold D in HS. fold D. field. lra.
  - rewrite norm_coord, inner_coord, mult_IZR. fold S. fold D in HS. fold D. field. lra.
  - rewrite inner_coord, !mult_IZR. fold S. field. lra.
Qed.

(** * What is known without a statement *)

(** The ball that holds y / S: its radius. *)
Definition ball : option fraction :=
  match head_geometry h with
  | Cosine _ | RootedCosine _ => Some (Fraction 1 1)
  | InnerProduct r => r
  | _ => None
  end.

Lemma norm_squared_within : forall v b, norm h v <= b -> inner D v v <= b * b.
Proof.
  intros v b H. assert (N := norm_nonneg h v). assert (Q := norm_square h v). rewrite dot_inner in Q. fold D in Q.
  rewrite <- Q. apply Rmult_le_compat; assumption.
Qed.

Lemma square_within_stretch : forall v, patch_in_domain h v ->
  match head_geometry h with Cosine _ | RootedCosine _ => inner D v v <= stretch v * stretch v | _ => True end.
Proof.
  intros v H. unfold stretch, spatial in *. destruct (head_geometry h) as [|e|e|r|]; try exact I.
  - apply norm_squared_within. apply real_nonneg in is_spatial. lra.
  - apply real_nonneg in is_spatial. assert (N := inner_square_nonneg D v).
    change (dot h v v) with (inner D v v). rewrite sqrt_sqrt; lra.
Qed.

Lemma embedded_in_ball : forall v r, patch_in_domain h v -> ball = Some r ->
  inner D (embedded v) (embedded v) <= S * S * (real r * real r).
Proof.
  intros v r H E. assert (P := stretch_positive v H). assert (Q := square_within_stretch v H).
  rewrite embedded_square. destruct H as [_ H]. unfold ball, stretch in *.
  assert (X : 0 <= S * S) by apply Rle_0_sqr.
  assert (one : real (Fraction 1 1) = 1) by (unfold real, q; simpl; field).
  destruct (head_geometry h) as [|e|e|r'|]; try discriminate.
  - injection E as <-. rewrite one. set (t := norm h v + real e) in *.
    replace (S / t * (S / t) * inner D v v) with (S * S * (inner D v v / (t * t))) by (field; lra).
    apply Rmult_le_compat_l; [exact X|]. apply div_le_iff; [apply Rmult_lt_0_compat; exact P|lra].
  - injection E as <-. rewrite one. set (t := sqrt (dot h v v + real e)) in *.
    replace (S / t * (S / t) * inner D v v) with (S * S * (inner D v v / (t * t))) by (field; lra).
    apply Rmult_le_compat_l; [exact X|]. apply div_le_iff; [apply Rmult_lt_0_compat; exact P|lra].
  - subst r'. unfold Rdiv. rewrite Rinv_1, Rmult_1_r. apply Rmult_le_compat_l; [exact X|].
    apply norm_squared_within. exact H.
Qed.

(** The box that holds y, where there is one and y is S z. *)
Definition edges : option (Z * Z) :=
  match head_geometry h, lower h, upper h with
  | (Euclidean | InnerProduct _), Some a, Some b => Some (a, b)
  | _, _, _ => None
  end.

Lemma embedded_in_box : forall v a b d, patch_in_domain h v -> edges = Some (a, b) -> (d < D)%nat ->
  IZR a <= embedded v d <= IZR b.
Proof.
  intros v a b d [H _] E Hd. specialize (H d Hd). unfold edges, embedded, stretch in *. fold S.
  assert (X : forall k, S * q k (coord_unit h) = IZR k) by (intros; apply q_times_unit).
  destruct (head_geometry h), (lower h) as [a'|], (upper h) as [b'|]; try discriminate;
    injection E as -> ->; destruct H as [H1 H2]; unfold Rdiv; rewrite Rinv_1, Rmult_1_r; rewrite <- (X a), <- (X b);
    split; apply Rmult_le_compat_l; lra.
Qed.

(** * What is computed once for each prototype *)

(** |P|^2, the sum of its coordinates, and its size between two integers over [root_unit]. *)
Record measure := Measure { square : Z; total : Z; near : Z; far : Z }.

Definition root_unit : Z := match head_geometry h with Cosine _ | RootedCosine _ => fine | _ => 1 end.

Definition measure_of (p : list Z) : measure :=
  let s := zdot p p in
  match head_geometry h with
  | Cosine _ | RootedCosine _ =>
      let scaled := (root_unit * root_unit * s)%Z in Measure s (zsum p) (root_floor scaled) (root_ceil scaled)
  | _ => Measure s (zsum p) 1 1
  end.

Definition measures : option (list measure) :=
  let ms := map measure_of (prototypes h) in
  if spatial && Nat.eqb (length ms) (count h) && forallb (fun p => Nat.eqb (length p) (depth h)) (prototypes h) &&
     forallb (fun m => (0 <? near m)%Z) ms
  then Some ms else None.

Definition measure_ok (j : nat) (m : measure) : Prop :=
  IZR (square m) = inner D (vector (points j)) (vector (points j)) /\
  IZR (total m) = rsum D (vector (points j)) /\
  0 < IZR (near m) /\ IZR (near m) <= IZR root_unit * size j <= IZR (far m).

Lemma root_unit_positive : 0 < IZR root_unit.
Proof. unfold root_unit. destruct (head_geometry h); apply IZR_pos; reflexivity. Qed.

Lemma measure_of_ok : forall j, (length (points j) <= D)%nat -> (0 < near (measure_of (points j)))%Z ->
  measure_ok j (measure_of (points j)).
Proof.
  intros j HL HN. assert (E := zdot_real D (points j) (points j) HL). unfold measure_ok.
  apply IZR_pos in HN. repeat split; try exact HN.
  - unfold measure_of. destruct (head_geometry h); exact E.
  - unfold measure_of. destruct (head_geometry h); apply zsum_real; exact HL.
  - unfold measure_of, size, root_unit. destruct (head_geometry h); cbn [near]; try lra;
      fold D; rewrite <- E, sqrt_scaled by (apply IZR_nonneg; (discriminate || apply zdot_square_nonneg));
      rewrite <- !mult_IZR;
      apply root_ok; (apply Z.mul_nonneg_nonneg; [discriminate|apply zdot_square_nonneg]).
  - unfold measure_of, size, root_unit. destruct (head_geometry h); cbn [far]; try lra;
      fold D; rewrite <- E, sqrt_scaled by (apply IZR_nonneg; (discriminate || apply zdot_square_nonneg));
      rewrite <- !mult_IZR;
      apply root_ok; (apply Z.mul_nonneg_nonneg; [discriminate|apply zdot_square_nonneg]).
Qed.

End Embedding.

Lemma forallb_nth : forall A (f : A -> bool) l i d, forallb f l = true -> (i < length l)%nat -> f (nth i l d) = true.
Proof. intros A f l i d H Hi. rewrite forallb_forall in H. apply H. apply nth_In. exact Hi. Qed.

(** What [measures] says of a head, and of each of its prototypes. *)
Theorem measures_ok : forall h ms, measures h = Some ms ->
  spatial h = true /\ length ms = count h /\
  (forall j, (j < count h)%nat -> length (points h j) = depth h) /\
  forall j d, (j < count h)%nat -> measure_ok h j (nth j ms d).
Proof.
  intros h ms H. unfold measures in H. destruct (_ && _) eqn:E; [|discriminate]. injection H as <-.
  apply andb_prop in E as [E HN]. apply andb_prop in E as [E HL]. apply andb_prop in E as [E1 HC].
  apply Nat.eqb_eq in HC. rewrite map_length in HC.
  assert (L : forall j, (j < count h)%nat -> length (points h j) = depth h).
  { intros j J. apply Nat.eqb_eq. unfold points.
    apply (forallb_nth _ (fun p => Nat.eqb (length p) (depth h))); [exact HL|lia]. }
  split; [exact E1|]. split; [rewrite map_length; exact HC|]. split; [exact L|].
  intros j d Hj. assert (M : nth j (map (measure_of h) (prototypes h)) d = measure_of h (points h j)).
  { rewrite (nth_indep _ d (measure_of h nil)) by (rewrite map_length; lia). apply map_nth. }
  rewrite M. apply measure_of_ok; [rewrite L by exact Hj; lia|].
  rewrite <- M. apply Z.ltb_lt. apply (forallb_nth _ (fun m => (0 <? near m)%Z)); [exact HN|].
  rewrite map_length. lia.
Qed.

Corollary measures_short : forall h ms j, measures h = Some ms -> (length (points h j) <= depth h)%nat.
Proof.
  intros h ms j H. assert (P : measures h = Some (map (measure_of h) (prototypes h))).
  { unfold measures in *. destruct (_ && _); [reflexivity|discriminate]. }
  destruct (measures_ok h _ P) as (_ & C & L & _). rewrite map_length in C.
  destruct (Nat.lt_ge_cases j (count h)) as [J|J]; [rewrite L by exact J; lia|].
  unfold points. rewrite nth_overflow by lia. simpl. lia.
Qed.
