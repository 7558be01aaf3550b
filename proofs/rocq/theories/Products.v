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

(** Weighted sums of rows have room for weights of so many bits, all together. *)
Definition room : Z := 24.

(** With so many bits, half of the digits are above all squares, and so above all products, with that room. [ms] are the
    measures of the head. *)
Definition square_bits (ms : list measure) : Z := (Z.log2 (fold_right (fun m x => Z.max (square m) x) 0 ms) + 1)%Z.
Definition digit_bits (ms : list measure) : Z := (square_bits ms + room + 1)%Z.

(** Computed once for all certificates. *)
Definition packed_prototypes (ms : list measure) : list (Z * list Z) :=
  packs (digit_bits ms) (length (prototypes h)) (prototypes h).

(** The packed rows, of which more are computed as certificates need them; an empty one is not computed yet. *)
Definition no_rows : list (list Z) := map (fun _ => nil) (prototypes h).

Fixpoint more_rows (packed : list (Z * list Z)) (wanted : nat -> bool) (j : nat) (ps known : list (list Z)) :
  list (list Z) :=
  match ps, known with
  | p :: ps', row :: known' =>
      (match row with nil => if wanted j then row_of packed p else nil | _ => row end)
      :: more_rows packed wanted (S j) ps' known'
  | _, _ => nil
  end.

Fixpoint table_from (digits : list Z -> list Z) (wanted : nat -> bool) (j : nat) (known : list (list Z)) :
  list (list Z) :=
  match known with
  | row :: known' =>
      (match row with nil => nil | _ => if wanted j then digits row else nil end)
      :: table_from digits wanted (S j) known'
  | nil => nil
  end.

(** The table of the wanted rows, of which [packed] are the packed prototypes of the head, and [known] their rows. *)
Definition products (ms : list measure) (packed : list (Z * list Z)) (known : list (list Z)) (wanted : nat -> bool) :
  list (list Z) :=
  table_from (digits_of (digit_bits ms) (length (prototypes h)) packed) wanted 0 known.

Definition row_right (j : nat) (row : list Z) : Prop :=
  forall k, (k < count h)%nat -> IZR (nth k row 0%Z) = inner D (point j) (point k).
Definition products_right (G : list (list Z)) : Prop := forall j, nth j G nil <> nil -> row_right j (nth j G nil).

Definition rows_known (packed : list (Z * list Z)) (known : list (list Z)) : Prop :=
  Forall2 (fun p row => row <> nil -> row = row_of packed p) (prototypes h) known.

Lemma no_rows_known : forall packed, rows_known packed no_rows.
Proof.
  intros packed. unfold rows_known, no_rows. induction (prototypes h); constructor; [|assumption]. intros N. congruence.
Qed.

Lemma more_rows_known : forall packed wanted known, rows_known packed known ->
  rows_known packed (more_rows packed wanted 0 (prototypes h) known).
Proof.
  intros packed wanted known. unfold rows_known. generalize 0%nat as j. intros j H. revert j.
  induction H as [|p row ps known R H IH]; intros j; constructor; [|apply IH]. intros N.
  destruct row as [|x row]; [|apply R; discriminate]. destruct (wanted j); [reflexivity|congruence].
Qed.

Lemma rows_known_nth : forall packed known j, rows_known packed known -> nth j known nil <> nil ->
  (j < length (prototypes h))%nat /\ nth j known nil = row_of packed (points h j).
Proof.
  intros packed known j H. unfold points. revert j. unfold rows_known in H.
  induction H as [|p row ps known R H IH]; intros [|j] N; try (exfalso; apply N; reflexivity); cbn [nth length] in *.
  - split; [lia|auto].
  - destruct (IH j N) as [L E]. split; [lia|exact E].
Qed.

Lemma table_from_nth : forall digits wanted known j i, nth i (table_from digits wanted j known) nil <> nil ->
  nth i known nil <> nil /\ nth i (table_from digits wanted j known) nil = digits (nth i known nil).
Proof.
  induction known as [|row known IH]; intros j [|i] H; try (exfalso; apply H; reflexivity); cbn [table_from nth] in *.
  - destruct row as [|x row]; [congruence|]. destruct (wanted j); [split; [discriminate|reflexivity]|congruence].
  - exact (IH _ _ H).
Qed.

Lemma square_bits_positive : forall ms, (0 < square_bits ms)%Z.
Proof.
  intros ms. unfold square_bits. assert (H := Z.log2_nonneg (fold_right (fun m x => Z.max (square m) x) 0 ms)%Z). lia.
Qed.

Lemma digit_bits_positive : forall ms, (0 < digit_bits ms)%Z.
Proof. intros ms. unfold digit_bits, room. assert (H := square_bits_positive ms). lia. Qed.

(** Above all squares. *)
Definition most (ms : list measure) : Z := (2 ^ square_bits ms)%Z.

