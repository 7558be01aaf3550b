(** A chain of steps over a range: where it falls or rises, and its enclosure, step by step.

    Every step but the distance from a peak falls or rises throughout, of all real numbers; so does a chain of such steps.
    Ends of ranges are taken through one step after another. One induction each covers all chains. *)

From Coq Require Import Reals ZArith List Bool Lia Lra Psatz.
From Verale Require Import Semantics Grid Root Log Exponential Monotone Boxes.
Import ListNotations.
Open Scope R_scope.

(** * What runs *)

Definition positive_number (f : fraction) : bool := (0 <? numerator f)%Z.
Definition at_most (f g : fraction) : bool := (numerator f * Zpos (denominator g) <=? numerator g * Zpos (denominator f))%Z.

Inductive trend := Descends | Ascends | Unclear.

(** Scale and peak of the prototype come first, everywhere below. *)
Definition step_trend (s : fraction) (f : step) : trend :=
  match f with
  | Scaled => if positive_number s then Ascends else Unclear
  | Multiplied a => if positive_number a then Ascends else Unclear
  | Negation => Descends
  | LogRatioOf a b => if positive_number b && at_most b a then Descends else Unclear
  | ReciprocalOf a => if positive_number a then Descends else Unclear
  | ZeroBelow t => if positive_number t then Ascends else Unclear
  | Added _ | ExpOf | RootOf | SquareOf | CutAt0 => Ascends
  | FromPeak => Unclear
  end.

Fixpoint chain_trend (s : fraction) (l : list step) : trend :=
  match l with
  | nil => Ascends
  | f :: l' =>
      match step_trend s f, chain_trend s l' with
      | Unclear, _ | _, Unclear => Unclear
      | Ascends, t => t
      | Descends, Ascends => Descends
      | Descends, Descends => Ascends
      end
  end.

Section Run.
Local Open Scope Z_scope.
Variables (B : Z) (terms : nat) (logs : logarithms).

Definition each_end (f : Z -> Z) (e : ends) : ends := (option_map f (fst e), option_map f (snd e)).

(** Numbers below 0 count as 0; so does a lower end that is missing. *)
Definition from_0 (x : option Z) : Z := match x with Some n => Z.max 0 n | None => 0 end.

(** The ends of a range after one step, and their unit *)
Definition step_ends (s c : fraction) (f : step) (U : Z) (e : ends) : option (Z * ends) :=
  match f with
  | Scaled =>
      if positive_number s then Some (U * Zpos (denominator s), each_end (Z.mul (numerator s)) e) else None
  | Added a =>
      Some (U * Zpos (denominator a), each_end (fun n => n * Zpos (denominator a) + numerator a * U) e)
  | Multiplied a =>
      if positive_number a then Some (U * Zpos (denominator a), each_end (Z.mul (numerator a)) e) else None
  | Negation => Some (U, (option_map Z.opp (snd e), option_map Z.opp (fst e)))
  | LogRatioOf a b =>
      let value n := log_ends B logs
        ((n * Zpos (denominator a) + numerator a * U) * Zpos (denominator b))
        ((n * Zpos (denominator b) + numerator b * U) * Zpos (denominator a)) in
      if positive_number b && at_most b a then
        match value (from_0 (fst e)), match snd e with Some n => option_map fst (value (Z.max 0 n)) | None => Some 0 end with
        | Some most, Some least => Some (B, (Some least, Some (snd most)))
        | _, _ => None
        end
      else None
  | ExpOf =>
      match match snd e with Some n => option_map snd (exp_ends B terms (Z.min 0 n) U) | None => Some B end,
            match fst e with Some n => option_map fst (exp_ends B terms (Z.min 0 n) U) | None => Some 0 end with
      | Some most, Some least => Some (B, (Some least, Some (Z.min B most)))
      | _, _ => None
      end
  | RootOf =>
      match option_map fst (root_ends B (from_0 (fst e)) U) with
      | Some least =>
          Some (B, (Some least, match snd e with Some n => option_map snd (root_ends B (Z.max 0 n) U) | None => None end))
      | None => None
      end
  | SquareOf => Some (U * U, (Some (from_0 (fst e) * from_0 (fst e)), option_map (fun n => Z.max 0 n * Z.max 0 n) (snd e)))
  | ZeroBelow t =>
      let kept n := if numerator t * U <=? n * Zpos (denominator t) then n else 0 in
      if positive_number t then
        Some (U, (Some (match fst e with Some n => kept n | None => 0 end), option_map kept (snd e)))
      else None
  | CutAt0 => Some (U, (Some (from_0 (fst e)), option_map (Z.max 0) (snd e)))
  | ReciprocalOf a =>
      let value n := quotient_ends B (U * Zpos (denominator a)) (n * Zpos (denominator a) + numerator a * U) in
      if positive_number a then
        Some (B, (Some (match snd e with Some n => fst (value (Z.max 0 n)) | None => 0 end),
                  Some (snd (value (from_0 (fst e))))))
      else None
  | FromPeak =>
      let moved n := n * Zpos (denominator c) - numerator c * U in
      let away low high := Z.max (from_0 low) (from_0 high) in
      Some (U * Zpos (denominator c),
        (Some (away (option_map moved (fst e)) (option_map (fun n => - moved n) (snd e))),
         match fst e, snd e with Some x, Some y => Some (Z.max (moved y) (- moved x)) | _, _ => None end))
  end.

