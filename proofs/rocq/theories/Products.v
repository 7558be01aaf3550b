(** Inner products of prototypes, computed once and used by every patch.

    There is a packed row for each prototype that some statement is about, its products with all prototypes. From them
    come, for the facts of one patch, the products of their vectors with one another and with each prototype that is
    asked for. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Quadratic Embedding Lookup Packing.
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
Definition room : Z := 48.

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

(** A row as what is added to its digits, of which the products are taken one by one: [entries]. *)
Definition row_right (ms : list measure) (j : nat) (row : list Z) : Prop :=
  forall k, (k < count h)%nat ->
  IZR (digit (digit_bits ms) (Nat.modulo k piece) (nth (Nat.div k piece) row 0%Z)) = inner D (point j) (point k).

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

(** The sum of some rows, which are those of the prototypes [us]. *)
Lemma sum_right : forall zero ws us rows, zero = map (fun _ => 0%Z) packed -> incl us (prototypes h) ->
  Forall2 (fun u row => row = row_of packed u) us rows -> (sizes ws <= 2 ^ room)%Z ->
  Packing.row_right (digit_bits ms) (pieces (length (prototypes h)) (prototypes h)) (mix_of ws us)
    (mixed ws rows zero) /\
  Forall (fun p => (Z.abs (mix_of ws us p) < Z.shiftl 1 (digit_bits ms - 1))%Z) (prototypes h).
Proof.
  intros zero ws us rows E I H S. assert (P := digit_bits_positive ms). split.
  - apply mixed_right; [rewrite E; apply no_row_right|].
    clear - P H. induction H as [|u row us rows R H IH]; constructor; [|exact IH].
    rewrite R. apply row_of_right; exact P.
  - apply Forall_forall. intros p Hp. rewrite half_is_most.
    assert (M := mix_of_small (most ms) p ws us (most_positive ms)
      ltac:(apply Forall_forall; intros u Hu; apply prototypes_small, I, Hu) (prototypes_small p Hp)).
    assert (Q := most_positive ms). assert (0 < 2 ^ room)%Z by reflexivity. assert (N := sizes_nonneg ws). nia.
Qed.

Lemma digits_of_sum : forall zero ws us rows, zero = map (fun _ => 0%Z) packed -> incl us (prototypes h) ->
  Forall2 (fun u row => row = row_of packed u) us rows -> (sizes ws <= 2 ^ room)%Z ->
  digits_of (digit_bits ms) (length (prototypes h)) packed (mixed ws rows zero) = map (mix_of ws us) (prototypes h).
Proof.
  intros zero ws us rows E I H S. destruct (sum_right zero ws us rows E I H S) as [R B].
  apply (digits_of_right (digit_bits ms) (digit_bits_positive ms) (mix_of ws us)); [exact R|exact B|apply Nat.le_refl].
Qed.

Lemma entry_of_sum : forall zero ws us rows k, zero = map (fun _ => 0%Z) packed -> incl us (prototypes h) ->
  Forall2 (fun u row => row = row_of packed u) us rows -> (sizes ws <= 2 ^ room)%Z -> (k < count h)%nat ->
  digit (digit_bits ms) (Nat.modulo k piece) (nth (Nat.div k piece) (started packed (mixed ws rows zero)) 0%Z) =
  mix_of ws us (points h k).
Proof.
  intros zero ws us rows k E I H S K. destruct (sum_right zero ws us rows E I H S) as [R B].
  apply (entry_right (digit_bits ms) (digit_bits_positive ms) (mix_of ws us) _ _ _ k nil R B); [apply Nat.le_refl|lia].
Qed.

Lemma nth_mapped : forall (f : list Z -> Z) k, (k < count h)%nat ->
  nth k (map f (prototypes h)) 0%Z = f (points h k).
Proof.
  intros f k Hk. rewrite (nth_indep _ 0%Z (f nil)) by (rewrite map_length; lia). apply map_nth.
Qed.

Theorem started_row_right : forall j, (j < count h)%nat ->
  row_right ms j (started packed (row_of packed (points h j))).
Proof.
  intros j J k Hk. assert (P := digit_bits_positive ms).
  assert (I : In (points h j) (prototypes h)) by (apply nth_In; lia).
  unfold packed, packed_prototypes.
  rewrite (entry_right (digit_bits ms) P (zdot (points h j)) _ _ _ k nil).
  - apply zdot_real. apply short.
  - apply row_of_right; exact P.
  - apply Forall_forall. intros p Hp. rewrite half_is_most.
    assert (Z := zdot_small (most ms) _ _ (prototypes_small _ I) (prototypes_small p Hp)).
    assert (Q := most_positive ms). assert (1 < 2 ^ room)%Z by reflexivity. nia.
  - apply Nat.le_refl.
  - lia.
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

(** The upper half of the matrix of products; [rows] are those of [js], [totals] the sums of their coordinates. *)
Fixpoint triangle (bits : Z) (js : list nat) (totals : list Z) (rows : list (list Z)) (ks : list Z) :
  list (list Z) :=
  match js, totals, rows with
  | j :: js', t :: totals', _ :: rows' =>
      (entries bits j rows ++ map (Z.mul t) ks) :: triangle bits js' totals' rows' ks
  | _, _, _ => corner ks
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

Lemma entries_right : forall ms k js rows, (k < count h)%nat -> Forall2 (row_right ms) js rows ->
  Forall2 (fun i x => IZR x = inner D (point k) (point i)) js (entries (digit_bits ms) k rows).
Proof.
  intros ms k js rows Hk H. rewrite entries_is. induction H as [|j row js rows R H IH]; constructor; [|exact IH].
  rewrite inner_comm. apply R. exact Hk.
Qed.

Lemma triangle_right : forall ms js totals rows ks, Forall (fun j => (j < count h)%nat) js ->
  Forall2 (fun j t => IZR t = rsum D (point j)) js totals -> Forall2 (row_right ms) js rows ->
  gram_ok D (vectors js ks) (triangle (digit_bits ms) js totals rows ks).
Proof.
  intros ms js totals rows ks HJ HT H. revert totals HT. induction H as [|j row js rows R H IH]; intros totals HT.
  { inversion HT; subst. apply corner_right. }
  inversion HT as [|? t ? totals' T HTs]; subst. apply Forall_cons_iff in HJ as [L HJs].
  split; [|apply IH; assumption].
  assert (X : products_ok D (point j) (vectors (j :: js) ks)
    (entries (digit_bits ms) j (row :: rows) ++ map (Z.mul t) ks)); [|exact X].
  apply column_right; [exact T|]. apply entries_right; [exact L|constructor; assumption].
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

(** The same, looked up in one walk. *)
Fixpoint all_given (rows : list (list Z)) : option (list (list Z)) :=
  match rows with
  | nil => Some nil
  | row :: rows' =>
      match row, all_given rows' with x :: _, Some given => Some (row :: given) | _, _ => None end
  end.

Definition rows_found (G : list (list Z)) (js : list nat) : option (list (list Z)) := all_given (nths nil js G).

Lemma rows_found_are : forall G js, rows_found G js = rows_at G js.
Proof.
  intros G js. unfold rows_found. rewrite nths_are. induction js as [|j js IH]; [reflexivity|].
  cbn [map all_given rows_at]. rewrite IH. destruct (nth j G nil); reflexivity.
Qed.

End Products.

Lemma measured_head : forall h ms, measures h = Some ms ->
  ms = map (measure_of h) (prototypes h) /\ length (prototypes h) = count h.
Proof.
  intros h ms H. assert (E : ms = map (measure_of h) (prototypes h)).
  { unfold measures in H. destruct (_ && _); [injection H as <-; reflexivity|discriminate]. }
  split; [exact E|]. rewrite <- (map_length (measure_of h)), <- E. apply (measures_ok h ms H).
Qed.
