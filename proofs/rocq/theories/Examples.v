(** Whether the definitions of [Semantics.v] say what they are meant to say: general facts where they are recursive, and
    heads whose logits are computed. Nothing that is proved elsewhere rests on this file. *)

From Coq Require Import Reals ZArith List Lia Lra.
From Verale Require Import Semantics Sums Simplex Hypersphere Metric Joint Lipschitz Angles Check CheckImage Classified.
Import ListNotations.
Open Scope R_scope.

(** * Numbers *)

(** [rmax] of at least one number is one of them, and none is greater. *)
Theorem rmax_greatest : forall n f, (0 < n)%nat ->
  (exists i, (i < n)%nat /\ f i = rmax n f) /\ forall i, (i < n)%nat -> f i <= rmax n f.
Proof.
  intros n f H. split; [|intros i; apply rmax_ge]. destruct (rmax_attained n f H) as (i & I & E).
  exists i. split; [exact I|symmetry; exact E].
Qed.

(** So it is with [rgreatest]. *)
Theorem rgreatest_greatest : forall l, l <> nil -> In (rgreatest l) l /\ forall x, In x l -> x <= rgreatest l.
Proof. intros l N. split; [exact (rgreatest_in l N)|exact (rgreatest_ge l)]. Qed.

(** k different numbers of 0, ..., n - 1, and a sum over them *)
Definition choice (k n : nat) (js : list nat) : Prop :=
  NoDup js /\ length js = k /\ Forall (fun j => (j < n)%nat) js.
Definition total (f : nat -> R) (js : list nat) : R := fold_right (fun j sum => f j + sum) 0 js.

Lemma choice_at_most : forall k n js, choice k n js -> (k <= n)%nat.
Proof.
  intros k n js (D & L & B). rewrite <- L, <- (seq_length n 0). apply NoDup_incl_length; [exact D|].
  intros j I. rewrite Forall_forall in B. apply in_seq. specialize (B j I). lia.
Qed.

(** A choice with the last number in it, without that number. *)
Lemma choice_without_last : forall k n js, choice (S k) (S n) js -> In n js ->
  exists js', choice k n js' /\ forall f, total f js = f n + total f js'.
Proof.
  intros k n js (D & L & B) I. destruct (in_split n js I) as (before & after & ->).
  exists (before ++ after). apply NoDup_remove in D as [D N]. rewrite app_length in L. cbn [length] in L.
  split; [split; [exact D|split; [rewrite app_length; lia|]]|].
  - apply Forall_forall. intros j J. rewrite Forall_forall in B.
    assert (j < S n)%nat by (apply B; apply in_app_iff in J as [J|J]; apply in_app_iff; [left|right; right]; exact J).
    assert (j <> n) by (intros ->; exact (N J)). lia.
  - intros f. clear. induction before as [|j before IH]; cbn [app total fold_right] in *; [reflexivity|].
    unfold total in *. rewrite IH. ring.
Qed.

Lemma choice_with_last : forall k n js, choice k n js -> choice (S k) (S n) (n :: js).
Proof.
  intros k n js (D & L & B). rewrite Forall_forall in B. split; [|split].
  - constructor; [|exact D]. intros I. specialize (B n I). lia.
  - cbn. lia.
  - constructor; [lia|]. apply Forall_forall. intros j J. specialize (B j J). lia.
Qed.

Lemma choice_of_fewer : forall k n js, choice k (S n) js -> ~ In n js -> choice k n js.
Proof.
  intros k n js (D & L & B) N. split; [exact D|split; [exact L|]]. rewrite Forall_forall in *. intros j J.
  specialize (B j J). assert (j <> n) by (intros ->; exact (N J)). lia.
Qed.

(** [rtop k n f] is the greatest sum of k of the n numbers: no choice has a greater one, and some choice has it. *)
Theorem rtop_greatest : forall n k f, (k <= n)%nat ->
  (forall js, choice k n js -> total f js <= rtop k n f) /\ exists js, choice k n js /\ total f js = rtop k n f.
