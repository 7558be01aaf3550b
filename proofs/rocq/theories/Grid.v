(** Enclosures of real numbers by integers over a scale.

    An integer a over the scale B stands for the real number a / B. A pair (a, b) encloses a real number r at B where
    a <= B r <= b. Every operation below rounds its lower end down and its upper end up, so that what it encloses is
    certain; how narrow an enclosure is, is never proved and never needed. *)

From Coq Require Import Reals ZArith Lia Lra.
Open Scope R_scope.

(** * Integers as reals *)

Lemma IZR_pos : forall a : Z, (0 < a)%Z -> 0 < IZR a.
Proof. intros a H. apply (IZR_lt 0). exact H. Qed.

Lemma IZR_nonneg : forall a : Z, (0 <= a)%Z -> 0 <= IZR a.
Proof. intros a H. apply (IZR_le 0). exact H. Qed.

Lemma Zpos_pos : forall d : positive, 0 < IZR (Zpos d).
Proof. intros d. apply IZR_pos. reflexivity. Qed.

(** a / d <= r and r <= a / d, multiplied out *)
Lemma div_le_iff : forall a d r, 0 < d -> (a / d <= r <-> a <= d * r).
Proof.
  intros a d r Hd. replace a with (d * (a / d)) at 2 by (field; lra). split; intros H.
  - apply Rmult_le_compat_l; lra.
  - apply (Rmult_le_reg_l d); assumption.
Qed.

Lemma le_div_iff : forall a d r, 0 < d -> (r <= a / d <-> d * r <= a).
Proof.
  intros a d r Hd. replace a with (d * (a / d)) at 2 by (field; lra). split; intros H.
  - apply Rmult_le_compat_l; lra.
  - apply (Rmult_le_reg_l d); assumption.
Qed.

Lemma div_nonneg : forall a d, 0 <= a -> 0 < d -> 0 <= a / d.
Proof. intros a d Ha Hd. apply le_div_iff; lra. Qed.

Lemma div_pos : forall a d, 0 < a -> 0 < d -> 0 < a / d.
Proof. intros a d Ha Hd. apply Rmult_lt_0_compat; [exact Ha|]. apply Rinv_0_lt_compat. exact Hd. Qed.

(** * Division, rounded *)

Definition floor_div (a b : Z) : Z := (a / b)%Z.
Definition ceil_div (a b : Z) : Z := (- ((- a) / b))%Z.

Lemma floor_div_le : forall a b : Z, (0 < b)%Z -> IZR (floor_div a b) <= IZR a / IZR b.
Proof.
  intros a b Hb. apply le_div_iff; [apply IZR_pos; exact Hb|]. rewrite <- mult_IZR. apply IZR_le.
  apply Z.mul_div_le. exact Hb.
Qed.

Lemma le_ceil_div : forall a b : Z, (0 < b)%Z -> IZR a / IZR b <= IZR (ceil_div a b).
Proof.
  intros a b Hb. unfold ceil_div. rewrite opp_IZR. assert (H := floor_div_le (- a) b Hb).
  rewrite opp_IZR in H. unfold floor_div, Rdiv in *. lra.
Qed.

Lemma floor_div_nonneg : forall a b : Z, (0 <= a)%Z -> (0 < b)%Z -> (0 <= floor_div a b)%Z.
Proof. intros a b Ha Hb. apply Z.div_pos; assumption. Qed.

Lemma ceil_div_nonneg : forall a b : Z, (0 <= a)%Z -> (0 < b)%Z -> (0 <= ceil_div a b)%Z.
Proof.
  intros a b Ha Hb. unfold ceil_div. assert (H : (- a / b <= 0 / b)%Z) by (apply Z.div_le_mono; lia).
  rewrite Z.div_0_l in H by lia. lia.
Qed.

Lemma ceil_div_pos : forall a b : Z, (0 < a)%Z -> (0 < b)%Z -> (0 < ceil_div a b)%Z.
Proof. intros a b Ha Hb. unfold ceil_div. assert (- a / b < 0)%Z by (apply Z.div_lt_upper_bound; lia). lia. Qed.

(** The forms in which a bound is carried through a rounded quotient *)
Lemma floor_div_below : forall (a b : Z) r, (0 < b)%Z -> IZR a <= IZR b * r -> IZR (floor_div a b) <= r.
Proof.
  intros a b r Hb H. eapply Rle_trans; [apply floor_div_le; exact Hb|].
  apply div_le_iff; [apply IZR_pos; exact Hb|exact H].
Qed.

