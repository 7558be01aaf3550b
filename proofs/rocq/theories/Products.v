(** Inner products of prototypes, computed once and used by every patch.

    A table of products has a row for each prototype that some statement is about, its products with all prototypes, and
    an empty row for the others. From it come, for the facts of one patch, the products of their vectors with one
    another and with each prototype in turn. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Quadratic Embedding Packing.
Import ListNotations.
Open Scope R_scope.

Section Products.
Variable h : head.
Let D := depth h.
Hypothesis short : forall j, (length (points h j) <= D)%nat.

Definition point (j : nat) : nat -> R := vector (points h j).
Definition everywhere (k : Z) : nat -> R := fun _ => IZR k.

(** * The table *)

(** With so many bits, half of the digits are above all squares, and so above all products. [ms] are the measures of
    the head. *)
Definition digit_bits (ms : list measure) : Z := (Z.log2 (fold_right (fun m x => Z.max (square m) x) 0 ms) + 2)%Z.

(** Computed once for all certificates. *)
Definition packed_prototypes (ms : list measure) : list (Z * list Z) :=
  packs (digit_bits ms) (length (prototypes h)) (prototypes h).

Fixpoint table_from (products_of : list Z -> list Z) (wanted : nat -> bool) (j : nat) (ps : list (list Z)) :
  list (list Z) :=
  match ps with
  | p :: ps' => (if wanted j then products_of p else nil) :: table_from products_of wanted (S j) ps'
  | nil => nil
  end.

(** [packed] are the packed prototypes of the head. *)
Definition products (ms : list measure) (packed : list (Z * list Z)) (wanted : nat -> bool) : list (list Z) :=
  table_from (products_with (digit_bits ms) (length (prototypes h)) packed) wanted 0 (prototypes h).

Definition row_right (j : nat) (row : list Z) : Prop :=
  forall k, (k < count h)%nat -> IZR (nth k row 0%Z) = inner D (point j) (point k).
Definition products_right (G : list (list Z)) : Prop := forall j, nth j G nil <> nil -> row_right j (nth j G nil).

Lemma table_from_nth : forall products_of wanted ps j i, nth i (table_from products_of wanted j ps) nil <> nil ->
  (i < length ps)%nat /\ nth i (table_from products_of wanted j ps) nil = products_of (nth i ps nil).
Proof.
  induction ps as [|p ps IH]; intros j [|i] H; try (exfalso; apply H; reflexivity); cbn [table_from nth length] in *.
  - destruct (wanted j); [split; [lia|reflexivity]|exfalso; apply H; reflexivity].
  - destruct (IH _ _ H) as [L E]. split; [lia|exact E].
Qed.

Lemma digit_bits_positive : forall ms, (0 < digit_bits ms)%Z.
Proof. intros ms. unfold digit_bits. assert (H := Z.log2_nonneg (fold_right (fun m x => Z.max (square m) x) 0 ms)%Z). lia. Qed.

Lemma below_half : forall m ms, In m ms -> (square m < Z.shiftl 1 (digit_bits ms - 1))%Z.
Proof.
  intros m ms H. unfold digit_bits. set (most := fold_right _ _ _).
  assert (L : (square m <= most)%Z).
  { unfold most. clear most. induction ms as [|m' ms IH]; [destruct H|]. cbn [fold_right].
    destruct H as [->|H]; [lia|]. specialize (IH H). lia. }
  assert (N := Z.log2_nonneg most). rewrite Z.shiftl_mul_pow2, Z.mul_1_l by lia.
  replace (Z.log2 most + 2 - 1)%Z with (Z.succ (Z.log2 most)) by lia.
  destruct (Z.lt_ge_cases 0 most) as [P|P]; [destruct (Z.log2_spec most P); lia|].
  assert (0 < 2 ^ Z.succ (Z.log2 most))%Z by (apply Z.pow_pos_nonneg; lia). lia.
Qed.

Lemma square_of_measure : forall p, square (measure_of h p) = zdot p p.
Proof. intros p. unfold measure_of. destruct (head_geometry h); reflexivity. Qed.

Theorem products_of_head : forall ms wanted, ms = map (measure_of h) (prototypes h) ->
  length (prototypes h) = count h -> products_right (products ms (packed_prototypes ms) wanted).
Proof.
  intros ms wanted M HL j H k Hk. unfold products, packed_prototypes in *.
  destruct (table_from_nth _ _ _ _ _ H) as [J ->].
  assert (B : forall p, In p (prototypes h) -> (zdot p p < Z.shiftl 1 (digit_bits ms - 1))%Z).
  { intros p Hp. rewrite <- square_of_measure. apply below_half. rewrite M. apply in_map. exact Hp. }
  rewrite products_with_packs; [|apply digit_bits_positive|apply B, nth_In, J|apply Forall_forall; exact B|lia].
  rewrite (nth_indep _ 0%Z (zdot (nth j (prototypes h) nil) nil)) by (rewrite map_length; lia).
  rewrite map_nth. apply zdot_real. apply short.
Qed.

(** * The products of one patch's facts *)

(** Their vectors: the prototypes [js], then constant vectors [ks]. *)
Definition vectors (js : list nat) (ks : list Z) : list (nat -> R) := map point js ++ map everywhere ks.

Fixpoint corner (ks : list Z) : list (list Z) :=
  match ks with
  | k :: ks' => map (fun k' => Z.of_nat (depth h) * k * k')%Z ks :: corner ks'
  | nil => nil
  end.

(** The upper half of the matrix of products; [rows] are those of [js] in the table. *)
Fixpoint triangle (js : list nat) (totals : nat -> Z) (rows : list (list Z)) (ks : list Z) : list (list Z) :=
  match js, rows with
  | j :: js', row :: rows' =>
      (map (fun i => nth i row 0%Z) js ++ map (Z.mul (totals j)) ks) :: triangle js' totals rows' ks
  | _, _ => corner ks
  end.

Lemma inner_everywhere : forall k k', inner D (everywhere k) (everywhere k') = IZR (Z.of_nat D * k * k').
Proof. intros. unfold inner, everywhere. rewrite rsum_const, !mult_IZR, <- INR_IZR_INZ. ring. Qed.

Lemma inner_point_everywhere : forall j k t, IZR t = rsum D (point j) -> inner D (point j) (everywhere k) = IZR (t * k).
Proof.
  intros j k t H. rewrite mult_IZR, H, Rmult_comm. unfold inner, everywhere. rewrite <- rsum_scal.
  apply rsum_ext. intros. ring.
Qed.

Lemma corner_right : forall ks, gram_ok D (map everywhere ks) (corner ks).
Proof.
  induction ks as [|k ks IH]; [exact I|]. split; [|exact IH]. unfold products_ok.
  assert (X : forall l, Forall2 (fun u x => IZR x = inner D (everywhere k) u) (map everywhere l)
    (map (fun k' => Z.of_nat (depth h) * k * k')%Z l)).
  { induction l as [|k' l IHl]; constructor; [|exact IHl]. symmetry. apply inner_everywhere. }
  exact (X (k :: ks)).
Qed.

(** The products of one prototype with prototypes and constant vectors. *)
Lemma column_right : forall j t ks js xs, IZR t = rsum D (point j) ->
  Forall2 (fun i x => IZR x = inner D (point j) (point i)) js xs ->
  products_ok D (point j) (vectors js ks) (xs ++ map (Z.mul t) ks).
Proof.
  intros j t ks js xs Ht H. apply Forall2_app.
  - induction H as [|i x js xs E H IH]; constructor; assumption.
  - induction ks as [|k ks IH]; constructor; [|exact IH]. symmetry. apply inner_point_everywhere. exact Ht.
Qed.

Lemma triangle_right : forall js totals rows ks,
  Forall (fun j => (j < count h)%nat /\ IZR (totals j) = rsum D (point j)) js -> Forall2 row_right js rows ->
  gram_ok D (vectors js ks) (triangle js totals rows ks).
Proof.
  intros js totals rows ks HJ H. induction H as [|j row js rows R H IH]; [apply corner_right|].
  assert (HJ' := HJ). inversion HJ as [|? ? [_ T] HJs]; subst. split; [|apply IH; assumption].
  assert (X : products_ok D (point j) (vectors (j :: js) ks)
    (map (fun i => nth i row 0%Z) (j :: js) ++ map (Z.mul (totals j)) ks)); [|exact X].
  apply column_right; [exact T|]. revert HJ'. generalize (j :: js). intros l HJ'.
  induction HJ' as [|i l [L _] HL IHl]; constructor; [apply R; exact L|exact IHl].
Qed.

(** The rows of the table for the prototypes [js], none if one is missing. *)
Fixpoint rows_at (G : list (list Z)) (js : list nat) : option (list (list Z)) :=
  match js with
  | nil => Some nil
  | j :: js' =>
      match nth j G nil, rows_at G js' with
      | x :: row, Some rows => Some ((x :: row) :: rows)
      | _, _ => None
      end
  end.

Lemma rows_at_right : forall G js rows, products_right G -> rows_at G js = Some rows -> Forall2 row_right js rows.
Proof.
  induction js as [|j js IH]; intros rows HG H; [injection H as <-; constructor|]. cbn [rows_at] in H.
  destruct (nth j G nil) as [|x row] eqn:E; [discriminate|]. destruct (rows_at G js) as [rows'|]; [|discriminate].
  injection H as <-. constructor; [|apply IH; auto]. rewrite <- E. apply HG. rewrite E. discriminate.
Qed.

(** * One prototype after the other *)

(** What is left of the rows at prototype [k]. *)
Definition from_here (k j : nat) (row : list Z) : Prop :=
  forall i, (k + i < count h)%nat -> IZR (nth i row 0%Z) = inner D (point j) (point (k + i)).

Lemma row_from_start : forall j row, row_right j row -> from_here 0 j row.
Proof. intros j row H i Hi. apply H. exact Hi. Qed.

Lemma row_step : forall k j row, from_here k j row -> from_here (S k) j (tl row).
Proof.
  intros k j row H i Hi. replace (S k + i)%nat with (k + S i)%nat in * by lia. rewrite <- H by exact Hi.
  destruct row; [destruct i|]; reflexivity.
Qed.

Lemma heads_right : forall k js rows, (k < count h)%nat -> Forall2 (from_here k) js rows ->
  Forall2 (fun i x => IZR x = inner D (point k) (point i)) js (map (hd 0%Z) rows).
Proof.
  intros k js rows Hk H. induction H as [|j row js rows R H IH]; constructor; [|exact IH].
  specialize (R 0%nat ltac:(lia)). rewrite Nat.add_0_r, inner_comm in R. rewrite <- R. destruct row; reflexivity.
Qed.

Lemma rows_step : forall k js rows, Forall2 (from_here k) js rows -> Forall2 (from_here (S k)) js (map (@tl Z) rows).
Proof. intros k js rows H. induction H; constructor; [apply row_step|]; assumption. Qed.
End Products.

Corollary products_of_measured_head : forall h ms wanted, measures h = Some ms ->
  products_right h (products h ms (packed_prototypes h ms) wanted).
Proof.
  intros h ms wanted H.
  assert (E : ms = map (measure_of h) (prototypes h)).
  { unfold measures in H. destruct (_ && _); [injection H as <-; reflexivity|discriminate]. }
  apply products_of_head; [intros j; apply (measures_short h ms); exact H|exact E|].
  rewrite <- (map_length (measure_of h)), <- E. apply (measures_ok h ms H).
Qed.