Proof.
  assert (none : forall n f, (forall js, choice 0 n js -> total f js <= 0) /\
    exists js, choice 0 n js /\ total f js = 0).
  { intros n f. split.
    - intros js (_ & L & _). destruct js; [|discriminate]. cbn. lra.
    - exists nil. repeat split; constructor. }
  induction n as [|n IH]; intros [|k] f K; try lia; try exact (none _ f). cbn [rtop].
  destruct (IH k f ltac:(lia)) as [most (taken & T & sum)].
  destruct (Nat.leb_spec (S n) (S k)) as [L|L].
  - split; [|exists (n :: taken); split; [apply choice_with_last; exact T|cbn; unfold total in sum; lra]].
    intros js C. destruct (in_dec Nat.eq_dec n js) as [I|I].
    + destruct (choice_without_last k n js C I) as (js' & C' & E). rewrite E. specialize (most js' C'). lra.
    + apply choice_of_fewer in C; [|exact I]. apply choice_at_most in C. lia.
  - destruct (IH (S k) f ltac:(lia)) as [most' (taken' & T' & sum')]. split.
    + intros js C. destruct (in_dec Nat.eq_dec n js) as [I|I].
      * destruct (choice_without_last k n js C I) as (js' & C' & E). rewrite E. specialize (most js' C').
        eapply Rle_trans; [|apply Rmax_l]. lra.
      * eapply Rle_trans; [|apply Rmax_r]. apply most'. apply choice_of_fewer; assumption.
    + destruct (Rle_dec (f n + rtop k n f) (rtop (S k) n f)) as [Q|Q].
      * exists taken'. rewrite Rmax_right by exact Q. split; [|exact sum'].
        destruct T' as (D & E & B). split; [exact D|split; [exact E|]].
        eapply Forall_impl; [|exact B]. cbn. intros j J. lia.
      * exists (n :: taken). rewrite Rmax_left by lra. split; [apply choice_with_last; exact T|].
        cbn. unfold total in sum. lra.
Qed.

(** The two greatest of 3, 5, -1 and 4 are 5 and 4. *)
Example two_greatest : rtop 2 4 (fun l => nth l [3; 5; -1; 4] 0) = 9.
Proof. cbn. unfold Rmax. repeat destruct (Rle_dec _ _); lra. Qed.

(** * Softmax *)

(** Masses are positive and sum to 1, whatever the latents. *)
Theorem masses : forall h v, head_geometry h = Softmax -> (0 < depth h)%nat ->
  (forall j, 0 < observable h v j) /\ rsum (depth h) (observable h v) = 1.
Proof.
  intros h v G D. assert (P := rsum_exp_positive (depth h) v D). unfold observable. rewrite G. split.
  - intros j. apply Rdiv_lt_0_compat; [apply exp_pos|exact P].
  - rewrite (rsum_ext _ _ (fun j => / rsum (depth h) (fun i => exp (v i)) * exp (v j))) by (intros; unfold Rdiv; ring).
    rewrite rsum_scal. field. lra.
Qed.

(** * A head whose logits are computed *)

(** Prototypes (0, 0) and (1, 2), similarity -|z - p|^2, logits 3 a_0 - a_1 + 1 and 2 a_1. *)
Definition worked : head :=
  Head 2 2 2 Euclidean Negated MaxPool Linear 2 [[0; 0]; [2; 4]]%Z (Some 0%Z) (Some 8%Z)
    1 [[3; -1]; [0; 2]]%Z [1; 0]%Z 1 nil 1 nil.

(** Two patches, (1, 1) and (0, 2). *)
Definition two_patches : image := Image 2 [[2; 2]; [0; 4]]%Z.

Ltac evaluate :=
  cbv [worked two_patches logit activation activation_of observable sim weight_of bias_of coord scale latents_of q
    depth count
    head_geometry head_similarity head_pooling head_readout coord_unit prototypes weight_unit weight bias scales
    scale_unit image_unit rows rsum rmax nth nth_error];
  unfold Rmax; repeat destruct (Rle_dec _ _); lra.

