(** What a layer gives, enclosed: sums of products in exact integers and rounded once, functions of one number at both
    ends, and maxima and means over windows. What does not fit is refused. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics NetworkSemantics Sums Grid Root Monotone Exponential EnclosedVolumes RowSums.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (B : Z) (terms : nat).

(** The sum of enclosed numbers *)
Definition total (es : list (Z * Z)) : Z * Z := fold_right add_ends zero es.

Fixpoint greatest_enclosed (es : list (Z * Z)) : Z * Z :=
  match es with nil => zero | [e] => e | e :: es' => max_ends e (greatest_enclosed es') end.

(** ** Windows *)

(** What a kernel meets in all channels, place by place, and what of it is inside *)
Definition cell_at (e : enclosed) (place : Z * Z) : list (Z * Z) := cell e (Z.to_nat (fst place)) (Z.to_nat (snd place)).
Definition cells_met (w : windows) (e : enclosed) (y x : nat) : list (list (Z * Z)) :=
  flat_map (fun a => map (fun b =>
    let place := meets w y x a b in if inside (tall e) (wide e) place then cell_at e place else nil)
    (seq 0 (snd (kernel w)))) (seq 0 (fst (kernel w))).
Definition cells_inside (w : windows) (e : enclosed) (y x : nat) : list (list (Z * Z)) :=
  flat_map (fun a => flat_map (fun b =>
    let place := meets w y x a b in if inside (tall e) (wide e) place then [cell_at e place] else nil)
    (seq 0 (snd (kernel w)))) (seq 0 (fst (kernel w))).

Definition rows_given (w : windows) (e : enclosed) : nat :=
  extent (tall e) (fst (kernel w)) (fst (stride w)) (fst (padding w)) (fst (dilation w)).
Definition columns_given (w : windows) (e : enclosed) : nat :=
  extent (wide e) (snd (kernel w)) (snd (stride w)) (snd (padding w)) (snd (dilation w)).

(** ** Functions of one number *)

Definition rectified_ends (e : Z * Z) : Z * Z := (Z.max 0 (fst e), Z.max 0 (snd e)).
Definition clamped_ends (least most : fraction) (e : Z * Z) : Z * Z :=
  let ends f := quotient_ends B (numerator f) (Zpos (denominator f)) in
  min_ends (ends most) (max_ends (ends least) e).
Definition leaky_ends (slope : fraction) (e : Z * Z) : Z * Z :=
  (if 0 <=? fst e then fst e else floor_div (fst e * numerator slope) (Zpos (denominator slope)),
   if 0 <=? snd e then snd e else ceil_div (snd e * numerator slope) (Zpos (denominator slope))).

(** 1 / (1 + exp(-i)) and 1 - 2 / (1 + exp(2 i)); in [0, 1] and [-1, 1] where an exponential is refused *)
Definition logistic_ends (e : Z * Z) : Z * Z :=
  match exp_of_ends B terms B (opp_ends e) with
  | Some f => inverse_ends B (add_ends (B, B) f)
  | None => (0, B)
  end.
Definition hyperbolic_ends (e : Z * Z) : Z * Z :=
  match exp_of_ends B terms B (scale_ends 2 e) with
  | Some f => sub_ends (B, B) (scale_ends 2 (inverse_ends B (add_ends (B, B) f)))
  | None => (- B, B)
  end.

(** Of numbers whose lower ends are positive *)
Definition inverse_root_ends (e : Z * Z) : Z * Z := root_of_ends B (inverse_ends B e).

(** ** Layers *)

(** What groups of [own] channels each make of what a kernel meets, channel by channel *)
Fixpoint by_group (unit : positive) (own : nat) (groups : list (list Z * packed_rows)) (met : list (list (Z * Z))) :
    list (Z * Z) :=
  match groups with
  | nil => nil
  | g :: groups' =>
      affine B unit (fst g) (snd g) (concat (firstn own met)) ++ by_group unit own groups' (skipn own met)
  end.

(** The rows of each group are packed once. *)
Definition conv2d_enclosed (w : windows) (groups : nat) (unit : positive) (weights : list (list Z)) (biases : list Z)
    (e : enclosed) : enclosed :=
  let own := Nat.div (planes e) groups in
  let each := Nat.div (length weights) groups in
  let most := greatest e in
  let of_groups := map (fun g =>
    (skipn (g * each) biases, packed most (firstn each (skipn (g * each) weights)))) (seq 0 groups) in
  built (length weights) (rows_given w e) (columns_given w e) (fun y x =>
    by_group unit own of_groups (by_channel (planes e) (cells_met w e y x))).