Lemma most_positive : forall ms, (0 < most ms)%Z.
Proof. intros ms. apply Z.pow_pos_nonneg; [lia|]. assert (H := square_bits_positive ms). lia. Qed.

Lemma half_is_most : forall ms, Z.shiftl 1 (digit_bits ms - 1) = (2 ^ room * most ms)%Z.
Proof.
  intros ms. assert (H := square_bits_positive ms). unfold digit_bits, most, room.
  rewrite Z.shiftl_mul_pow2, Z.mul_1_l, <- Z.pow_add_r by lia. f_equal. lia.
Qed.

Lemma below_most : forall m ms, In m ms -> (square m < most ms)%Z.
Proof.
  intros m ms H. unfold most, square_bits. set (top := fold_right _ _ _).
  assert (L : (square m <= top)%Z).
  { unfold top. clear top. induction ms as [|m' ms IH]; [destruct H|]. cbn [fold_right].
    destruct H as [->|H]; [lia|]. specialize (IH H). lia. }
  assert (N := Z.log2_nonneg top). replace (Z.log2 top + 1)%Z with (Z.succ (Z.log2 top)) by lia.
  destruct (Z.lt_ge_cases 0 top) as [P|P]; [destruct (Z.log2_spec top P); lia|].
  assert (0 < 2 ^ Z.succ (Z.log2 top))%Z by (apply Z.pow_pos_nonneg; lia). lia.
Qed.

Lemma square_of_measure : forall p, square (measure_of h p) = zdot p p.
Proof. intros p. unfold measure_of. destruct (head_geometry h); reflexivity. Qed.

Section Measured.
Variable ms : list measure.
Hypothesis measured : ms = map (measure_of h) (prototypes h).
Hypothesis counted : length (prototypes h) = count h.
Let packed := packed_prototypes ms.

Lemma prototypes_small : forall p, In p (prototypes h) -> (zdot p p < most ms)%Z.
Proof. intros p Hp. rewrite <- square_of_measure. apply below_most. rewrite measured. apply in_map. exact Hp. Qed.

(** The digits of the sum of some rows, which are those of the prototypes [us]. *)
Lemma digits_of_sum : forall zero ws us rows, zero = map (fun _ => 0%Z) packed -> incl us (prototypes h) ->
  Forall2 (fun u row => row = row_of packed u) us rows -> (sizes ws <= 2 ^ room)%Z ->
  digits_of (digit_bits ms) (length (prototypes h)) packed (mixed ws rows zero) = map (mix_of ws us) (prototypes h).
Proof.
  intros zero ws us rows E I H S. assert (P := digit_bits_positive ms).
  apply (digits_of_right (digit_bits ms) P (mix_of ws us)).
  - apply mixed_right; [rewrite E; apply no_row_right|].
    clear - P H. induction H as [|u row us rows R H IH]; constructor; [|exact IH].
    rewrite R. apply row_of_right; exact P.
  - apply Forall_forall. intros p Hp. rewrite half_is_most.
    assert (M := mix_of_small (most ms) p ws us (most_positive ms)
      ltac:(apply Forall_forall; intros u Hu; apply prototypes_small, I, Hu) (prototypes_small p Hp)).
    assert (Q := most_positive ms). assert (0 < 2 ^ room)%Z by reflexivity. assert (N := sizes_nonneg ws). nia.
  - apply Nat.le_refl.
Qed.

Lemma nth_mapped : forall (f : list Z -> Z) k, (k < count h)%nat ->
  nth k (map f (prototypes h)) 0%Z = f (points h k).
Proof.
  intros f k Hk. rewrite (nth_indep _ 0%Z (f nil)) by (rewrite map_length; lia). apply map_nth.
Qed.

Theorem products_of_head : forall known wanted, rows_known packed known ->
  products_right (products ms packed known wanted).
Proof.
  intros known wanted K j H k Hk. unfold products in *.
  destruct (table_from_nth _ _ _ _ _ H) as [N ->]. destruct (rows_known_nth _ _ _ K N) as [J ->].
  assert (P := digit_bits_positive ms). assert (In (points h j) (prototypes h)) by (apply nth_In; exact J).
  unfold packed, packed_prototypes. rewrite (digits_of_right (digit_bits ms) P (zdot (points h j))).
  - rewrite nth_mapped by exact Hk. apply zdot_real. apply short.
  - apply row_of_right; exact P.
  - apply Forall_forall. intros p Hp. rewrite half_is_most.
    assert (Z := zdot_small (most ms) _ _ (prototypes_small _ H0) (prototypes_small p Hp)).
    assert (Q := most_positive ms). assert (1 < 2 ^ room)%Z by reflexivity. nia.
  - apply Nat.le_refl.
Qed.
End Measured.

(** * The products of one patch's facts *)

(** Their vectors: the prototypes [js], then constant vectors [ks]. *)
Definition vectors (js : list nat) (ks : list Z) : list (nat -> R) := map point js ++ map everywhere ks.

Fixpoint corner (ks : list Z) : list (list Z) :=
  match ks with
  | k :: ks' => map (fun k' => Z.of_nat (depth h) * k * k')%Z ks :: corner ks'
  | nil => nil
  end.

(** Those of a row at the places [js]; [here] is what is left of it from place [k] on. Where the places rise, the row is
    walked once. *)
Fixpoint picked (row : list Z) (k : nat) (here : list Z) (js : list nat) : list Z :=
  match js with
  | j :: js' =>
      let there := if Nat.leb k j then skipn (j - k) here else skipn j row in
      hd 0%Z there :: picked row j there js'
  | nil => nil
  end.

(** The upper half of the matrix of products; [rows] are those of [js] in the table, [totals] the sums of their
    coordinates. *)
Fixpoint triangle (js : list nat) (totals : list Z) (rows : list (list Z)) (ks : list Z) : list (list Z) :=
  match js, totals, rows with
  | _ :: js', t :: totals', row :: rows' =>
      (picked row 0 row js ++ map (Z.mul t) ks) :: triangle js' totals' rows' ks
  | _, _, _ => corner ks
  end.

Lemma skipn_again : forall A (l : list A) a b, skipn a (skipn b l) = skipn (b + a) l.
Proof.
  intros A l a b. revert l. induction b as [|b IH]; intros l; [reflexivity|].
  destruct l as [|x l]; [destruct a; reflexivity|apply IH].
Qed.

Lemma picked_nth : forall row js k here, here = skipn k row -> picked row k here js = map (fun i => nth i row 0%Z) js.
Proof.
  intros row. induction js as [|j js IH]; intros k here ->; [reflexivity|]. cbn [picked map].
  assert (E : (if Nat.leb k j then skipn (j - k) (skipn k row) else skipn j row) = skipn j row).
  { destruct (Nat.leb k j) eqn:L; [|reflexivity]. apply Nat.leb_le in L. rewrite skipn_again. f_equal. lia. }
  rewrite E. f_equal; [|apply IH; reflexivity].
  clear. revert j. induction row as [|x row IH]; intros [|j]; try reflexivity. apply IH.
Qed.

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

Lemma triangle_right : forall js totals rows ks, Forall (fun j => (j < count h)%nat) js ->
  Forall2 (fun j t => IZR t = rsum D (point j)) js totals -> Forall2 row_right js rows ->
  gram_ok D (vectors js ks) (triangle js totals rows ks).
Proof.
  intros js totals rows ks HJ HT H. revert totals HT. induction H as [|j row js rows R H IH]; intros totals HT.
  { inversion HT; subst. apply corner_right. }
  inversion HT as [|? t ? totals' T HTs]; subst. assert (HJ' := HJ). apply Forall_cons_iff in HJ as [_ HJs].
  split; [|apply IH; assumption].
  assert (X : products_ok D (point j) (vectors (j :: js) ks) (picked row 0 row (j :: js) ++ map (Z.mul t) ks));
    [|exact X].
  rewrite picked_nth by reflexivity. apply column_right; [exact T|]. revert HJ'. generalize (j :: js). intros l HJ'.
  induction HJ' as [|i l L HL IHl]; constructor; [apply R; exact L|exact IHl].
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

Lemma rows_skip : forall gap k js rows, Forall2 (from_here k) js rows ->
  Forall2 (from_here (k + gap)) js (map (skipn gap) rows).
Proof.
  intros gap k js rows H. induction H as [|j row js rows R H IH]; constructor; [|exact IH].
  intros i Hi. replace (k + gap + i)%nat with (k + (gap + i))%nat in * by lia. rewrite <- (R (gap + i)%nat) by exact Hi.
  f_equal. clear. revert row. induction gap as [|gap IH]; intros row; [reflexivity|].
  destruct row; [destruct i; reflexivity|apply IH].
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

Lemma measured_head : forall h ms, measures h = Some ms ->
  ms = map (measure_of h) (prototypes h) /\ length (prototypes h) = count h.
Proof.
  intros h ms H. assert (E : ms = map (measure_of h) (prototypes h)).
  { unfold measures in H. destruct (_ && _); [injection H as <-; reflexivity|discriminate]. }
  split; [exact E|]. rewrite <- (map_length (measure_of h)), <- E. apply (measures_ok h ms H).
Qed.

Corollary products_of_measured_head : forall h ms known wanted, measures h = Some ms ->
  rows_known h (packed_prototypes h ms) known ->
  products_right h (products h ms (packed_prototypes h ms) known wanted).
Proof.
  intros h ms known wanted H K. destruct (measured_head h ms H) as [E L].
  apply products_of_head; [intros j; apply (measures_short h ms); exact H|exact E|exact L|exact K].
Qed.
