(** Rows of weights times enclosed numbers, all rows at once: by lower ends and widths, and as digits of great numbers
    (Packing). Where widths are small, only the products with lower ends are large. *)

From Coq Require Import Reals ZArith List Lia Lra FMapPositive.
From Verale Require Import Semantics Sums Grid EnclosedVolumes Packing.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variable B : Z.

(** The sum of integers times enclosed numbers *)
Fixpoint weighted (ws : list Z) (es : list (Z * Z)) : Z * Z :=
  match ws, es with w :: ws', e :: es' => add_ends (scale_ends w e) (weighted ws' es') | _, _ => zero end.

(** An enclosed number divided by a positive integer *)
Definition divided (e : Z * Z) (d : Z) : Z * Z := (floor_div (fst e) d, ceil_div (snd e) d).

Definition width_of (e : Z * Z) : Z := snd e - fst e.
Definition negative_parts (row : list Z) : list Z := map (Z.min 0) row.

(** So many rows, and their negative parts, packed into digits of so many bits *)
Record packed_rows := PackedRows {
  packed_count : nat;
  digit_bits : Z;
  whole : list (Z * list Z);
  negative : list (Z * list Z)
}.

(** [most] is at least what is met. *)
Definition packed (most : Z) (rows : list (list Z)) : packed_rows :=
  let n := length rows in
  let bits := bits_for rows most in
  PackedRows n bits (packs bits n rows) (packs bits n (map negative_parts rows)).

