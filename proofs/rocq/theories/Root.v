(** Square roots, enclosed by the integer root.

    Z.sqrt is Coq's own, and proved there; the extracted checker takes the integer root of its library of numbers. *)

From Coq Require Import Reals ZArith Lia Lra.
From Verale Require Import Grid.
Open Scope R_scope.

Definition root_floor (n : Z) : Z := Z.sqrt n.
Definition root_ceil (n : Z) : Z := (let r := Z.sqrt n in if r * r =? n then r else r + 1)%Z.

Lemma root_floor_nonneg : forall n, (0 <= root_floor n)%Z.
Proof. exact Z.sqrt_nonneg. Qed.

Lemma root_floor_square : forall n, (0 <= n)%Z -> (root_floor n * root_floor n <= n)%Z.
Proof. intros n H. apply Z.sqrt_spec in H. unfold root_floor. lia. Qed.

Lemma root_ceil_nonneg : forall n, (0 <= root_ceil n)%Z.
Proof. intros n. assert (H := Z.sqrt_nonneg n). unfold root_ceil. destruct (_ =? _)%Z; lia. Qed.

Lemma root_ceil_square : forall n, (0 <= n)%Z -> (n <= root_ceil n * root_ceil n)%Z.
Proof.
  intros n H. apply Z.sqrt_spec in H. unfold root_ceil. destruct (_ =? _)%Z eqn:E; [apply Z.eqb_eq in E|]; lia.
Qed.

(** A bound of a square is a bound of the root. *)
Lemma le_sqrt : forall a x, 0 <= a -> a * a <= x -> a <= sqrt x.
Proof. intros a x Ha H. rewrite <- (sqrt_square a Ha). apply sqrt_le_1_alt. exact H. Qed.

Lemma sqrt_le : forall b x, 0 <= b -> x <= b * b -> sqrt x <= b.
Proof. intros b x Hb H. rewrite <- (sqrt_square b Hb). apply sqrt_le_1_alt. exact H. Qed.

Lemma root_floor_below : forall (n : Z) x, (0 <= n)%Z -> IZR n <= x -> IZR (root_floor n) <= sqrt x.
Proof.
  intros n x Hn H. apply le_sqrt; [apply IZR_nonneg, root_floor_nonneg|]. rewrite <- mult_IZR.
  eapply Rle_trans; [apply IZR_le, root_floor_square; exact Hn|exact H].
Qed.

Lemma root_ceil_above : forall (n : Z) x, (0 <= n)%Z -> x <= IZR n -> sqrt x <= IZR (root_ceil n).
Proof.
  intros n x Hn H. apply sqrt_le; [apply IZR_nonneg, root_ceil_nonneg|]. rewrite <- mult_IZR.
  eapply Rle_trans; [exact H|apply IZR_le, root_ceil_square; exact Hn].
Qed.

Theorem root_ok : forall n, (0 <= n)%Z -> IZR (root_floor n) <= sqrt (IZR n) <= IZR (root_ceil n).
Proof. intros n Hn. split; [apply root_floor_below|apply root_ceil_above]; try exact Hn; apply Rle_refl. Qed.

(** Above the root, and by less than twice, without computing it; 0 of 0 *)
Definition coarse_root (n : Z) : Z := if (n <=? 0)%Z then 0%Z else Z.shiftl 1 (Z.shiftr (Z.log2 n) 1 + 1).

Lemma coarse_root_nonneg : forall n, (0 <= coarse_root n)%Z.
Proof.
  intros n. unfold coarse_root. destruct (n <=? 0)%Z; [lia|]. apply Z.shiftl_nonneg. lia.
Qed.

Lemma coarse_root_square : forall n, (n <= coarse_root n * coarse_root n)%Z.
Proof.
  intros n. unfold coarse_root. destruct (n <=? 0)%Z eqn:E; [apply Z.leb_le in E; lia|]. apply Z.leb_gt in E.
  assert (L := Z.log2_nonneg n). destruct (Z.log2_spec n E) as [_ H]. set (l := Z.log2 n) in *.
  rewrite Z.shiftr_div_pow2 by lia. change (2 ^ 1)%Z with 2%Z. assert (D := Z.div_mod l 2 ltac:(lia)).
  assert (M := Z.mod_pos_bound l 2 ltac:(lia)). assert (Q : (0 <= l / 2)%Z) by (apply Z.div_pos; lia).
  rewrite Z.shiftl_mul_pow2, Z.mul_1_l, <- Z.pow_add_r by lia.
  assert (P : (2 ^ Z.succ l <= 2 ^ (l / 2 + 1 + (l / 2 + 1)))%Z) by (apply Z.pow_le_mono_r; lia). lia.
Qed.

(** B sqrt x = sqrt (B^2 x) *)
Lemma sqrt_scaled : forall B x, 0 <= B -> 0 <= x -> B * sqrt x = sqrt (B * B * x).
Proof. intros B x HB Hx. rewrite sqrt_mult_alt by nra. rewrite sqrt_square by exact HB. reflexivity. Qed.

(** The root of an enclosed number whose lower end is not negative *)
Definition root_of_ends (B : Z) (e : Z * Z) : Z * Z := (root_floor (B * fst e), root_ceil (B * snd e))%Z.

Theorem root_of_ends_ok : forall B e r, (0 < B)%Z -> (0 <= fst e)%Z -> encloses B e r ->
  encloses B (root_of_ends B e) (sqrt r).
Proof.
  intros B e r HB He H. assert (Hr := encloses_nonneg B e r HB He H). assert (O := encloses_order B e r H).
  destruct H as [H1 H2]. unfold encloses. rewrite sqrt_scaled by (try exact Hr; left; apply IZR_pos; exact HB).
  apply IZR_pos in HB as HB'. rewrite Rmult_assoc. split; cbn [root_of_ends fst snd].
  - apply root_floor_below; [apply Z.mul_nonneg_nonneg; lia|]. rewrite mult_IZR. apply Rmult_le_compat_l; lra.
  - apply root_ceil_above; [apply Z.mul_nonneg_nonneg; lia|]. rewrite mult_IZR. apply Rmult_le_compat_l; lra.
Qed.

(** The root of a rational number, within one unit of the scale on each side *)
Definition root_ends (B n d : Z) : option (Z * Z) :=
  (if (0 <=? n) && (0 <? d) then Some (root_floor (floor_div (B * B * n) d), root_ceil (ceil_div (B * B * n) d))
   else None)%Z%bool.

Theorem root_ends_ok : forall B n d e, (0 < B)%Z -> root_ends B n d = Some e ->
  (0 <= n)%Z /\ (0 < d)%Z /\ (0 <= fst e)%Z /\ encloses B e (sqrt (IZR n / IZR d)).
Proof.
  intros B n d e HB H. unfold root_ends in H. destruct (_ && _)%bool eqn:E; [|discriminate]. injection H as <-.
  apply andb_prop in E as [Hn Hd]. apply Z.leb_le in Hn. apply Z.ltb_lt in Hd.
  split; [exact Hn|]. split; [exact Hd|]. split; [apply root_floor_nonneg|].
  assert (P : (0 <= B * B * n)%Z) by (apply Z.mul_nonneg_nonneg; [apply Z.square_nonneg|exact Hn]).
  assert (X : 0 <= IZR n / IZR d) by (apply div_nonneg; [apply IZR_nonneg|apply IZR_pos]; assumption).
  unfold encloses. rewrite sqrt_scaled by (try exact X; left; apply IZR_pos; exact HB).
  replace (IZR B * IZR B * (IZR n / IZR d)) with (IZR (B * B * n) / IZR d) by (rewrite !mult_IZR; unfold Rdiv; ring).
  split; cbn [fst snd].
  - apply root_floor_below; [apply floor_div_nonneg; assumption|apply floor_div_le; exact Hd].
  - apply root_ceil_above; [apply ceil_div_nonneg; assumption|apply le_ceil_div; exact Hd].
Qed.
