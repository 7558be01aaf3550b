(** Softmax masses over a box of latents. A mass rises with its own coordinate and falls with every other one, so it is
    least where its exponential is least and all others are greatest, and greatest where it is the other way round. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Exponential Columns Simplex EnclosedVolumes LayerBox LatentBox.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (T : Z) (terms : nat) (U : positive).

Definition shifted_exponentials (top : Z) (z : list (Z * Z)) : option (list (Z * Z)) :=
  all_some (map (fun e => exp_of_ends T terms (Zpos U) (fst e - top, snd e - top)) z).

(** Of one exponential, given the ends of the sum of all *)
Definition mass_over (sum e : Z * Z) : Z * Z :=
  let most := fst e + (snd sum - snd e) in
  let least := snd e + (fst sum - fst e) in
  (if 0 <? most then floor_div (T * fst e) most else 0,
   if 0 <? least then Z.min T (ceil_div (T * snd e) least) else T).

(** Any top would do; with the greatest coordinate all exponentials lie between 0 and 1. *)
Definition masses_over (z : list (Z * Z)) : option (list (Z * Z)) :=
  let top := fold_right Z.max (snd (hd zero z)) (map snd z) in
  match shifted_exponentials top z with
  | Some es => let sum := total es in Some (map (mass_over sum) es)
  | None => None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma total_sums : forall (side : Z * Z -> Z) es, side zero = 0%Z ->
  (forall e f, side (add_ends e f) = side e + side f)%Z ->
  IZR (side (total es)) = rsum (length es) (fun i => IZR (side (nth i es zero))).
Proof.
  intros side es H0 Add. induction es as [|e es IH]; [cbn; rewrite H0; reflexivity|].
  cbn [length]. rewrite rsum_front. unfold total in *. cbn [fold_right]. rewrite Add, plus_IZR, IH. reflexivity.
Qed.

Lemma nth_enclosed : forall B es rs, Forall2 (encloses B) es rs -> length es = length rs /\
  forall d, (d < length rs)%nat -> encloses B (nth d es zero) (nth d rs 0).
Proof.
  intros B es rs F. induction F as [|e r es rs E F [L IH]]; [split; [reflexivity|intros d Hd; inversion Hd]|].
  split; [cbn; congruence|]. intros [|d] Hd; [exact E|]. apply IH. cbn in Hd. lia.
Qed.

Lemma nth_within : forall h U z v, latent_within h U z v -> length z = depth h /\
  forall d, (d < depth h)%nat -> encloses (Zpos U) (nth d z zero) (v d).
Proof.
  intros h U z v W. destruct (nth_enclosed _ _ _ W) as [L E]. rewrite map_length, seq_length in *.
  split; [exact L|]. intros d Hd. specialize (E d Hd). rewrite nth_map_seq in E by exact Hd. exact E.
Qed.

Section Sound.
Variables (T : Z) (terms : nat) (h : head) (U : positive) (z : list (Z * Z)) (v : nat -> R).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis softmax : is_softmax h = true.
Hypothesis within_box : latent_within h U z v.
Let D := depth h.

Variables (top : Z) (es : list (Z * Z)).
Hypothesis exponentials : shifted_exponentials T terms U top z = Some es.
Let y (i : nat) : R := exp (v i - IZR top / IZR (Zpos U)).

Lemma exponentials_ok : length es = D /\
  forall i, (i < D)%nat -> (0 <= fst (nth i es zero))%Z /\ encloses T (nth i es zero) (y i).
Proof.
  destruct (nth_within h U z v within_box) as [L W].
  assert (N := length_values _ _ _ _ _ (all_some_spec _ _ _ exponentials)).
  split; [unfold D; congruence|]. intros i Hi.
  assert (E := nth_all_some _ _ _ _ _ i zero zero exponentials ltac:(rewrite L; exact Hi)). cbv beta in E.
  apply exp_of_ends_ok with (y := v i - IZR top / IZR (Zpos U)) in E; [exact E|exact T_positive|].
  destruct (W i Hi) as [A B]. assert (P := Zpos_pos U). unfold encloses. cbn [fst snd]. rewrite !minus_IZR.
  rewrite Rmult_minus_distr_l. replace (IZR (Zpos U) * (IZR top / IZR (Zpos U))) with (IZR top) by (field; lra). lra.
Qed.

Lemma mass_of_exponentials : forall j, observable h v j = y j / rsum D y.
Proof.
  intros j. destruct (is_softmax_ok h softmax) as [G _]. unfold observable. rewrite G. fold D.
  set (k := exp (IZR top / IZR (Zpos U))). assert (K : 0 < k) by apply exp_pos.
  assert (E : forall i, exp (v i) = k * y i).
  { intros i. unfold k, y. rewrite <- exp_plus. f_equal. ring. }
  rewrite (rsum_ext _ (fun i => exp (v i)) (fun i => k * y i)) by (intros; apply E). rewrite rsum_scal, E.
  unfold Rdiv. rewrite Rinv_mult. generalize (/ rsum D y). intros. field. lra.
Qed.

(** What the others sum to *)
Lemma others_ok : forall j, (j < D)%nat ->
  IZR (fst (total es)) - IZR (fst (nth j es zero)) <= IZR T * rsum D y - IZR T * y j <=
  IZR (snd (total es)) - IZR (snd (nth j es zero)).
Proof.
  intros j Hj. destruct exponentials_ok as [L E].
  rewrite (total_sums fst), (total_sums snd), L, <- rsum_scal by reflexivity. split.
  - apply (rsum_others_le D (fun i => IZR (fst (nth i es zero))) (fun i => IZR T * y i)); [|exact Hj].
    intros i Hi _. apply (E i Hi).
  - apply (rsum_others_le D (fun i => IZR T * y i) (fun i => IZR (snd (nth i es zero)))); [|exact Hj].
    intros i Hi _. apply (E i Hi).
Qed.

Lemma mass_over_ok : forall j, (j < D)%nat ->
  encloses T (mass_over T (total es) (nth j es zero)) (observable h v j).
Proof.
  intros j Hj. destruct (is_softmax_ok h softmax) as [_ DC]. fold D in DC.
  destruct exponentials_ok as [_ E]. destruct (E j Hj) as [E0 [EL EH]]. destruct (others_ok j Hj) as [OL OH].
  assert (HT := IZR_pos T T_positive). apply IZR_nonneg in E0.
  assert (Y : 0 < y j) by apply exp_pos.
  assert (O : y j <= rsum D y) by (apply rsum_ge_term; [intros; left; apply exp_pos|exact Hj]).
  assert (M1 : observable h v j <= 1).
  { rewrite mass_of_exponentials. apply (Rmult_le_reg_r (rsum D y)); [lra|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l; lra. }
  assert (M0 : 0 <= observable h v j).
  { rewrite mass_of_exponentials. apply div_nonneg; lra. }
  rewrite mass_of_exponentials in *. set (s := rsum D y) in *. set (m := y j / s) in *.
  assert (S : y j = m * s) by (unfold m; field; lra).
  set (l := IZR (fst (nth j es zero))) in *. set (u := IZR (snd (nth j es zero))) in *.
  split; cbn [mass_over fst snd].
  - destruct (0 <? _)%Z eqn:P; [|rewrite S in Y; nra]. apply Z.ltb_lt in P. apply floor_div_below; [exact P|].
    rewrite mult_IZR, plus_IZR, minus_IZR. fold l u. set (o := IZR (snd (total es)) - u) in *.
    apply Rle_trans with (IZR T * ((l + o) * m)); [|lra]. apply Rmult_le_compat_l; [lra|].
    apply (Rmult_le_reg_r (IZR T * s)); [apply Rmult_lt_0_compat; lra|].
    replace ((l + o) * m * (IZR T * s)) with ((l + o) * (IZR T * y j)) by (rewrite S; ring).
    assert (l * (IZR T * s - IZR T * y j) <= IZR T * y j * o) by (apply Rmult_le_compat; nra). lra.
  - destruct (0 <? _)%Z eqn:P; [|nra]. apply Z.ltb_lt in P. rewrite IZR_min. apply Rmin_glb; [nra|].
    apply ceil_div_above; [exact P|]. rewrite mult_IZR, plus_IZR, minus_IZR. fold l u.
    set (o := IZR (fst (total es)) - l) in *.
    apply Rle_trans with (IZR T * ((u + o) * m)); [lra|]. apply Rmult_le_compat_l; [lra|].
    apply (Rmult_le_reg_r (IZR T * s)); [apply Rmult_lt_0_compat; lra|].
    replace ((u + o) * m * (IZR T * s)) with ((u + o) * (IZR T * y j)) by (rewrite S; ring).
    assert (IZR T * y j * o <= IZR T * y j * (IZR T * s - IZR T * y j)) by (apply Rmult_le_compat_l; nra).
    assert (IZR T * y j * (IZR T * s - IZR T * y j) <= u * (IZR T * s - IZR T * y j)) by
      (apply Rmult_le_compat_r; nra). lra.
Qed.
End Sound.

Theorem masses_over_ok : forall T terms h U z v ms, (0 < T)%Z -> is_softmax h = true -> latent_within h U z v ->
  masses_over T terms U z = Some ms ->
  length ms = count h /\ forall j, (j < count h)%nat -> encloses T (nth j ms zero) (observable h v j).
Proof.
  intros T terms h U z v ms HT S W E. unfold masses_over in E. set (top := fold_right _ _ _) in E.
  destruct (shifted_exponentials _ _ _ _ _) as [es|] eqn:X; [|discriminate]. injection E as <-.
  destruct (exponentials_ok T terms h U z v HT W top es X) as [L _]. destruct (is_softmax_ok h S) as [_ D].
  rewrite D in L. split; [rewrite map_length; exact L|]. intros j Hj.
  rewrite (nth_indep _ zero (mass_over T (total es) zero)) by (rewrite map_length, L; exact Hj).
  rewrite map_nth. apply (mass_over_ok T terms h U z v HT S W top es X). rewrite D. exact Hj.
Qed.