Definition linear_enclosed (unit : positive) (weights : list (list Z)) (biases : list Z) (e : enclosed) : enclosed :=
  let rows := packed (greatest e) weights in
  built (length weights) 1 1 (fun _ _ => affine B unit biases rows (whole_cell e 0 0)).

Definition added_enclosed (es : list enclosed) : enclosed :=
  let e := hd nothing_enclosed es in
  built (planes e) (tall e) (wide e) (fun y x => map total (by_channel (planes e) (map (fun e => cell e y x) es))).

Definition joined_enclosed (es : list enclosed) : enclosed :=
  let e := hd nothing_enclosed es in
  built (fold_right (fun e sum => (planes e + sum)%nat) O es) (tall e) (wide e) (fun y x =>
    flat_map (fun e => whole_cell e y x) es).

(** Numbers times others, or times one for all channels *)
Fixpoint products_each (es fs : list (Z * Z)) : list (Z * Z) :=
  match es, fs with e :: es', f :: fs' => product_ends B e f :: products_each es' fs' | _, _ => nil end.
Definition multiplied_enclosed (e f : enclosed) : enclosed :=
  built (planes e) (tall e) (wide e) (fun y x =>
    let factors := whole_cell f (repeated (tall f) y) (repeated (wide f) x) in
    products_each (whole_cell e y x) (if Nat.eqb (planes f) 1 then repeat (hd zero factors) (planes e) else factors)).

Definition each_enclosed (f : Z * Z -> Z * Z) (e : enclosed) : enclosed :=
  built (planes e) (tall e) (wide e) (fun y x => map f (whole_cell e y x)).

Definition max_pool2d_enclosed (w : windows) (e : enclosed) : enclosed :=
  built (planes e) (rows_given w e) (columns_given w e) (fun y x =>
    map greatest_enclosed (by_channel (planes e) (cells_inside w e y x))).

Definition avg_pool2d_enclosed (w : windows) (e : enclosed) : enclosed :=
  let size := Z.of_nat (fst (kernel w) * snd (kernel w)) in
  built (planes e) (rows_given w e) (columns_given w e) (fun y x =>
    map (fun met => divided (total met) size) (by_channel (planes e) (cells_met w e y x))).

Definition flattened_enclosed (e : enclosed) : enclosed :=
  built_each (planes e * tall e * wide e) 1 1 (fun k _ _ =>
    found e (Nat.div (Nat.div k (wide e)) (tall e)) (Nat.modulo (Nat.div k (wide e)) (tall e)) (Nat.modulo k (wide e))).

Definition upsampled_enclosed (factor : nat * nat) (e : enclosed) : enclosed :=
  built (planes e) (tall e * fst factor) (wide e * snd factor)
    (fun y x => cell e (Nat.div y (fst factor)) (Nat.div x (snd factor))).

(** Rows and columns are those of another, and channels too. *)
Definition as_wide (e f : enclosed) : bool := Nat.eqb (tall f) (tall e) && Nat.eqb (wide f) (wide e).
Definition as_large (e f : enclosed) : bool := Nat.eqb (planes f) (planes e) && as_wide e f.

(** Extents of what a product repeats *)
Definition repeats (e f : enclosed) : bool :=
  let fits n m := Nat.eqb m n || Nat.eqb m 1 in
  fits (planes e) (planes f) && fits (tall e) (tall f) && fits (wide e) (wide f).

Definition all_positive (e : enclosed) : bool :=
  forallb (fun y => forallb (fun x => forallb (fun ends => 0 <? fst ends) (whole_cell e y x)) (seq 0 (wide e)))
    (seq 0 (tall e)).

Definition given_if (fits : bool) (e : enclosed) : option enclosed := if fits then Some e else None.

Definition computed_enclosed (does : operation) (es : list enclosed) : option enclosed :=
  let e := hd nothing_enclosed es in
  match does with
  | Conv2d w groups unit weights biases =>
      given_if (Nat.ltb 0 groups && Nat.eqb (groups * Nat.div (length weights) groups) (length weights))
        (conv2d_enclosed w groups unit weights biases e)
  | LinearLayer unit weights biases =>
      given_if (Nat.eqb (tall e) 1 && Nat.eqb (wide e) 1) (linear_enclosed unit weights biases e)
  | Add => given_if (forallb (as_large e) es) (added_enclosed es)
  | Concat => given_if (forallb (as_wide e) es) (joined_enclosed es)
  | Multiply => let f := hd nothing_enclosed (tl es) in given_if (repeats e f) (multiplied_enclosed e f)
  | Relu => Some (each_enclosed rectified_ends e)
  | Clamp least most => Some (each_enclosed (clamped_ends least most) e)
  | LeakyRelu slope => given_if (0 <=? numerator slope) (each_enclosed (leaky_ends slope) e)
  | Sigmoid => Some (each_enclosed logistic_ends e)
  | Tanh => Some (each_enclosed hyperbolic_ends e)
  | InverseRoot => given_if (all_positive e) (each_enclosed inverse_root_ends e)
  | MaxPool2d w => Some (max_pool2d_enclosed w e)
  | AvgPool2d w => given_if (Nat.ltb 0 (fst (kernel w) * snd (kernel w))) (avg_pool2d_enclosed w e)
  | Flatten => Some (flattened_enclosed e)
  | UpsampleNearest factor => Some (upsampled_enclosed factor e)
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