Lemma ceil_div_above : forall (a b : Z) r, (0 < b)%Z -> IZR b * r <= IZR a -> r <= IZR (ceil_div a b).
Proof.
  intros a b r Hb H. eapply Rle_trans; [|apply le_ceil_div; exact Hb].
  apply le_div_iff; [apply IZR_pos; exact Hb|exact H].
Qed.

(** * Enclosures *)

Definition encloses (B : Z) (e : Z * Z) (r : R) : Prop := IZR (fst e) <= IZR B * r <= IZR (snd e).

(** What a lower end that is not negative says of the number *)
Lemma encloses_nonneg : forall B e r, (0 < B)%Z -> (0 <= fst e)%Z -> encloses B e r -> 0 <= r.
Proof.
  intros B e r HB Ha [H _]. apply IZR_pos in HB. apply IZR_nonneg in Ha. apply (Rmult_le_reg_l (IZR B)); lra.
Qed.

Lemma encloses_pos : forall B e r, (0 < B)%Z -> (0 < fst e)%Z -> encloses B e r -> 0 < r.
Proof.
  intros B e r HB Ha [H _]. apply IZR_pos in HB. apply IZR_pos in Ha. apply (Rmult_lt_reg_l (IZR B)); lra.
Qed.

(** The lower end of one and the upper end of another, for a number between the two *)
Lemma encloses_between : forall B e f r s t, (0 < B)%Z ->
  encloses B e r -> encloses B f t -> r <= s <= t -> encloses B (fst e, snd f) s.
Proof.
  intros B e f r s t HB [He _] [_ Hf] [H1 H2]. apply IZR_pos in HB. split; cbn [fst snd].
  - eapply Rle_trans; [exact He|]. apply Rmult_le_compat_l; lra.
  - eapply Rle_trans; [|exact Hf]. apply Rmult_le_compat_l; lra.
Qed.

(** A rational number *)
Definition quotient_ends (B n d : Z) : Z * Z := (floor_div (B * n) d, ceil_div (B * n) d).

Lemma quotient_ends_ok : forall B n d, (0 < d)%Z -> encloses B (quotient_ends B n d) (IZR n / IZR d).
Proof.
  intros B n d Hd. assert (E : IZR B * (IZR n / IZR d) = IZR (B * n) / IZR d) by (rewrite mult_IZR; unfold Rdiv; ring).
  unfold encloses. rewrite E. split; [apply floor_div_le|apply le_ceil_div]; exact Hd.
Qed.

(** Sum, opposite, difference *)
Definition add_ends (e f : Z * Z) : Z * Z := (fst e + fst f, snd e + snd f)%Z.
Definition opp_ends (e : Z * Z) : Z * Z := (- snd e, - fst e)%Z.
Definition sub_ends (e f : Z * Z) : Z * Z := (fst e - snd f, snd e - fst f)%Z.

Lemma add_ends_ok : forall B e f r s, encloses B e r -> encloses B f s -> encloses B (add_ends e f) (r + s).
Proof. intros B e f r s [] []. unfold encloses. cbn [add_ends fst snd]. rewrite !plus_IZR, Rmult_plus_distr_l. lra. Qed.

Lemma opp_ends_ok : forall B e r, encloses B e r -> encloses B (opp_ends e) (- r).
Proof. intros B e r []. unfold encloses. cbn [opp_ends fst snd]. rewrite !opp_IZR, Ropp_mult_distr_r_reverse. lra. Qed.

Lemma sub_ends_ok : forall B e f r s, encloses B e r -> encloses B f s -> encloses B (sub_ends e f) (r - s).
Proof.
  intros B e f r s [] []. unfold encloses. cbn [sub_ends fst snd]. rewrite !minus_IZR, Rmult_minus_distr_l. lra.
Qed.

(** An integer times an enclosed number: exact *)
Definition scale_ends (k : Z) (e : Z * Z) : Z * Z :=
  (if 0 <=? k then (k * fst e, k * snd e) else (k * snd e, k * fst e))%Z.

Lemma scale_ends_ok : forall B k e r, encloses B e r -> encloses B (scale_ends k e) (IZR k * r).
Proof.
  intros B k e r [H1 H2]. unfold encloses, scale_ends. replace (IZR B * (IZR k * r)) with (IZR k * (IZR B * r)) by ring.
  destruct (0 <=? k)%Z eqn:K; cbn [fst snd]; rewrite !mult_IZR.
  - apply Z.leb_le, IZR_nonneg in K. split; apply Rmult_le_compat_l; lra.
  - apply Z.leb_gt, IZR_lt in K. split; apply Rmult_le_compat_neg_l; lra.
Qed.

(** The product of two numbers whose lower ends are not negative *)
Definition mul_ends (B : Z) (e f : Z * Z) : Z * Z := (floor_div (fst e * fst f) B, ceil_div (snd e * snd f) B).