(** Squared distances are 2 and 1 at the first patch, 4 and 1 at the second one; so a_0 = -2 and a_1 = -1. *)
Example worked_observables : map (fun l => map (observable worked (latents_of two_patches l)) [0; 1]%nat) [0; 1]%nat =
  [[2; 1]; [4; 1]].
Proof.
  cbn [map]. repeat f_equal; cbv [worked two_patches observable coord latents_of q depth head_geometry coord_unit
    prototypes image_unit rows rsum nth]; lra.
Qed.

Example worked_activations : activation worked 2 (latents_of two_patches) 0 = -2 /\
  activation worked 2 (latents_of two_patches) 1 = -1.
Proof. split; evaluate. Qed.

Example worked_logits : logit worked 2 (latents_of two_patches) 0 = -4 /\
  logit worked 2 (latents_of two_patches) 1 = -2.
Proof. split; evaluate. Qed.

(** a_0 <= -7/4 and a_1 >= -5/4 entail class 1: its logit exceeds the other by 3 (a_1 - a_0) - 1 >= 1/2. *)
Definition worked_certificate : certificate :=
  Certificate 1 2 4 [AboutActivation 0 None (Some (-7)%Z); AboutActivation 1 (Some (-5)%Z) None] 2 [1; 0]%Z.
Definition some_settings : settings := Settings 4294967296 4294967296 12.
Definition no_hints : hints := Hints 1 nil nil nil nil (Links nil nil) (Links nil nil) (Turns nil nil) (Turns nil nil).

Example worked_entailed : entails worked worked_certificate.
Proof. apply (check_sound worked some_settings worked_certificate no_hints). vm_compute. reflexivity. Qed.

Example worked_classified : classified worked two_patches 1 (margin worked_certificate).
Proof.
  apply (check_classified worked some_settings some_settings nil worked_certificate no_hints); vm_compute; reflexivity.
Qed.

(** The same statements do not entail class 0, and the checker says so: the image is a counterexample. *)
Example worked_refuted :
  let wrong := Certificate 0 2 4 (statements worked_certificate) 2 [0; 1]%Z in ~ entails worked wrong.
Proof. apply (refuted_not_entailed worked some_settings _ two_patches). vm_compute. reflexivity. Qed.

(** Nor is a margin of 3/4 proved: at a_0 = -7/4 and a_1 = -5/4 it is 1/2. *)
Example worked_margin_too_large :
  check (prepare worked some_settings)
    (Certificate 1 2 4 (statements worked_certificate) 4 [3; 0]%Z) no_hints = false.
Proof. vm_compute. reflexivity. Qed.

(** A log-ratio is greatest at the prototype itself: ln (1 / epsilon). *)
Example log_ratio_at_prototype : forall h j, head_similarity h = LogRatio (Fraction 1 4) -> sim h j 0 = ln 4.
Proof. intros h j S. unfold sim. rewrite S. f_equal. cbv [real q numerator denominator]. field. Qed.

(** * Chains of steps *)

(** The kinds of similarities are names of chains, where observables are. *)
Theorem names_of_chains : forall s c e m,
  (0 <= s * m -> chain_value s c [Scaled; LogRatioOf (Fraction 1 1) e] m = ln ((s * m + 1) / (s * m + real e))) /\
  chain_value s c [Scaled; Negation] m = - (s * m) /\
  chain_value s c [Added e; RootOf; Negation; ExpOf] m = exp (- sqrt (m + real e)) /\
  (0 <= s * m -> chain_value s c [Scaled; Negation; ExpOf] m = exp (- (s * m))) /\
  (0 <= s * (1 - m) ->
    chain_value s c [Negation; Added (Fraction 1 1); Scaled; Negation; ExpOf] m = exp (- (s * (1 - m)))) /\
  chain_value s c [FromPeak; SquareOf; Negation] m = - ((m - c) * (m - c)) /\
  chain_value s c [CutAt0] m = Rmax 0 m /\
  chain_value s c [ZeroBelow e] m = (if Rle_dec (real e) m then m else 0) /\
  chain_value s c [] m = m.