(** ** Sums *)

Lemma total_ok : forall B es rs, Forall2 (encloses B) es rs ->
  encloses B (total es) (rsum (length rs) (fun k => nth k rs 0)).
Proof.
  intros B es rs H. induction H as [|e r es rs E H IH]; [apply zero_ok|]. cbn [length]. rewrite rsum_front.
  apply add_ends_ok; assumption.
Qed.

Lemma greatest_enclosed_ok : forall B es rs, (0 < B)%Z -> Forall2 (encloses B) es rs ->
  encloses B (greatest_enclosed es) (rgreatest rs).
Proof.
  intros B es rs HB H. induction H as [|e r es rs E H IH]; [apply zero_ok|].
  destruct H as [|e' r' es rs E' H]; [exact E|].
  change (encloses B (max_ends e (greatest_enclosed (e' :: es))) (Rmax r (rgreatest (r' :: rs)))).
  apply max_ends_ok; assumption.
Qed.

(** A sum of sums, as one over all *)
Lemma rsum_blocks : forall f m n, rsum n (fun i => rsum m (fun j => f (i * m + j)%nat)) = rsum (n * m) f.
Proof.
  intros f m. induction n as [|n IH]; [reflexivity|]. cbn [rsum]. rewrite IH.
  replace (S n * m)%nat with (n * m + m)%nat by lia.
  generalize (n * m)%nat as s. intros s. clear. induction m as [|m IH]; [rewrite Nat.add_0_r; cbn; ring|].
  rewrite Nat.add_succ_r. cbn [rsum]. rewrite <- IH. ring.
Qed.

(** ** Functions of one number *)

Lemma rectified_ends_ok : forall B e r, (0 < B)%Z -> encloses B e r -> encloses B (rectified_ends e) (Rmax 0 r).
Proof. intros B e r HB H. exact (max_ends_ok B zero e 0 r HB (zero_ok B) H). Qed.

Lemma clamped_ends_ok : forall B least most e r, (0 < B)%Z -> encloses B e r ->
  encloses B (clamped_ends B least most e) (clamped (real least) (real most) r).
Proof.
  intros B least most e r HB H. unfold clamped_ends, clamped.
  apply min_ends_ok; [exact HB|apply quotient_ends_ok; reflexivity|].
  apply max_ends_ok; [exact HB|apply quotient_ends_ok; reflexivity|exact H].
Qed.

Lemma leaky_rises : forall s a b, 0 <= s -> a <= b -> leaky s a <= leaky s b.
Proof. intros s a b Hs H. unfold leaky. destruct (Rle_dec 0 a), (Rle_dec 0 b); nra. Qed.

Lemma leaky_scaled : forall s k x, 0 < k -> k * leaky s x = leaky s (k * x).
Proof. intros s k x K. unfold leaky. destruct (Rle_dec 0 x), (Rle_dec 0 (k * x)); try ring; exfalso; nra. Qed.

Lemma leaky_ends_ok : forall B slope e r, (0 < B)%Z -> (0 <= numerator slope)%Z -> encloses B e r ->
  encloses B (leaky_ends slope e) (leaky (real slope) r).
Proof.
  intros B slope e r HB Hs [L H]. assert (S0 : 0 <= real slope).
  { apply div_nonneg; [apply IZR_nonneg; exact Hs|apply Zpos_pos]. }
  assert (D := Zpos_pos (denominator slope)).
  assert (P : forall a, IZR (Zpos (denominator slope)) * (real slope * IZR a) = IZR (a * numerator slope)).
  { intros a. rewrite mult_IZR. unfold real, q. field. lra. }
  assert (N : forall a : Z, (a < 0)%Z -> leaky (real slope) (IZR a) = real slope * IZR a).
  { intros a A. apply IZR_lt in A. unfold leaky. destruct (Rle_dec 0 (IZR a)); [lra|reflexivity]. }
  assert (Q : forall a : Z, (0 <= a)%Z -> leaky (real slope) (IZR a) = IZR a).
  { intros a A. apply IZR_le in A. unfold leaky. destruct (Rle_dec 0 (IZR a)); [reflexivity|lra]. }
  unfold encloses. rewrite leaky_scaled by (apply IZR_pos; exact HB). cbn [leaky_ends fst snd]. split.
  - apply Rle_trans with (leaky (real slope) (IZR (fst e))); [|apply leaky_rises; assumption].
    destruct (0 <=? fst e)%Z eqn:C; [apply Z.leb_le in C; rewrite Q by exact C; lra|]. apply Z.leb_gt in C.
    rewrite N by exact C. apply floor_div_below; [reflexivity|]. rewrite P. lra.
  - apply Rle_trans with (leaky (real slope) (IZR (snd e))); [apply leaky_rises; assumption|].
    destruct (0 <=? snd e)%Z eqn:C; [apply Z.leb_le in C; rewrite Q by exact C; lra|]. apply Z.leb_gt in C.
    rewrite N by exact C. apply ceil_div_above; [reflexivity|]. rewrite P. lra.
Qed.

Lemma inverse_root_ends_ok : forall B e r, (0 < B)%Z -> (0 < fst e)%Z -> encloses B e r ->
  encloses B (inverse_root_ends B e) (inverse_root r).
Proof.
  intros B e r HB He H. unfold inverse_root_ends, inverse_root. rewrite <- sqrt_inv.
  apply root_of_ends_ok; [exact HB|apply (inverse_ends_nonneg B e r); assumption|].
  apply inverse_ends_ok; assumption.
Qed.

Lemma one_ok : forall B, encloses B (B, B) 1.
Proof. intros B. unfold encloses. cbn [fst snd]. lra. Qed.

(** 1 / (1 + exp y) *)
Lemma share_ok : forall B f y, (0 < B)%Z -> (0 <= fst f)%Z -> encloses B f (exp y) ->
  encloses B (inverse_ends B (add_ends (B, B) f)) (/ (1 + exp y)).
Proof.
  intros B f y HB F H. apply inverse_ends_ok; [exact HB|cbn [add_ends fst]; lia|].
  apply add_ends_ok; [apply one_ok|exact H].
Qed.

Lemma share_between : forall y, 0 <= / (1 + exp y) <= 1.
Proof.
  intros y. assert (E := exp_pos y). split; [left; apply Rinv_0_lt_compat; lra|].
  rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
Qed.

Lemma logistic_ends_ok : forall B terms e r, (0 < B)%Z -> encloses B e r ->
  encloses B (logistic_ends B terms e) (logistic r).
Proof.
  intros B terms e r HB H. unfold logistic_ends, logistic. unfold Rdiv. rewrite Rmult_1_l.
  destruct (exp_of_ends _ _ _ _) as [f|] eqn:E.
  - apply exp_of_ends_ok with (y := - r) in E as [F E]; [apply share_ok; assumption|exact HB|].
    apply opp_ends_ok. exact H.
  - assert (S := share_between (- r)). apply IZR_pos in HB. unfold encloses. cbn [fst snd]. nra.
Qed.

Lemma hyperbolic_share : forall r, hyperbolic r = 1 - 2 * / (1 + exp (2 * r)).
Proof.
  intros r. unfold hyperbolic. assert (E := exp_pos r). assert (F := exp_pos (- r)).
  assert (P : exp r * exp (- r) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  replace (exp (2 * r)) with (exp r * exp r) by (rewrite <- exp_plus; f_equal; ring).
  replace (exp (- r)) with (/ exp r) by (apply (Rmult_eq_reg_l (exp r)); [rewrite P; field; lra|lra]).
  field. split; nra.
Qed.

Lemma hyperbolic_ends_ok : forall B terms e r, (0 < B)%Z -> encloses B e r ->
  encloses B (hyperbolic_ends B terms e) (hyperbolic r).
Proof.
  intros B terms e r HB H. unfold hyperbolic_ends. rewrite hyperbolic_share.
  destruct (exp_of_ends _ _ _ _) as [f|] eqn:E.
  - apply exp_of_ends_ok with (y := 2 * r) in E as [F E]; [|exact HB|apply scale_ends_ok; exact H].
    apply sub_ends_ok; [apply one_ok|]. apply scale_ends_ok. apply share_ok; assumption.
  - assert (S := share_between (2 * r)). apply IZR_pos in HB. unfold encloses. cbn [fst snd]. rewrite opp_IZR. nra.
Qed.