Lemma mul_ends_nonneg : forall B e f, (0 < B)%Z -> (0 <= fst e)%Z -> (0 <= fst f)%Z -> (0 <= fst (mul_ends B e f))%Z.
Proof. intros B e f HB He Hf. apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg|]; assumption. Qed.

Lemma mul_ends_ok : forall B e f r s, (0 < B)%Z -> (0 <= fst e)%Z -> (0 <= fst f)%Z ->
  encloses B e r -> encloses B f s -> encloses B (mul_ends B e f) (r * s).
Proof.
  intros B e f r s HB He Hf [E1 E2] [F1 F2]. apply IZR_nonneg in He, Hf.
  assert (P : IZR B * (IZR B * (r * s)) = (IZR B * r) * (IZR B * s)) by ring.
  split; cbn [mul_ends fst snd].
  - apply floor_div_below; [exact HB|]. rewrite mult_IZR, P. apply Rmult_le_compat; lra.
  - apply ceil_div_above; [exact HB|]. rewrite mult_IZR, P. apply Rmult_le_compat; lra.
Qed.

(** The product of any two enclosed numbers: its extremes lie at ends of both. *)
Definition product_ends (B : Z) (e f : Z * Z) : Z * Z :=
  (let p := fst e * fst f in let q := fst e * snd f in let r := snd e * fst f in let s := snd e * snd f in
   (floor_div (Z.min (Z.min p q) (Z.min r s)) B, ceil_div (Z.max (Z.max p q) (Z.max r s)) B))%Z.

Lemma affine_ends : forall a b x y, a <= x <= b -> Rmin (a * y) (b * y) <= x * y <= Rmax (a * y) (b * y).
Proof.
  intros a b x y H. assert (L1 := Rmin_l (a * y) (b * y)). assert (L2 := Rmin_r (a * y) (b * y)).
  assert (U1 := Rmax_l (a * y) (b * y)). assert (U2 := Rmax_r (a * y) (b * y)). destruct (Rle_dec 0 y) as [Y|Y].
  - assert (a * y <= x * y <= b * y) by (split; apply Rmult_le_compat_r; lra). lra.
  - rewrite !(Rmult_comm _ y) in *.
    assert (y * b <= y * x <= y * a) by (split; apply Rmult_le_compat_neg_l; lra). lra.
Qed.

Lemma IZR_min : forall a b : Z, IZR (Z.min a b) = Rmin (IZR a) (IZR b).
Proof.
  intros a b. destruct (Z.min_spec a b) as [[H ->]|[H ->]]; symmetry.
  - apply Rmin_left. left. apply IZR_lt. exact H.
  - apply Rmin_right. apply IZR_le. exact H.
Qed.

Lemma IZR_max : forall a b : Z, IZR (Z.max a b) = Rmax (IZR a) (IZR b).
Proof.
  intros a b. destruct (Z.max_spec a b) as [[H ->]|[H ->]]; symmetry.
  - apply Rmax_right. left. apply IZR_lt. exact H.
  - apply Rmax_left. apply IZR_le. exact H.
Qed.

Lemma product_ends_ok : forall B e f r s, (0 < B)%Z -> encloses B e r -> encloses B f s ->
  encloses B (product_ends B e f) (r * s).
Proof.
  intros B [a b] [c d] r s HB E F. unfold encloses in E, F. cbn [fst snd] in E, F.
  assert (P : IZR B * (IZR B * (r * s)) = (IZR B * r) * (IZR B * s)) by ring.
  set (x := IZR B * r) in *. set (y := IZR B * s) in *. assert (X := affine_ends _ _ x y E).
  assert (A := affine_ends _ _ y (IZR a) F). assert (D := affine_ends _ _ y (IZR b) F).
  rewrite !(Rmult_comm _ (IZR a)) in A. rewrite !(Rmult_comm _ (IZR b)) in D.
  split; cbn [product_ends fst snd].
  - apply floor_div_below; [exact HB|]. rewrite P, !IZR_min, !mult_IZR. eapply Rle_trans; [|apply X].
    apply Rmin_glb; [eapply Rle_trans; [apply Rmin_l|apply A]|eapply Rle_trans; [apply Rmin_r|apply D]].
  - apply ceil_div_above; [exact HB|]. rewrite P, !IZR_max, !mult_IZR. eapply Rle_trans; [apply X|].
    apply Rmax_lub; [eapply Rle_trans; [apply A|apply Rmax_l]|eapply Rle_trans; [apply D|apply Rmax_r]].
Qed.