(** One row, as a layer's of each channel by itself, is its only digit. *)
Definition products (bits : Z) (n : nat) (rows : list (Z * list Z)) (u : list Z) : list Z :=
  if Nat.eqb n 1 then row_of rows u else digits_of bits n rows (row_of rows u).

(** From a bias over [unit], the products with lower ends and with widths, and of the negative parts with widths *)
Definition row_ends (unit : positive) (bias low all less : Z) : Z * Z :=
  let low := B * bias + low in divided (low + less, low + (all - less)) (Zpos unit).

Fixpoint each_row (unit : positive) (biases lows alls lesses : list Z) : list (Z * Z) :=
  match lows, alls, lesses with
  | low :: lows', all :: alls', less :: lesses' =>
      row_ends unit (hd 0 biases) low all less :: each_row unit (tl biases) lows' alls' lesses'
  | _, _, _ => nil
  end.

(** The rows over a unit times what they meet, and biases over the same unit *)
Definition affine (unit : positive) (biases : list Z) (rows : packed_rows) (es : list (Z * Z)) : list (Z * Z) :=
  let sums := products (digit_bits rows) (packed_count rows) in
  let widths := map width_of es in
  each_row unit biases (sums (whole rows) (map fst es)) (sums (whole rows) widths) (sums (negative rows) widths).

(** The greatest size of a layer's lower ends and widths *)
Definition greater (most : Z) (ends : Z * Z) : Z := Z.max (Z.max (Z.abs (fst ends)) (Z.abs (width_of ends))) most.
Definition greatest (e : enclosed) : Z := PositiveMap.fold (fun _ ends most => fold_left greater ends most) (cells e) 0.

(** * What it means *)

(** ** Sizes *)

Definition ends_at_most (most : Z) (ends : Z * Z) : Prop := Z.abs (fst ends) <= most /\ Z.abs (width_of ends) <= most.

Lemma greatest_of : forall l m, m <= fold_left greater l m /\ Forall (ends_at_most (fold_left greater l m)) l.
Proof.
  induction l as [|ends l IH]; intros m; cbn [fold_left]; [split; [lia|constructor]|].
  destruct (IH (greater m ends)) as [H G]. assert (E : m <= greater m ends) by (unfold greater; lia).
  split; [lia|]. constructor; [|exact G]. unfold ends_at_most, greater in *. lia.
Qed.

Lemma greatest_from : forall (l : list (positive * list (Z * Z))) m,
  let top := fold_left (fun a p => fold_left greater (snd p) a) l m in
  m <= top /\ forall p, In p l -> Forall (ends_at_most top) (snd p).
Proof.
  induction l as [|p l IH]; intros m; cbn [fold_left]; [split; [lia|intros _ []]|].
  destruct (greatest_of (snd p) m) as [O P]. destruct (IH (fold_left greater (snd p) m)) as [H G]. cbv zeta.
  split; [lia|]. intros q [<-|I]; [|apply G; exact I]. eapply Forall_impl; [|exact P]. unfold ends_at_most. lia.
Qed.

Lemma greatest_nonneg : forall e, 0 <= greatest e.
Proof. intros e. unfold greatest. rewrite PositiveMap.fold_1. apply greatest_from. Qed.

Lemma zero_at_most : forall e, ends_at_most (greatest e) zero.
Proof. intros e. assert (H := greatest_nonneg e). unfold ends_at_most, width_of, zero. cbn [fst snd]. lia. Qed.

Lemma found_at_most : forall e c y x, ends_at_most (greatest e) (found e c y x).
Proof.
  intros e c y x. unfold found, cell. destruct (PositiveMap.find _ _) as [ends|] eqn:F.
  - destruct (nth_in_or_default c ends zero) as [I| ->]; [|apply zero_at_most].
    apply PositiveMap.elements_correct in F. unfold greatest. rewrite PositiveMap.fold_1.
    assert (G := proj2 (greatest_from _ 0) _ F). cbn [snd] in G. rewrite Forall_forall in G. apply G. exact I.
  - destruct c; apply zero_at_most.
Qed.

Lemma negative_sizes : forall row, sizes (negative_parts row) <= sizes row.
Proof. induction row as [|w row IH]; cbn [negative_parts map sizes] in *; [lia|]. fold (negative_parts row). lia. Qed.

Lemma products_are : forall bits ps u, 0 < bits -> Forall (fun p => Z.abs (zdot u p) < Z.shiftl 1 (bits - 1)) ps ->
  products bits (length ps) (packs bits (length ps) ps) u = map (zdot u) ps.
Proof.
  intros bits ps u P H. unfold products. assert (R := row_of_right bits P u (length ps) ps).
  destruct (Nat.eqb_spec (length ps) 1) as [N|_].
  - destruct ps as [|p [|]]; try discriminate. rewrite R. cbn -[Z.mul]. f_equal. ring.
  - apply digits_of_right; [exact P|exact R|exact H|apply Nat.le_refl].
Qed.

(** ** Sums *)

Lemma by_widths : forall ws es,
  let less := zdot (map width_of es) (negative_parts ws) in
  weighted ws es = (zdot (map fst es) ws + less, zdot (map fst es) ws + (zdot (map width_of es) ws - less)).
Proof.
  cbv zeta. induction ws as [|w ws IH]; intros [|[a b] es]; try reflexivity. cbn [map weighted zdot negative_parts].
  fold (negative_parts ws). rewrite IH. unfold add_ends, scale_ends, width_of. cbn [fst snd].
  destruct (0 <=? w) eqn:W; [apply Z.leb_le in W|apply Z.leb_gt in W]; cbn [fst snd]; f_equal.
  all: (rewrite Z.min_l by lia) || (rewrite Z.min_r by lia); ring.
Qed.

Lemma nth_each_row : forall unit (f g h : list Z -> Z) rows biases o, (o < length rows)%nat ->
  nth o (each_row unit biases (map f rows) (map g rows) (map h rows)) zero =
  let row := nth o rows nil in row_ends unit (nth o biases 0) (f row) (g row) (h row).
Proof.
  intros unit f g h. induction rows as [|row rows IH]; intros biases o H; [inversion H|]. cbn [map each_row].
  destruct o as [|o]; cbn [nth].
  - destruct biases; reflexivity.
  - rewrite IH by (cbn [length] in H; lia). destruct biases as [|b biases]; [destruct o; reflexivity|reflexivity].
Qed.

Lemma length_each_row : forall unit (f g h : list Z -> Z) rows biases,
  length (each_row unit biases (map f rows) (map g rows) (map h rows)) = length rows.
Proof.
  intros unit f g h. induction rows as [|row rows IH]; intros biases; [reflexivity|]. cbn. rewrite IH. reflexivity.
Qed.

(** [es] are numbers of a layer. *)
Definition met (most : Z) (es : list (Z * Z)) : Prop := 0 <= most /\ Forall (ends_at_most most) es.

Lemma affine_is : forall unit biases most rows es, met most es ->
  let widths := map width_of es in
  affine unit biases (packed most rows) es = each_row unit biases (map (zdot (map fst es)) rows)
    (map (zdot widths) rows) (map (fun row => zdot widths (negative_parts row)) rows).
Proof.
  intros unit biases most rows es (M & H). cbv zeta. unfold affine, packed.
  cbn [packed_count digit_bits whole negative].
  assert (L : at_most most (map fst es)) by (apply Forall_map; eapply Forall_impl; [|exact H]; intros ends E; apply E).
  assert (W : at_most most (map width_of es)) by
    (apply Forall_map; eapply Forall_impl; [|exact H]; intros ends E; apply E).
  assert (PL := products_small rows most (map fst es) (fun row => row) M L (fun row => Z.le_refl _)).
  assert (PW := products_small rows most (map width_of es) (fun row => row) M W (fun row => Z.le_refl _)).
  assert (PN := products_small rows most (map width_of es) negative_parts M W negative_sizes).
  rewrite map_id in PL, PW. rewrite !products_are by (assumption || apply bits_for_positive).
  f_equal. rewrite <- (map_length negative_parts rows), products_are by (assumption || apply bits_for_positive).
  apply map_map.
Qed.
End Run.

Open Scope R_scope.

Lemma zero_ok : forall B, encloses B zero 0.
Proof. intros B. unfold encloses. cbn. lra. Qed.

Lemma divided_ok : forall B e r d, (0 < d)%Z -> encloses B e r -> encloses B (divided e d) (r / IZR d).
Proof.
  intros B e r d Hd [L H]. assert (D := IZR_pos d Hd).
  assert (E : IZR d * (IZR B * (r / IZR d)) = IZR B * r) by (field; lra).
  split; cbn [divided fst snd]; [apply floor_div_below|apply ceil_div_above]; rewrite ?E; assumption.
Qed.

Lemma weighted_ok : forall B es rs, Forall2 (encloses B) es rs -> forall ws,
  encloses B (weighted ws es) (rsum (length rs) (fun k => IZR (nth k ws 0%Z) * nth k rs 0)).
Proof.
  intros B es rs H. induction H as [|e r es rs E H IH]; intros ws.
  - replace (weighted ws nil) with zero by (destruct ws; reflexivity). apply zero_ok.
  - cbn [length]. rewrite rsum_front. destruct ws as [|w ws].
    + rewrite rsum_zero by (intros; cbn; ring). cbn [nth]. rewrite Rmult_0_l, Rplus_0_r. apply zero_ok.
    + cbn [weighted nth]. apply add_ends_ok; [apply scale_ends_ok; exact E|apply IH].
Qed.

Lemma length_affine : forall B unit biases most rows es, met most es ->
  length (affine B unit biases (packed most rows) es) = length rows.
Proof. intros. rewrite affine_is by assumption. apply length_each_row. Qed.

Lemma affine_ok : forall B unit biases most rows es rs o, Forall2 (encloses B) es rs -> met most es ->
  (o < length rows)%nat ->
  encloses B (nth o (affine B unit biases (packed most rows) es) zero)
    (q (nth o biases 0%Z) unit + rsum (length rs) (fun k => q (nth k (nth o rows nil) 0%Z) unit * nth k rs 0)).
Proof.
  intros B unit biases most rows es rs o H M O. assert (U := Zpos_pos unit).
  rewrite affine_is, nth_each_row by assumption. cbv zeta. set (row := nth o rows nil). set (bias := nth o biases 0%Z).
  replace (q bias unit + rsum (length rs) (fun k => q (nth k row 0%Z) unit * nth k rs 0)) with
    ((IZR bias + rsum (length rs) (fun k => IZR (nth k row 0%Z) * nth k rs 0)) / IZR (Zpos unit)).
  - apply divided_ok; [reflexivity|]. assert (W := by_widths row es). cbv zeta in W.
    match goal with |- encloses _ ?ends _ => replace ends with (add_ends (B * bias, B * bias)%Z (weighted row es)) end.
    + apply add_ends_ok; [|apply weighted_ok; exact H]. unfold encloses. cbn [fst snd]. rewrite mult_IZR. lra.
    + rewrite W. unfold add_ends. cbn [fst snd]. f_equal; ring.
  - unfold q, Rdiv. rewrite Rmult_plus_distr_r. f_equal. rewrite Rmult_comm, <- rsum_scal. apply rsum_ext.
    intros. ring.
Qed.