Proof.
  intros s c e m. assert (One : real (Fraction 1 1) = 1) by (unfold real, q; cbn; lra). cbn [chain_value step_value].
  assert (R := sqrt_pos (m + real e)). assert (A := Rabs_pos (m - c)). rewrite One.
  split; [|split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]]]; try reflexivity.
  - intros H. rewrite Rmax_right by exact H. reflexivity.
  - rewrite Rmin_right by lra. reflexivity.
  - intros H. rewrite Rmin_right by lra. reflexivity.
  - intros H. rewrite Rmin_right by lra. do 3 f_equal. ring.
  - rewrite Rmax_right by exact A. rewrite <- Rabs_mult, Rabs_right; [reflexivity|]. apply Rle_ge, Rle_0_sqr.
Qed.

(** * Other poolings and readouts *)

(** Of a mask's row the last column stands for all further patches. *)
Example mask_last_column : seen [0; 1; 0; 1]%Z 7 = [1; 3; 4; 5; 6]%nat /\ seen [1; 0]%Z 7 = [0]%nat.
Proof. split; reflexivity. Qed.

(** What a prototype does not look at does not matter to it. *)
Theorem mask_hides : forall h mask n z z' j, head_pooling h = MaskedMax mask ->
  (forall l, In l (seen (nth j mask nil) n) -> z l = z' l) -> activation h n z j = activation h n z' j.
Proof.
  intros h mask n z z' j M E. unfold activation, activation_of. rewrite M. f_equal. apply map_ext_in. intros l L.
  rewrite (E l L). reflexivity.
Qed.

(** A tree of three nodes, whose leaves are 0 to 3 from left to right: at each node the present child has the share a. *)
Example tree_of_three : forall leaf a : nat -> R,
  tree_value [1; -1; -3]%Z [2; -2; -4]%Z leaf a 3 0 =
  (1 - a 0%nat) * (1 - a 1%nat) * leaf 0%nat + (1 - a 0%nat) * a 1%nat * leaf 1%nat +
  a 0%nat * (1 - a 2%nat) * leaf 2%nat + a 0%nat * a 2%nat * leaf 3%nat.
Proof. intros leaf a. cbv -[Rplus Rmult Rminus IZR]. ring. Qed.

(** A maximum of members: class 0 has prototypes 0 and 2, class 1 prototype 1; weights are over the unit 4. *)
Definition maxima : head :=
  Head 1 3 2 Euclidean Negated MaxPool Maximum 1 [[0]; [1]; [2]]%Z (Some 0%Z) (Some 9%Z)
    4 [[4; 0; 4]; [0; 4; 0]]%Z [0; 2; 1]%Z 1 nil 1 nil.

Example members_of_classes : members maxima 0 = [0; 2]%nat /\ members maxima 1 = [1]%nat.
Proof. split; reflexivity. Qed.

(** One patch at 3: activations -9, -4, -1; biases 0, 1/2, 1/4. *)
Example maxima_logits : logit maxima 1 (fun _ _ => 3) 0 = - 3 / 4 /\ logit maxima 1 (fun _ _ => 3) 1 = - 7 / 2.
Proof.
  split; cbv [logit head_readout maxima]; change (Head _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) with maxima;
    [rewrite (proj1 members_of_classes)|rewrite (proj2 members_of_classes)];
    cbv [map rgreatest maxima activation activation_of observable sim bias_of coord scale q depth head_geometry
      head_similarity
      head_pooling coord_unit prototypes weight_unit bias scales rsum rmax nth nth_error];
    unfold Rmax; repeat destruct (Rle_dec _ _); lra.
Qed.

(** Where there are fewer patches than k, the pooling [top_mean] takes the mean of all. *)
Example top_mean_of_few : forall h z j, head_pooling h = TopMean 5 ->
  activation h 2 z j = (sim h j (observable h (z 0%nat) j) + sim h j (observable h (z 1%nat) j)) / 2.
Proof. intros h z j T. unfold activation, activation_of. rewrite T. cbn. field. Qed.
