(** The observables of one patch, enclosed by its statements, the domain's own ranges and weights from hints.

    For euclidean, inner product and both cosines. A hint can only narrow an end that the statements and the domain give
    anyway; one that proves nothing changes nothing. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Ends Quadratic Embedding Facts Products.
Import ListNotations.
Open Scope R_scope.

(** * Hints, untrusted

    Weights are one of the target, which is positive, and one of each fact of the patch, in the order of [Facts.v]: the
    patch's statements in the certificate's order, the box, the ball, as far as there are any. Weights that are missing
    are 0. The hints of a patch are for the prototypes 0, 1, ...; those that are missing are no hints.

    With x = y / S, that is z or u, and p = P / S, the target of the observable m, and the facts, are

        euclidean:      t = |x|^2 - 2 <x, p> + |p|^2 = m,   f = |x|^2 - 2 <x, p_i> + |p_i|^2 - e
        inner product:  t = - 2 <x, p> = - 2 m,             f = - 2 <x, p_i> + 2 e
        cosines:        t = - 2 <x, p> = - 2 |p| m,         f = - 2 <x, p_i> + 2 |p_i| e
        box:                                                f = 2 (|x|^2 - (lower + upper) sum x + D lower upper) <= 0
        ball of radius num / den (cosines: 1 / 1):          f = den^2 |x|^2 - num^2 <= 0

    where e is that end of the statement which makes f <= 0 if the weight is positive, f >= 0 if it is negative; box and
    ball take no negative weights. Weights w and w_1, w_2, ... prove a low end of a squared distance by the least value
    of w t + sum_i w_i f_i over all x, a high one by that of - w t + sum_i w_i f_i; of the others, whose t falls as m
    rises, a low end by - w t + sum_i w_i f_i and a high one by w t + sum_i w_i f_i. *)
Definition weights : Type := Z * list Z.
Record hint := Hint { for_low : option weights; for_high : option weights }.

(** * Ends by weights *)

(** The sign of the slope. *)
Definition turn (h : head) : Z := match head_geometry h with Euclidean => 1 | _ => -1 end.

(** Num / den being a bound of the weighted target, the observable's is num / (den step), up to size. *)
Definition step_of (h : head) (ft : Z) : Z := (ft * (turn h * slope h))%Z.

Section Patch.
Variable h : head.
Variables F step : Z.
Variables (facts : list fact) (rows : list (list Z)) (ks : list Z).
Let D := depth h.

(** With [sign] 1 a low end; with [sign] -1 minus a high end. *)
Definition reach (sign : Z) (m : measure) (column : list Z) (claim : option weights) : option Z :=
  match claim with
  | Some (w, ws) =>
      if (0 <? w)%Z then
        match bound F facts rows (curvature h) (constant h F (square m)) (square m) column (sign * turn h * w) ws with
        | Some (num, den) => Some (over_down h m num (den * w * step)%Z)
        | None => None
        end
      else None
  | None => None
  end.

Definition narrow (x : hint) (m : measure) (products : list (list Z)) (e : ends) : ends :=
  match for_low x, for_high x with
  | None, None => e
  | a, b =>
      let column := map (hd 0%Z) products ++ map (Z.mul (total m)) ks in
      (raise (reach 1 m column a) (fst e), cut (option_map Z.opp (reach (-1) m column b)) (snd e))
  end.

Fixpoint refine (hints : list hint) (ms : list measure) (products : list (list Z)) (r : row) : row :=
  match hints, ms, r with
  | x :: hints', m :: ms', e :: r' => narrow x m products e :: refine hints' ms' (map (@tl Z) products) r'
  | _, _, _ => r
  end.

Variables T ft : Z.
Variables (v : nat -> R) (js : list nat).
Hypothesis step_is : step = step_of h ft.
Hypothesis spatial_head : spatial h = true.
Hypothesis ft_positive : (0 < ft)%Z.
Hypothesis T_positive : (0 < T)%Z.
Hypothesis F_multiple : F = (T * ft)%Z.
Hypothesis in_the_domain : patch_in_domain h v.
Hypothesis facts_right : Forall2 (fact_ok D F (embedded h v)) facts (vectors h js ks).
Hypothesis rows_right : gram_ok D (vectors h js ks) rows.

Lemma turn_slope : (0 < turn h * slope h)%Z /\ (turn h * turn h = 1)%Z.
Proof.
  assert (U : (0 < unit_of h)%Z) by reflexivity. unfold turn, slope.
  destruct (head_geometry h); split; try reflexivity; nia.
Qed.

Lemma reach_ok : forall sign j m column claim e, measure_ok h j m ->
  products_ok D (vector (points h j)) (vectors h js ks) column ->
  reach sign m column claim = Some e -> IZR e <= IZR sign * (IZR T * observable h v j).
Proof.
  intros sign j m column [[w ws]|] e HM HC H; [|discriminate]. unfold reach in H.
  destruct (0 <? w)%Z eqn:W; [|discriminate]. destruct (bound _ _ _ _ _ _ _ _ _) as [[num den]|] eqn:B; [|discriminate].
  injection H as <-. apply Z.ltb_lt in W. destruct turn_slope as [TS TT]. assert (P := size_nonneg h j m HM).
  assert (HF : (0 < F)%Z) by (subst F; apply Z.mul_pos_pos; assumption).
  destruct (bound_ok D F (embedded h v) HF _ _ _ _ _ _ _ _ _ _ _ _ facts_right rows_right (proj1 HM) HC B) as [HD HB].
  assert (V := value_of_observable h spatial_head F v j (square m) in_the_domain P (proj1 HM)).
  fold D in V. rewrite V in HB.
  assert (HW : (0 < den * w)%Z) by (apply Z.mul_pos_pos; assumption).
  assert (HT : (0 < step)%Z) by (rewrite step_is; apply Z.mul_pos_pos; assumption).
  apply (over_down_ok h j); [exact HM|apply Z.mul_pos_pos; assumption|].
  eapply Rle_trans; [exact HB|]. rewrite step_is, F_multiple. unfold step_of. rewrite !mult_IZR. right. ring.
Qed.

Lemma narrow_ok : forall k m products x e, (k < count h)%nat -> measure_ok h k m ->
  Forall2 (from_here h k) js products -> within T e (observable h v k) ->
  within T (narrow x m products e) (observable h v k).
Proof.
  intros k m products x e Hk HM HP [H1 H2].
  assert (C : products_ok D (vector (points h k)) (vectors h js ks)
    (map (hd 0%Z) products ++ map (Z.mul (total m)) ks)).
  { apply (column_right h); [apply HM|]. apply heads_right; assumption. }
  assert (G : within T (raise (reach 1 m (map (hd 0%Z) products ++ map (Z.mul (total m)) ks) (for_low x)) (fst e),
    cut (option_map Z.opp (reach (-1) m (map (hd 0%Z) products ++ map (Z.mul (total m)) ks) (for_high x))) (snd e))
    (observable h v k)).
  { split; cbn [fst snd].
    - apply raise_ok; [|exact H1]. destruct (reach 1 _ _ _) as [a|] eqn:R; [|exact I].
      apply (reach_ok _ k) in R; try assumption. cbn [above]. lra.
    - apply cut_ok; [|exact H2]. destruct (reach (-1) _ _ _) as [b|] eqn:R; [|exact I].
      apply (reach_ok _ k) in R; try assumption. cbn [option_map below]. rewrite opp_IZR. lra. }
  unfold narrow. destruct (for_low x), (for_high x); exact G.
Qed.

Lemma refine_length : forall hints ms products r, length (refine hints ms products r) = length r.
Proof. induction hints; intros [|m ms] products [|e r]; cbn; auto. Qed.

Lemma refine_ok : forall hints ms products r k d, Forall2 (from_here h k) js products ->
  (forall i, (k + i < count h)%nat -> measure_ok h (k + i) (nth i ms d)) ->
  (forall i, (k + i < count h)%nat -> within T (nth i r anything) (observable h v (k + i))) ->
  forall i, (k + i < count h)%nat -> within T (nth i (refine hints ms products r) anything) (observable h v (k + i)).
Proof.
  induction hints as [|x hints IH]; intros ms products r k d HP HM HR; [exact HR|].
  destruct ms as [|m ms]; [exact HR|]. destruct r as [|e r]; [exact HR|].
  intros [|i] Hi; cbn [refine nth].
  - assert (M := HM 0%nat Hi). assert (W := HR 0%nat Hi). rewrite Nat.add_0_r in *. apply narrow_ok; assumption.
  - replace (k + S i)%nat with (S k + i)%nat in * by lia.
    apply (IH ms _ r (S k) d); [apply rows_step; exact HP| | |exact Hi].
    + intros i' Hi'. specialize (HM (S i')). cbn [nth] in HM. rewrite Nat.add_succ_r in HM. apply HM. exact Hi'.
    + intros i' Hi'. specialize (HR (S i')). cbn [nth] in HR. rewrite Nat.add_succ_r in HR. apply HR. exact Hi'.
Qed.
End Patch.

(** * The row of a patch *)

Section Row.
Variables (h : head) (c : certificate) (T : Z).

(** What statements are about; the table of products has to have their rows. *)
Definition stated_prototypes : list nat :=
  flat_map (fun s => match s with AboutPatch _ j _ _ => [j] | _ => nil end) (statements c).

Definition measure_at (ms : list measure) (j : nat) : measure := nth j ms (Measure 0 0 1 1).

(** The row by the measures [ms], the table of products [G] and the domain's own row; none if a statement is about a
    prototype that there is not, or one without products. *)
Definition metric_row (ms : list measure) (G : list (list Z)) (own : row) (l : nat) (hints : list hint) : option row :=
  let u := Zpos (statement_unit c) in
  let here := stated_at l (statements c) in
  let js := map fst here in
  if forallb (fun j => Nat.ltb j (count h)) js then
    let base := meet_statements u T here own in
    match hints with
    | nil => Some base
    | _ =>
        match rows_at G js, common u T with
        | Some products, (F, fu, ft) =>
            let stated := map (fun s => stated_fact h F fu (measure_at ms (fst s)) (fst (snd s)) (snd (snd s))) here in
            let known := domain_facts h F in
            let ks := map fst known in
            let rows := triangle h js (fun j => total (measure_at ms j)) products ks in
            Some (refine h F (step_of h ft) (stated ++ map snd known) rows ks hints ms products base)
        | None, _ => None
        end
    end
  else None.

Variable z : latents.
Variables (ms : list measure) (G : list (list Z)) (own : row) (l : nat).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis measured : measures h = Some ms.
Hypothesis table_right : products_right h G.
Hypothesis own_right : row_ok h T own (z l).
Hypothesis l_is_a_patch : (l < patches c)%nat.
Hypothesis compliant : complies h c z.

Lemma statement_true : forall s, In s (stated_at l (statements c)) ->
  q (fst (snd s)) (statement_unit c) <= observable h (z l) (fst s) <= q (snd (snd s)) (statement_unit c).
Proof. intros [j [lo hi]] H. apply stated_at_in in H. apply compliant in H. exact H. Qed.

Lemma base_right : forall j, (j < count h)%nat ->
  within T (nth j (meet_statements (Zpos (statement_unit c)) T (stated_at l (statements c)) own) anything)
    (observable h (z l) j).
Proof.
  intros j Hj. apply (meet_statements_ok _ T _ own (observable h (z l))).
  - intros s Hs. apply statement_true in Hs. destruct s as [i [lo hi]]. apply stated_ends_ok; assumption.
  - intros i. destruct own_right as [L H]. destruct (Nat.lt_ge_cases i (count h)) as [Hi|Hi]; [apply H; exact Hi|].
    rewrite nth_overflow by lia. split; exact I.
Qed.

Lemma in_domain_here : patch_in_domain h (z l).
Proof. apply compliant. exact l_is_a_patch. Qed.

Theorem metric_row_ok : forall hints r, metric_row ms G own l hints = Some r -> row_ok h T r (z l).
Proof.
  intros hints r H. unfold metric_row in H. cbv zeta in H. destruct (forallb _ _) eqn:HJ; [|discriminate].
  assert (B : row_ok h T (meet_statements (Zpos (statement_unit c)) T (stated_at l (statements c)) own) (z l)).
  { split; [rewrite meet_statements_length; apply own_right|exact base_right]. }
  destruct hints as [|x hints]; [injection H as <-; exact B|]. set (xs := x :: hints) in *.
  set (here := stated_at l (statements c)) in *. set (js := map fst here) in *.
  destruct (rows_at G js) as [products|] eqn:HR; [|discriminate].
  destruct (common (Zpos (statement_unit c)) T) as [[F fu] ft] eqn:HF.
  match type of H with Some ?y = _ => assert (E : r = y) by congruence end. clear H. subst r.
  destruct (measures_ok h ms measured) as (HS & _ & _ & HM).
  destruct (common_ok _ _ _ _ _ (Pos2Z.is_pos _) T_positive HF) as (F1 & F2 & Hfu & Hft).
  assert (J : Forall (fun j => (j < count h)%nat) js).
  { apply Forall_forall. intros j Hj. apply Nat.ltb_lt. rewrite forallb_forall in HJ. apply HJ. exact Hj. }
  assert (R := rows_at_right h G js products table_right HR).
  split; [rewrite refine_length; apply B|]. intros j Hj.
  apply (refine_ok h F (step_of h ft) _ _ _ T ft (z l) js eq_refl HS Hft T_positive F2 in_domain_here)
    with (k := 0%nat) (d := Measure 0 0 1 1).
  - apply Forall2_app.
    + assert (A := statement_true). fold here in A. assert (HV := in_domain_here).
      clear - HM HS Hfu F1 J A HV. unfold js in *. induction here as [|s ss IH]; [constructor|].
      apply Forall_cons_iff in J as [J1 J2]. constructor.
      * apply (stated_fact_ok h F fu (statement_unit c)); try assumption; [apply HM; assumption|].
        apply A. left. reflexivity.
      * apply IH; [assumption|]. intros s' Hs'. apply A. right. exact Hs'.
    + assert (HF' : (0 < F)%Z) by (rewrite F2; apply Z.mul_pos_pos; assumption).
      assert (K := domain_facts_ok h F (z l) HS HF' in_domain_here). clear - K.
      induction K as [|e es E K IH]; constructor; assumption.
  - apply triangle_right; [|exact R]. eapply Forall_impl; [|exact J]. intros i Hi. split; [exact Hi|].
    apply (HM i _ Hi).
  - clear - R. induction R as [|i row is rs E R IH]; constructor; [apply row_from_start; exact E|exact IH].
  - intros i Hi. apply HM. exact Hi.
  - apply B.
  - exact Hj.
Qed.
End Row.
