(** Sums: what the prototypes of other classes take back for a rival, bounded as a whole.

    A rival's margin is what the predicted class's own prototypes give, at least, minus the sum that is stated. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes LinearReadout.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variable h : head.

Fixpoint greater_of (a b : list Z) : list Z :=
  match a, b with x :: a', y :: b' => Z.max x y :: greater_of a' b' | _, _ => nil end.

(** The greatest weight of each prototype *)
Definition greatest_weights : list Z :=
  match weight h with row :: rows => fold_left greater_of rows row | nil => nil end.

Fixpoint reaches (row greatest : list Z) : list bool :=
  match row, greatest with w :: row', g :: greatest' => (g <=? w) :: reaches row' greatest' | _, _ => nil end.

(** Which prototypes belong to a class; None if weights are missing. *)
Definition own_prototypes (c : nat) : option (list bool) :=
  if Nat.eqb (length (weight h)) (classes h) && forallb (has_width h) (weight h) && Nat.ltb c (classes h)
  then Some (reaches (weights h c) greatest_weights) else None.

(** The weights where a mark is [side], 0 elsewhere *)
Fixpoint marked (side : bool) (marks : list bool) (row : list Z) : list Z :=
  match marks, row with
  | m :: marks', w :: row' => (if Bool.eqb m side then w else 0) :: marked side marks' row'
  | _, _ => nil
  end.

(** The least that the marked prototypes give the winner more than the loser *)
Definition least_of (side : bool) (marks : list bool) (b : box) (winner loser : nat) : Z :=
  least_sum (marked side marks (weights h winner)) (marked side marks (weights h loser)) b.

Section Box.
Variables (B : Z) (b : box) (u : positive).

(** A lower bound of the margin, over B times the unit of the weights, if the others take back at most hi *)
Definition least_by_sum (own : list bool) (hi : Z) (winner loser : nat) : Z :=
  least_of true own b winner loser + floor_div (- (hi * B * unit_of_weights h)) (Zpos u) +
  B * (bias_number h winner - bias_number h loser).

Definition greater (a b : option Z) : option Z :=
  match a, b with Some x, Some y => Some (Z.max x y) | Some x, None => Some x | None, _ => b end.

(** The greatest lower bound that sums give *)
Definition least_by_sums (own : list bool) (ss : list statement) (winner loser : nat) : option Z :=
  fold_right (fun s least =>
    match s with
    | AboutSum rivals hi => if lists rivals loser then greater (Some (least_by_sum own hi winner loser)) least else least
    | _ => least
    end) None ss.

(** Whether the others take back at most hi for every rival that is listed *)
Definition sum_within (own : list bool) (rivals : option (list nat)) (hi : Z) (predicted : nat) : bool :=
  forallb (fun r => Nat.eqb r predicted || negb (lists rivals r) ||
      (- least_of false own b predicted r * Zpos u <=? hi * B * unit_of_weights h)) (seq 0 (classes h)).
End Box.

Definition is_linear : bool := match head_readout h with Linear => true | _ => false end.
Definition is_sum (s : statement) : bool := match s with AboutSum _ _ => true | _ => false end.

(** The marks of the predicted class, where a statement needs them *)
Definition needed_marks (c : certificate) : option (list bool) :=
  if is_linear && existsb is_sum (statements c) then own_prototypes (predicted c) else None.

Definition lead_by_sums (c : certificate) (own : option (list bool)) (B : Z) (b : box) (r : nat) : option Z :=
  match own with
  | Some own => least_by_sums B b (statement_unit c) own (statements c) (predicted c) r
  | None => None
  end.

(** Whether a sum is true of all latents whose activations lie in the box *)
Definition sum_true (c : certificate) (B : Z) (b : box) : option (list nat) -> Z -> bool :=
  match own_prototypes (predicted c) with
  | Some own => fun rivals hi => sum_within B b (statement_unit c) own rivals hi (predicted c)
  | None => fun _ _ => false
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma length_greater_of : forall a b, length a = length b -> length (greater_of a b) = length b.
Proof. induction a as [|x a IH]; intros [|y b] H; try discriminate; cbn; auto. Qed.

Lemma nth_greater_of : forall a b j w, length a = length b -> (j < length b)%nat ->
  (nth j (greater_of a b) 0 <=? w)%Z = ((nth j a 0 <=? w)%Z && (nth j b 0 <=? w)%Z).
Proof.
  induction a as [|x a IH]; intros [|y b] j w H Hj; try discriminate; cbn in *; try lia.
  destruct j as [|j]; [|apply IH; lia]. destruct (Z.leb_spec (Z.max x y) w), (Z.leb_spec x w), (Z.leb_spec y w);
    cbn; try reflexivity; lia.
Qed.

Lemma greatest_is : forall rows row n j w, length row = n -> Forall (fun r => length r = n) rows -> (j < n)%nat ->
  length (fold_left greater_of rows row) = n /\
  (nth j (fold_left greater_of rows row) 0 <=? w)%Z = forallb (fun r => (nth j r 0 <=? w)%Z) (row :: rows).
Proof.
  induction rows as [|r rows IH]; intros row n j w L F Hj; [cbn; rewrite andb_true_r; auto|].
  inversion F as [|? ? Lr F']; subst. cbn [fold_left].
  destruct (IH (greater_of row r) (length row) j w) as [A E]; try assumption;
    [rewrite length_greater_of; congruence|]. split; [exact A|]. rewrite E. cbn [forallb].
  rewrite nth_greater_of by congruence. rewrite andb_assoc. reflexivity.
Qed.

Lemma nth_reaches : forall row greatest j, length row = length greatest -> (j < length row)%nat ->
  nth j (reaches row greatest) false = (nth j greatest 0 <=? nth j row 0)%Z.
Proof.
  induction row as [|w row IH]; intros [|g greatest] j L Hj; try discriminate; cbn in *; try lia.
  destruct j as [|j]; [reflexivity|]. apply IH; lia.
Qed.

Lemma length_reaches : forall row greatest, length row = length greatest -> length (reaches row greatest) = length row.
Proof. induction row as [|w row IH]; intros [|g greatest] L; try discriminate; cbn; auto. Qed.

Lemma forallb_by_index : forall (A : Type) (f : A -> bool) d l,
  forallb f l = forallb (fun i => f (nth i l d)) (seq 0 (length l)).
Proof.
  intros A f d l. apply eq_true_iff_eq. rewrite !forallb_forall. split; intros H x I.
  - apply in_seq in I. apply H, nth_In. lia.
  - apply (In_nth _ _ d) in I as (i & Hi & <-). apply H, in_seq. lia.
Qed.

Section Sound.
Variables (h : head) (n : nat) (z : latents).
Local Notation W := (IZR (unit_of_weights h)).
Let a : nat -> R := activation h n z.

(** The marks are those of [belongs], and the rows of weights are whole. *)
Definition marks_of (c : nat) (marks : list bool) : Prop :=
  (c < classes h)%nat /\ length marks = count h /\ (forall j, (j < count h)%nat -> nth j marks false = belongs h c j) /\
  forall r, (r < classes h)%nat -> length (weights h r) = count h.

Theorem own_prototypes_ok : forall c marks, own_prototypes h c = Some marks -> marks_of c marks.
Proof.
  intros c marks E. unfold own_prototypes in E. destruct (_ && _)%bool eqn:G; [|discriminate]. injection E as <-.
  apply andb_prop in G as [G C]. apply andb_prop in G as [L F]. apply Nat.eqb_eq in L. apply Nat.ltb_lt in C.
  rewrite forallb_forall in F.
  assert (full : forall row, In row (weight h) -> length row = count h).
  { intros row I. apply Nat.eqb_eq. exact (F row I). }
  assert (rows : forall r, (r < classes h)%nat -> length (weights h r) = count h).
  { intros r Hr. apply full. unfold weights. apply nth_In. lia. }
  unfold greatest_weights. destruct (weight h) as [|first others] eqn:E; [cbn in L; lia|].
  assert (F1 : length first = count h) by (apply full; left; reflexivity).
  assert (F2 : Forall (fun r => length r = count h) others).
  { apply Forall_forall. intros r I. apply full. right. exact I. }
  assert (Lg : forall j, (j < count h)%nat -> length (fold_left greater_of others first) = count h).
  { intros j Hj. exact (proj1 (greatest_is others first (count h) j 0 F1 F2 Hj)). }
  destruct (Nat.eq_dec (count h) 0) as [Z0|N0].
  { split; [exact C|]. split; [|split; [intros j Hj; lia|exact rows]]. specialize (rows c C). rewrite Z0 in *.
    destruct (weights h c); [reflexivity|discriminate]. }
  specialize (Lg 0%nat ltac:(lia)). split; [exact C|]. split; [rewrite length_reaches; rewrite rows by exact C; congruence|].
  split; [|exact rows]. intros j Hj. rewrite nth_reaches by (rewrite rows by exact C; congruence).
  destruct (greatest_is others first (count h) j (nth j (weights h c) 0%Z) F1 F2 Hj) as [_ ->].
  rewrite (forallb_by_index _ _ nil), L. unfold belongs, weights. rewrite E. reflexivity.
Qed.

Lemma length_marked : forall side marks row, length marks = length row -> length (marked side marks row) = length row.
Proof. intros side. induction marks as [|m marks IH]; intros [|w row] L; try discriminate; cbn; auto. Qed.

Lemma nth_marked : forall side marks row j, length marks = length row -> (j < length row)%nat ->
  nth j (marked side marks row) 0%Z = if Bool.eqb (nth j marks false) side then nth j row 0%Z else 0%Z.
Proof.
  intros side. induction marks as [|m marks IH]; intros [|w row] j L Hj; try discriminate; cbn in *; try lia.
  destruct j as [|j]; [reflexivity|]. apply IH; lia.
Qed.

Variables (B : Z) (b : box) (y : nat) (own : list bool).
Hypothesis B_positive : (0 < B)%Z.
Hypothesis boxed : box_ok h B n b z.
Hypothesis marks : marks_of y own.

Definition part (side : bool) (r : nat) : R := rsum (count h) (fun j =>
  if Bool.eqb (belongs h y j) side then W * (weight_of h y j - weight_of h r j) * a j else 0).

Lemma least_of_ok : forall side r, (r < classes h)%nat ->
  IZR (least_of h side own b y r) <= IZR B * part side r.
Proof.
  intros side r Hr. destruct marks as (Hy & Lm & M & Rows). destruct boxed as [Lb Hb]. unfold least_of.
  assert (Ly := Rows y Hy). assert (Lr := Rows r Hr).
  eapply Rle_trans; [apply (least_sum_ok B _ _ b a)|].
  - rewrite length_marked; congruence.
  - rewrite length_marked; congruence.
  - intros j Hj. apply Hb. congruence.
  - right. f_equal. rewrite Lb. apply rsum_ext. intros j Hj.
    rewrite !nth_marked by congruence. rewrite M by exact Hj. destruct (Bool.eqb _ side); [|ring].
    rewrite <- !weight_scaled. ring.
Qed.

Lemma parts : forall r, head_readout h = Linear ->
  W * (logit h n z y - logit h n z r) =
  part true r + part false r + (IZR (bias_number h y) - IZR (bias_number h r)).
Proof.
  intros r R. rewrite linear_difference by exact R. f_equal. unfold part. rewrite <- rsum_plus. apply rsum_ext.
  intros j Hj. fold a. rewrite <- !weight_scaled. destruct (belongs h y j); cbn [Bool.eqb]; ring.
Qed.

Lemma part_taken : forall r, part false r = - (W * taken_back h n z y r).
Proof.
  intros r. unfold part, taken_back. rewrite <- rsum_scal, <- rsum_opp. apply rsum_ext. intros j Hj. fold a.
  destruct (belongs h y j); cbn [Bool.eqb]; ring.
Qed.

Theorem least_by_sum_ok : forall u hi r, (r < classes h)%nat -> head_readout h = Linear ->
  taken_back h n z y r <= q hi u ->
  IZR (least_by_sum h B b u own hi y r) <= IZR B * (W * (logit h n z y - logit h n z r)).
Proof.
  intros u hi r Hr R T. unfold least_by_sum. rewrite !plus_IZR, mult_IZR, minus_IZR, parts by exact R.
  assert (Own := least_of_ok true r Hr). assert (U := Zpos_pos u). apply IZR_pos in B_positive.
  assert (PW := unit_of_weights_positive h).
  assert (Taken : IZR (floor_div (- (hi * B * unit_of_weights h)) (Zpos u)) <= IZR B * part false r).
  { apply floor_div_below; [reflexivity|]. rewrite opp_IZR, !mult_IZR, part_taken. unfold q in T.
    apply le_div_iff in T; [|exact U]. assert (0 <= IZR B * W) by (apply Rmult_le_pos; lra).
    apply (Rmult_le_compat_l (IZR B * W)) in T; [|assumption]. lra. }
  rewrite !Rmult_plus_distr_l. lra.
Qed.

Theorem sum_within_ok : forall u rivals hi, sum_within h B b u own rivals hi y = true ->
  forall r, (r < classes h)%nat -> r <> y -> lists rivals r = true -> taken_back h n z y r <= q hi u.
Proof.
  intros u rivals hi E r Hr N I. unfold sum_within in E. rewrite forallb_forall in E.
  specialize (E r ltac:(apply in_seq; lia)). apply Nat.eqb_neq in N. rewrite N, I in E. cbn [orb negb] in E.
  apply Z.leb_le, IZR_le in E. rewrite !mult_IZR, opp_IZR in E. assert (L := least_of_ok false r Hr).
  rewrite part_taken in L. assert (U := Zpos_pos u). apply IZR_pos in B_positive.
  assert (PW := unit_of_weights_positive h). unfold q. apply le_div_iff; [exact U|].
  assert (P : 0 < IZR B * W) by (apply Rmult_lt_0_compat; assumption). apply (Rmult_le_reg_l (IZR B * W)); [exact P|].
  apply (Rmult_le_compat_r (IZR (Zpos u))) in L; [|lra]. lra.
Qed.
End Sound.

Lemma greater_ok : forall B a b x, above B a x -> above B b x -> above B (greater a b) x.
Proof. intros B [a|] [b|] x Ha Hb; cbn in *; auto. destruct (Z.max_spec a b) as [[_ ->]|[_ ->]]; assumption. Qed.

Theorem lead_by_sums_ok : forall h c B b z r, (0 < B)%Z -> box_ok h B (patches c) b z -> complies h c z ->
  (r < classes h)%nat -> r <> predicted c ->
  above B (lead_by_sums h c (needed_marks h c) B b r)
    (IZR (unit_of_weights h) * (logit h (patches c) z (predicted c) - logit h (patches c) z r)).
Proof.
  intros h c B b z r HB Hb [_ H] Hr N. unfold lead_by_sums, needed_marks.
  destruct (is_linear h && existsb is_sum (statements c))%bool eqn:G; [|exact I].
  apply andb_prop in G as [G _]. unfold is_linear in G.
  assert (R : head_readout h = Linear) by (destruct (head_readout h); congruence).
  destruct (own_prototypes h (predicted c)) as [own|] eqn:E; [|exact I]. apply own_prototypes_ok in E.
  induction (statements c) as [|s ss IH]; [exact I|]. cbn [least_by_sums fold_right].
  assert (K := IH (fun s I => H s (or_intror I))). clear IH. unfold least_by_sums in K.
  destruct s as [l j lo hi|j lo hi|except lo hi|rivals hi]; try exact K.
  destruct (lists rivals r) eqn:L; [|exact K]. apply greater_ok; [|exact K]. cbn [above].
  apply (least_by_sum_ok h (patches c) z B b (predicted c) own HB Hb E (statement_unit c) hi r Hr R).
  exact (H (AboutSum rivals hi) (or_introl eq_refl) r Hr N L).
Qed.

Theorem sum_true_ok : forall h c B b z rivals hi, (0 < B)%Z -> box_ok h B (patches c) b z ->
  sum_true h c B b rivals hi = true -> holds h c z (AboutSum rivals hi).
Proof.
  intros h c B b z rivals hi HB Hb E. unfold sum_true in E.
  destruct (own_prototypes h (predicted c)) as [own|] eqn:O; [|discriminate]. apply own_prototypes_ok in O.
  exact (sum_within_ok h (patches c) z B b (predicted c) own HB Hb O (statement_unit c) rivals hi E).
Qed.