(** The greater of two numbers *)
Definition max_ends (e f : Z * Z) : Z * Z := (Z.max (fst e) (fst f), Z.max (snd e) (snd f)).

Lemma max_ends_ok : forall B e f r s, (0 < B)%Z -> encloses B e r -> encloses B f s ->
  encloses B (max_ends e f) (Rmax r s).
Proof.
  intros B e f r s HB [E1 E2] [F1 F2]. apply IZR_pos in HB. unfold encloses. cbn [max_ends fst snd].
  rewrite <- RmaxRmult by lra. rewrite !IZR_max. split; apply Rmax_lub.
  - eapply Rle_trans; [exact E1|apply Rmax_l].
  - eapply Rle_trans; [exact F1|apply Rmax_r].
  - eapply Rle_trans; [exact E2|apply Rmax_l].
  - eapply Rle_trans; [exact F2|apply Rmax_r].
Qed.

(** The lesser of two numbers *)
Definition min_ends (e f : Z * Z) : Z * Z := (Z.min (fst e) (fst f), Z.min (snd e) (snd f)).

Lemma min_ends_ok : forall B e f r s, (0 < B)%Z -> encloses B e r -> encloses B f s ->
  encloses B (min_ends e f) (Rmin r s).
Proof.
  intros B e f r s HB [E1 E2] [F1 F2]. apply IZR_pos in HB. unfold encloses. cbn [min_ends fst snd]. rewrite !IZR_min.
  unfold Rmin at 2 3. destruct (Rle_dec r s) as [L|L].
  - assert (IZR B * r <= IZR B * s) by (apply Rmult_le_compat_l; lra).
    split; [eapply Rle_trans; [apply Rmin_l|exact E1]|apply Rmin_glb; lra].
  - assert (IZR B * s <= IZR B * r) by (apply Rmult_le_compat_l; lra).
    split; [eapply Rle_trans; [apply Rmin_r|exact F1]|apply Rmin_glb; lra].
Qed.

(** The inverse of a number whose lower end is positive *)
Definition inverse_ends (B : Z) (e : Z * Z) : Z * Z := (floor_div (B * B) (snd e), ceil_div (B * B) (fst e)).

Lemma encloses_order : forall B e r, encloses B e r -> (fst e <= snd e)%Z.
Proof. intros B e r [H1 H2]. apply le_IZR. lra. Qed.

Lemma inverse_ends_nonneg : forall B e r, (0 < B)%Z -> (0 < fst e)%Z -> encloses B e r ->
  (0 <= fst (inverse_ends B e))%Z.
Proof.
  intros B e r HB He H. apply encloses_order in H. apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg|]; lia.
Qed.

Lemma inverse_ends_ok : forall B e r, (0 < B)%Z -> (0 < fst e)%Z -> encloses B e r ->
  encloses B (inverse_ends B e) (/ r).
Proof.
  intros B e r HB He H. assert (R0 := encloses_pos B e r HB He H). assert (O := encloses_order B e r H).
  destruct H as [H1 H2]. apply IZR_pos in HB. assert (Q : 0 <= IZR B * / r).
  { apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. exact R0. }
  assert (P : IZR (B * B) = (IZR B * r) * (IZR B * / r)) by (rewrite mult_IZR; field; lra).
  split; cbn [inverse_ends fst snd].
  - apply floor_div_below; [lia|]. rewrite P. apply Rmult_le_compat_r; assumption.
  - apply ceil_div_above; [lia|]. rewrite P. apply Rmult_le_compat_r; assumption.
Qed.

(** From the scale W to the scale B *)
Definition rescale_ends (W B : Z) (e : Z * Z) : Z * Z := (floor_div (fst e * B) W, ceil_div (snd e * B) W).

Lemma rescale_ends_ok : forall W B e r, (0 < W)%Z -> (0 < B)%Z -> encloses W e r -> encloses B (rescale_ends W B e) r.
Proof.
  intros W B e r HW HB [H1 H2]. apply IZR_pos in HB.
  assert (P : IZR W * (IZR B * r) = (IZR W * r) * IZR B) by ring.
  split; cbn [rescale_ends fst snd].
  - apply floor_div_below; [exact HW|]. rewrite mult_IZR, P. apply Rmult_le_compat_r; lra.
  - apply ceil_div_above; [exact HW|]. rewrite mult_IZR, P. apply Rmult_le_compat_r; lra.
Qed.

Lemma rescale_ends_nonneg : forall W B e, (0 < W)%Z -> (0 < B)%Z -> (0 <= fst e)%Z -> (0 <= fst (rescale_ends W B e))%Z.
Proof. intros W B e HW HB He. apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg; lia|exact HW]. Qed.