Fixpoint chain_range (s c : fraction) (l : list step) (U : Z) (e : ends) : option (Z * ends) :=
  match l with
  | nil => Some (U, e)
  | f :: l' => match step_ends s c f U e with Some (U', e') => chain_range s c l' U' e' | None => None end
  end.

Definition chain_ends (s c : fraction) (l : list step) (U : Z) (e : ends) : option (Z * Z) :=
  match chain_range s c l U e with
  | Some (U', (Some a, Some b)) => Some (fst (quotient_ends B a U'), snd (quotient_ends B b U'))
  | _ => None
  end.
End Run.

(** * What is proved *)

Lemma positive_real : forall f, positive_number f = true -> 0 < real f.
Proof. intros f H. apply Z.ltb_lt, IZR_pos in H. apply div_pos; [exact H|apply Zpos_pos]. Qed.

Lemma at_most_real : forall f g, at_most f g = true -> real f <= real g.
Proof.
  intros [n d] [m e] H. apply Z.leb_le, IZR_le in H. cbn [numerator denominator] in H. rewrite !mult_IZR in H.
  unfold real, q. cbn [numerator denominator]. assert (D := Zpos_pos d). assert (E := Zpos_pos e).
  apply div_le_iff; [exact D|]. replace (_ * (_ / _)) with (IZR m * IZR (Zpos d) / IZR (Zpos e)) by (field; lra).
  apply le_div_iff; [exact E|]. lra.
Qed.

Lemma cut_monotone : forall x y, x <= y -> Rmax 0 x <= Rmax 0 y.
Proof. intros x y H. apply Rle_max_compat_l. exact H. Qed.

Lemma quotients_fall : forall a b x y, 0 < b -> b <= a -> 0 <= x -> x <= y ->
  ln ((y + a) / (y + b)) <= ln ((x + a) / (x + b)).
Proof.
  intros a b x y Hb Ha Hx H. assert (I : / (y + b) <= / (x + b)) by (apply inverse_falls; lra).
  assert (P : 0 < / (y + b)) by (apply Rinv_0_lt_compat; lra).
  replace ((y + a) / (y + b)) with (1 + (a - b) * / (y + b)) by (field; lra).
  replace ((x + a) / (x + b)) with (1 + (a - b) * / (x + b)) by (field; lra).
  apply ln_monotone; [|apply Rplus_le_compat_l, Rmult_le_compat_l; lra].
  assert (0 <= (a - b) * / (y + b)) by (apply Rmult_le_pos; lra). lra.
Qed.

(** ** Where steps fall or rise *)

Definition turns (t : trend) (f : R -> R) : Prop :=
  match t with
  | Ascends => forall x y, x <= y -> f x <= f y
  | Descends => forall x y, x <= y -> f y <= f x
  | Unclear => True
  end.

Lemma step_turns : forall s c f, turns (step_trend s f) (step_value (real s) c f).
Proof.
  intros s c f. destruct f as [|a|a| |a b| | | |t| |a|]; cbn [step_trend].
  - destruct (positive_number s) eqn:P; [|exact I]. apply positive_real in P. intros x y H. cbn. nra.
  - intros x y H. cbn. lra.
  - destruct (positive_number a) eqn:P; [|exact I]. apply positive_real in P. intros x y H. cbn. nra.
  - intros x y H. cbn. lra.
  - destruct (_ && _) eqn:P; [|exact I]. apply andb_prop in P as [Pb Pa]. apply positive_real in Pb.
    apply at_most_real in Pa. intros x y H. cbn. apply quotients_fall; try assumption; [apply Rmax_l|].
    apply cut_monotone. exact H.
  - intros x y H. cbn. apply exp_monotone. apply Rle_min_compat_l. exact H.
  - intros x y H. cbn. apply sqrt_monotone. exact H.
  - intros x y H. cbn. apply Rmult_le_compat; try apply Rmax_l; apply cut_monotone; exact H.
  - destruct (positive_number t) eqn:P; [|exact I]. apply positive_real in P. intros x y H.
    apply (threshold_rises (real t)); lra.
  - intros x y H. cbn. apply cut_monotone. exact H.
  - destruct (positive_number a) eqn:P; [|exact I]. apply positive_real in P. intros x y H. cbn.
    assert (C := cut_monotone x y H). assert (Z := Rmax_l 0 x). apply inverse_falls; lra.
  - exact I.
Qed.

Theorem chain_turns : forall s c l, turns (chain_trend s l) (chain_value (real s) c l).
Proof.
  intros s c l. induction l as [|f l IH]; [intros x y H; exact H|]. cbn [chain_trend].
  assert (F := step_turns s c f).
  destruct (step_trend s f), (chain_trend s l); try exact I; intros x y H; cbn [chain_value];
    first [apply IH, F; exact H].
Qed.

(** ** Enclosures *)

Section Enclosures.
Variables (B : Z) (terms : nat) (logs : logarithms).
Hypothesis HB : (0 < B)%Z.
Hypothesis Hlogs : right_logarithms logs.
Let RB : 0 < IZR B := IZR_pos B HB.

Lemma from_0_nonneg : forall x, (0 <= from_0 x)%Z.
Proof. intros [n|]; cbn; lia. Qed.

Lemma max_0_IZR : forall n, IZR (Z.max 0 n) = Rmax 0 (IZR n).
Proof.
  intros n. destruct (Z.max_spec 0 n) as [[L ->]|[L ->]].
  - rewrite Rmax_right; [reflexivity|]. apply Z.lt_le_incl, IZR_le in L. exact L.
  - rewrite Rmax_left; [reflexivity|]. apply IZR_le in L. exact L.
Qed.

Lemma max_0_scaled : forall U x, 0 < U -> U * Rmax 0 x = Rmax 0 (U * x).
Proof.
  intros U x H. unfold Rmax. destruct (Rle_dec 0 x), (Rle_dec 0 (U * x)); nra.
Qed.

Lemma from_0_below : forall U low x, 0 < U -> (match low with Some a => IZR a <= U * x | None => True end) ->
  IZR (from_0 low) <= U * Rmax 0 x.
Proof.
  intros U [a|] x HU H; cbn [from_0].
  - rewrite max_0_IZR, max_0_scaled by exact HU. apply cut_monotone. exact H.
  - apply Rmult_le_pos; [lra|apply Rmax_l].
Qed.

Lemma max_0_above : forall U b x, 0 < U -> U * x <= IZR b -> U * Rmax 0 x <= IZR (Z.max 0 b).
Proof. intros U b x HU H. rewrite max_0_IZR, max_0_scaled by exact HU. apply cut_monotone. exact H. Qed.

Lemma real_over : forall a, IZR (Zpos (denominator a)) * real a = IZR (numerator a).
Proof. intros [n d]. unfold real, q. cbn [numerator denominator]. assert (H := Zpos_pos d). field. lra. Qed.

Lemma log_value : forall a b U n e, (0 < U)%Z -> positive_number b = true -> at_most b a = true -> (0 <= n)%Z ->
  log_ends B logs ((n * Zpos (denominator a) + numerator a * U) * Zpos (denominator b))
    ((n * Zpos (denominator b) + numerator b * U) * Zpos (denominator a)) = Some e ->
  encloses B e (ln ((IZR n / IZR U + real a) / (IZR n / IZR U + real b))).
Proof.
  intros a b U n e HU Pb Pa Hn H. apply log_ends_encloses in H as (_ & P & H); [|exact HB|exact Hlogs].
  apply positive_real in Pb. apply at_most_real in Pa. apply IZR_pos in HU. apply IZR_nonneg in Hn.
  assert (Da := Zpos_pos (denominator a)). assert (Db := Zpos_pos (denominator b)).
  assert (Q : 0 <= IZR n / IZR U) by (apply div_nonneg; lra).
  replace ((IZR n / IZR U + real a) / (IZR n / IZR U + real b)) with
    (IZR ((n * Zpos (denominator a) + numerator a * U) * Zpos (denominator b)) /
     IZR ((n * Zpos (denominator b) + numerator b * U) * Zpos (denominator a))); [exact H|].
  assert (X : IZR U * (IZR n / IZR U) = IZR n) by (field; lra). rewrite !mult_IZR, !plus_IZR, !mult_IZR, <- !real_over.
  rewrite <- X. set (x := IZR n / IZR U) in *.
  assert (0 < IZR U * IZR (Zpos (denominator b)) * (x + real b)) by (repeat apply Rmult_lt_0_compat; lra).
  field. repeat split; lra.
Qed.

Lemma opp_ends_within : forall U e x, within U e x -> within U (option_map Z.opp (snd e), option_map Z.opp (fst e)) (- x).
Proof.
  intros U [[a|] [b|]] x [L H]; split; cbn in *; try exact I; rewrite opp_IZR, Ropp_mult_distr_r_reverse; lra.
Qed.

Lemma scaled_within : forall U d k e x, 0 < IZR k -> 0 < IZR d -> within U e x ->
  within (U * d) (each_end (Z.mul k) e) (IZR k / IZR d * x).
Proof.
  intros U d k [[a|] [b|]] x Hk Hd [L H]; split; cbn in *; try exact I; rewrite !mult_IZR;
    replace (IZR U * IZR d * (IZR k / IZR d * x)) with (IZR k * (IZR U * x)) by (field; lra);
    apply Rmult_le_compat_l; lra.
Qed.

Theorem step_ends_ok : forall s c f U e x V e', (0 < U)%Z -> within U e x ->
  step_ends B terms logs s c f U e = Some (V, e') ->
  (0 < V)%Z /\ within V e' (step_value (real s) (real c) f x).
Proof.
  intros s c f U [low high] x V e' HU [L H] E. assert (RU := IZR_pos U HU). cbn [fst snd] in L, H.
  assert (Lo : forall n, low = Some n -> IZR n / IZR U <= x).
  { intros n ->. apply div_le_iff; [exact RU|exact L]. }
  assert (Hi : forall n, high = Some n -> x <= IZR n / IZR U).
  { intros n ->. apply le_div_iff; [exact RU|exact H]. }
  assert (L0 : IZR (from_0 low) / IZR U <= Rmax 0 x).
  { apply div_le_iff; [exact RU|]. apply from_0_below; [exact RU|exact L]. }
  assert (H0 : forall n, high = Some n -> Rmax 0 x <= IZR (Z.max 0 n) / IZR U).
  { intros n ->. apply le_div_iff; [exact RU|]. apply max_0_above; [exact RU|exact H]. }
  assert (N0 := from_0_nonneg low). assert (X0 := Rmax_l 0 x).
  destruct f as [|a|a| |a b| | | |t| |a|]; cbn [step_ends step_value fst snd] in *.
  - destruct (positive_number s) eqn:P; [|discriminate]. injection E as <- <-. split; [lia|].
    apply Z.ltb_lt, IZR_pos in P. unfold real, q. apply scaled_within; [exact P|apply Zpos_pos|split; assumption].
  - injection E as <- <-. split; [lia|]. assert (D := Zpos_pos (denominator a)).
    split; [destruct low|destruct high]; cbn in *; try exact I; rewrite !plus_IZR, !mult_IZR, <- real_over; nra.
  - destruct (positive_number a) eqn:P; [|discriminate]. injection E as <- <-. split; [lia|].
    apply Z.ltb_lt, IZR_pos in P. unfold real, q. apply scaled_within; [exact P|apply Zpos_pos|split; assumption].
  - injection E as <- <-. split; [exact HU|]. apply (opp_ends_within U (low, high)). split; assumption.
  - destruct (_ && _) eqn:P; [|discriminate]. apply andb_prop in P as [Pb Pa].
    destruct (log_ends B logs _ _) as [most|] eqn:M in E; [|discriminate].
    apply log_value in M; try assumption. assert (Rb := positive_real b Pb). assert (Ra := at_most_real b a Pa).
    assert (Q : 0 <= IZR (from_0 low) / IZR U) by (apply div_nonneg; [apply IZR_nonneg; exact N0|exact RU]).
    assert (Top : IZR B * ln ((Rmax 0 x + real a) / (Rmax 0 x + real b)) <= IZR (snd most)).
    { destruct M as [_ M]. eapply Rle_trans; [|exact M]. apply Rmult_le_compat_l; [lra|]. apply quotients_fall; assumption. }
    destruct high as [n|].
    + destruct (log_ends B logs _ _) as [least|] eqn:K in E; [|discriminate]. injection E as <- <-.
      split; [exact HB|]. split; [|exact Top]. cbn. apply log_value in K; try assumption; [|lia]. destruct K as [K _].
      eapply Rle_trans; [exact K|]. apply Rmult_le_compat_l; [lra|]. apply quotients_fall; try assumption.
      apply H0. reflexivity.
    + injection E as <- <-. split; [exact HB|]. split; [|exact Top]. cbn. apply Rmult_le_pos; [lra|].
      apply Rle_trans with (ln 1); [right; symmetry; exact ln_1|]. apply ln_monotone; [lra|]. apply le_div_iff; lra.
  - destruct (match high with Some _ => _ | None => _ end) as [most|] eqn:M in E; [|discriminate].
    destruct (match low with Some _ => _ | None => _ end) as [least|] eqn:K in E; [|discriminate].
    injection E as <- <-. split; [exact HB|].
    assert (Cut : forall n, IZR (Z.min 0 n) / IZR U = Rmin 0 (IZR n / IZR U)).
    { intros n. destruct (Z.min_spec 0 n) as [[O ->]|[O ->]].
      - rewrite Rmin_left; [unfold Rdiv; ring|]. apply div_nonneg; [apply IZR_nonneg; lia|exact RU].
      - rewrite Rmin_right; [reflexivity|]. apply IZR_le in O. apply div_le_iff; lra. }
    assert (One : exp (Rmin 0 x) <= 1) by (apply Rle_trans with (exp 0); [apply exp_monotone, Rmin_l|right; exact exp_0]).
    split; cbn.
    + destruct low as [n|].
      * destruct (exp_ends B terms _ U) as [[p r]|] eqn:X; [|discriminate]. injection K as <-.
        apply exp_ends_ok in X as (_ & _ & X & _); [|exact HB]. cbn [fst]. eapply Rle_trans; [exact X|].
        apply Rmult_le_compat_l; [lra|]. rewrite Cut. apply exp_monotone, Rle_min_compat_l, Lo. reflexivity.
      * injection K as <-. apply Rmult_le_pos; [lra|]. left. apply exp_pos.
    + apply Z.min_case.
      * rewrite <- (Rmult_1_r (IZR B)) at 2. apply Rmult_le_compat_l; lra.
      * destruct high as [n|].
        -- destruct (exp_ends B terms _ U) as [[p r]|] eqn:X; [|discriminate]. injection M as <-.
           apply exp_ends_ok in X as (_ & _ & _ & X); [|exact HB]. cbn [snd]. eapply Rle_trans; [|exact X].
           apply Rmult_le_compat_l; [lra|]. rewrite Cut. apply exp_monotone, Rle_min_compat_l, Hi. reflexivity.
        -- injection M as <-. rewrite <- (Rmult_1_r (IZR B)) at 2. apply Rmult_le_compat_l; lra.
  - destruct (root_ends B (from_0 low) U) as [[p r]|] eqn:X; [|discriminate]. injection E as <- <-.
    split; [exact HB|]. apply root_ends_ok in X as (_ & _ & _ & [X _]); [|exact HB].
    assert (Same : sqrt x = sqrt (Rmax 0 x)).
    { unfold Rmax. destruct (Rle_dec 0 x); [reflexivity|]. rewrite sqrt_0. apply sqrt_neg_0. lra. }
    rewrite Same. split; cbn [fst snd above below].
    + cbn [fst] in X. eapply Rle_trans; [exact X|]. apply Rmult_le_compat_l; [lra|]. apply sqrt_monotone. exact L0.
    + destruct high as [n|]; [|exact I]. destruct (root_ends B (Z.max 0 n) U) as [[p' r']|] eqn:Y; [|exact I].
      apply root_ends_ok in Y as (_ & _ & _ & [_ Y]); [|exact HB]. cbn in *. eapply Rle_trans; [|exact Y].
      apply Rmult_le_compat_l; [lra|]. apply sqrt_monotone, H0. reflexivity.
  - injection E as <- <-. split; [lia|]. apply (div_le_iff _ _ _ RU) in L0. apply IZR_nonneg in N0.
    split; cbn [fst snd above below]; [|destruct high as [n|]; [|exact I]; cbn; specialize (H0 n eq_refl);
      apply (le_div_iff _ _ _ RU) in H0]; rewrite !mult_IZR;
      replace (IZR U * IZR U * (Rmax 0 x * Rmax 0 x)) with ((IZR U * Rmax 0 x) * (IZR U * Rmax 0 x)) by ring;
      apply Rmult_le_compat; try assumption; apply Rmult_le_pos; lra.
  - destruct (positive_number t) eqn:P; [|discriminate]. injection E as <- <-. split; [exact HU|].
    assert (T := positive_real t P). assert (Dt := Zpos_pos (denominator t)).
    assert (K : forall n, IZR (if (numerator t * U <=? n * Zpos (denominator t))%Z then n else 0) =
      IZR U * threshold (real t) (IZR n / IZR U)).
    { intros n. unfold threshold. assert (R := real_over t).
      assert (Q : IZR U * (IZR n / IZR U) = IZR n) by (field; lra).
      destruct (Z.leb_spec (numerator t * U) (n * Zpos (denominator t))) as [C|C], (Rle_dec (real t) (IZR n / IZR U)) as [D|D].
      - symmetry. exact Q.
      - exfalso. apply D. apply le_div_iff; [exact RU|]. apply IZR_le in C. rewrite !mult_IZR, <- R in C. nra.
      - exfalso. apply IZR_lt in C. rewrite !mult_IZR, <- R in C. apply (le_div_iff _ _ _ RU) in D. nra.
      - rewrite Rmult_0_r. reflexivity. }
    change (if Rle_dec (real t) x then x else 0) with (threshold (real t) x).
    split; cbn [fst snd above below].
    + destruct low as [n|].
      * rewrite K. apply Rmult_le_compat_l; [lra|]. apply threshold_rises; [lra|apply Lo; reflexivity].
      * apply Rmult_le_pos; [lra|]. unfold threshold. destruct (Rle_dec (real t) x); lra.
    + destruct high as [n|]; [|exact I]. cbn. rewrite K. apply Rmult_le_compat_l; [lra|].
      apply threshold_rises; [lra|apply Hi; reflexivity].
  - injection E as <- <-. split; [exact HU|]. split; cbn [fst snd above below].
    + apply (div_le_iff _ _ _ RU). exact L0.
    + destruct high as [n|]; [|exact I]. cbn. apply (le_div_iff _ _ _ RU). apply H0. reflexivity.
  - destruct (positive_number a) eqn:P; [|discriminate]. injection E as <- <-. split; [exact HB|].
    assert (Pn := P). apply positive_real in P. apply Z.ltb_lt in Pn. assert (D := Zpos_pos (denominator a)).
    assert (V : forall n, (0 <= n)%Z -> encloses B (quotient_ends B (U * Zpos (denominator a))
      (n * Zpos (denominator a) + numerator a * U)) (/ (IZR n / IZR U + real a))).
    { intros n Hn. replace (/ (IZR n / IZR U + real a)) with
        (IZR (U * Zpos (denominator a)) / IZR (n * Zpos (denominator a) + numerator a * U)).
      - apply quotient_ends_ok. nia.
      - apply IZR_nonneg in Hn. assert (X : IZR U * (IZR n / IZR U) = IZR n) by (field; lra).
        assert (Q : 0 <= IZR n / IZR U) by (apply div_nonneg; lra). rewrite plus_IZR, !mult_IZR, <- real_over.
        rewrite <- X. set (y := IZR n / IZR U) in *.
        replace (IZR U * y * IZR (Zpos (denominator a)) + IZR (Zpos (denominator a)) * real a * IZR U)
          with (IZR U * IZR (Zpos (denominator a)) * (y + real a)) by ring.
        field. repeat split; lra. }
    split; cbn [fst snd above below].
    + destruct high as [n|].
      * destruct (V (Z.max 0 n) ltac:(lia)) as [W _]. eapply Rle_trans; [exact W|]. apply Rmult_le_compat_l; [lra|].
        apply inverse_falls; [lra|]. apply Rplus_le_compat_r, H0. reflexivity.
      * apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
    + destruct (V (from_0 low) N0) as [_ W]. eapply Rle_trans; [|exact W]. apply Rmult_le_compat_l; [lra|].
      apply inverse_falls; [|lra].
      assert (0 <= IZR (from_0 low) / IZR U) by (apply div_nonneg; [apply IZR_nonneg; exact N0|exact RU]). lra.
  - injection E as <- <-. split; [lia|]. assert (D := Zpos_pos (denominator c)).
    assert (W : IZR (U * Zpos (denominator c)) * (x - real c) = IZR U * x * IZR (Zpos (denominator c)) - IZR (numerator c) * IZR U).
    { rewrite mult_IZR, <- (real_over c). ring. }
    assert (A : IZR (U * Zpos (denominator c)) * Rabs (x - real c) = Rabs (IZR (U * Zpos (denominator c)) * (x - real c))).
    { rewrite Rabs_mult, (Rabs_right (IZR _)); [reflexivity|]. rewrite mult_IZR. nra. }
    assert (M : forall n, IZR (n * Zpos (denominator c) - numerator c * U) = IZR n * IZR (Zpos (denominator c)) - IZR (numerator c) * IZR U).
    { intros n. rewrite minus_IZR, !mult_IZR. reflexivity. }
    set (v := IZR (U * Zpos (denominator c)) * (x - real c)) in *.
    assert (Vl : forall n, low = Some n -> IZR (n * Zpos (denominator c) - numerator c * U) <= v).
    { intros n ->. cbn in L. rewrite M, W. apply Rplus_le_compat_r, Rmult_le_compat_r; lra. }
    assert (Vh : forall n, high = Some n -> v <= IZR (n * Zpos (denominator c) - numerator c * U)).
    { intros n ->. cbn in H. rewrite M, W. apply Rplus_le_compat_r, Rmult_le_compat_r; lra. }
    assert (V1 := Rle_abs v). assert (V2 := Rle_abs (- v)). rewrite Rabs_Ropp in V2. assert (V0 := Rabs_pos v).
    split; cbn [fst snd above below]; rewrite ?A.
    + apply Z.max_case; [destruct low as [n|]|destruct high as [n|]]; cbn [option_map from_0]; try exact V0;
        apply Z.max_case; try exact V0; [specialize (Vl n eq_refl)|specialize (Vh n eq_refl); rewrite opp_IZR]; lra.
    + destruct low as [n|]; [|exact I]. destruct high as [m|]; [|exact I]. cbn. rewrite A.
      specialize (Vl n eq_refl). specialize (Vh m eq_refl).
      assert (Z1 := IZR_le _ _ (Z.le_max_l (m * Zpos (denominator c) - numerator c * U) (- (n * Zpos (denominator c) - numerator c * U)))).
      assert (Z2 := IZR_le _ _ (Z.le_max_r (m * Zpos (denominator c) - numerator c * U) (- (n * Zpos (denominator c) - numerator c * U)))).
      rewrite opp_IZR in Z2. apply Rabs_le. lra.
Qed.

Lemma chain_range_ok : forall s c l U e x V e', (0 < U)%Z -> within U e x ->
  chain_range B terms logs s c l U e = Some (V, e') ->
  (0 < V)%Z /\ within V e' (chain_value (real s) (real c) l x).
Proof.
  intros s c l. induction l as [|f l IH]; intros U e x V e' HU W H; cbn in H |- *.
  - injection H as <- <-. split; assumption.
  - destruct (step_ends B terms logs s c f U e) as [[U1 e1]|] eqn:E; [|discriminate].
    destruct (step_ends_ok s c f U e x U1 e1 HU W E) as [HU1 W1]. exact (IH U1 e1 _ V e' HU1 W1 H).
Qed.

Theorem chain_ends_ok : forall s c l U e x b, (0 < U)%Z -> within U e x ->
  chain_ends B terms logs s c l U e = Some b -> encloses B b (chain_value (real s) (real c) l x).
Proof.
  intros s c l U e x b HU W H. unfold chain_ends in H.
  destruct (chain_range B terms logs s c l U e) as [[V [[lo|] [hi|]]]|] eqn:E; try discriminate. injection H as <-.
  destruct (chain_range_ok s c l U e x V _ HU W E) as [HV [L G]]. cbn in L, G. assert (RV := IZR_pos V HV).
  destruct (quotient_ends_ok B lo V HV) as [Q1 _], (quotient_ends_ok B hi V HV) as [_ Q2].
  split; [eapply Rle_trans; [exact Q1|]|eapply Rle_trans; [|exact Q2]]; apply Rmult_le_compat_l; try lra;
    [apply div_le_iff|apply le_div_iff]; assumption.
Qed.
End Enclosures.
