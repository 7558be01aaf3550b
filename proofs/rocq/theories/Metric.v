(** The observables of one patch, enclosed by its statements, the domain's own ranges and weights from hints.

    For euclidean, inner product and both cosines. A hint can only narrow an end that the statements and the domain give
    anyway; one that proves nothing changes nothing. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Quadratic Embedding Facts Products.
Import ListNotations.
Open Scope R_scope.

(** Untrusted. Weights are one of the target, which is positive, and one of each fact of the patch, in the order of
    [Facts.v]: the patch's statements in the certificate's order, the box, the ball. Weights that are missing are 0. The
    hints of a patch are for the prototypes 0, 1, ...; those that are missing are no hints.

    A low end of the observable m is proved by [w t + sum_i w_i f_i], a high one by [- w t + sum_i w_i f_i], where the
    observable is the target t = slope m size, turned so that its slope is positive, and

        f_i = |y|^2 - 2 <y, P> + |P|^2 - S^2 e (euclidean),  - 2 <y, P> + 2 S size e (others; inner product: size S),
        box: 2 |y|^2 - 2 (a + b) sum y + 2 D a b,  ball of radius r = num / den: den^2 |y|^2 - S^2 num^2.

    A positive weight takes the greatest end e that makes f_i <= 0 for sure, a negative one that which makes it >= 0. *)
Definition weights : Type := Z * list Z.
Record hint := Hint { for_low : option weights; for_high : option weights }.

(** * Ends *)

Definition raise (a : option Z) (e : option Z) : option Z :=
  match a, e with Some x, Some y => Some (Z.max x y) | Some x, None => Some x | None, _ => e end.
Definition cut (b : option Z) (e : option Z) : option Z :=
  match b, e with Some x, Some y => Some (Z.min x y) | Some x, None => Some x | None, _ => e end.

Lemma raise_ok : forall T a e x, above T a x -> above T e x -> above T (raise a e) x.
Proof. intros T [a|] [e|] x Ha He; cbn in *; auto. destruct (Z.max_spec a e) as [[_ ->]|[_ ->]]; assumption. Qed.

Lemma cut_ok : forall T b e x, below T b x -> below T e x -> below T (cut b e) x.
Proof. intros T [b|] [e|] x Hb He; cbn in *; auto. destruct (Z.min_spec b e) as [[_ ->]|[_ ->]]; assumption. Qed.

Definition meet (a e : ends) : ends := (raise (fst a) (fst e), cut (snd a) (snd e)).

Lemma meet_ok : forall T a e x, within T a x -> within T e x -> within T (meet a e) x.
Proof. intros T a e x [] []. split; [apply raise_ok|apply cut_ok]; assumption. Qed.

(** One prototype's ends, met with others. *)
Fixpoint meet_at (j : nat) (a : ends) (r : row) : row :=
  match r, j with
  | nil, _ => nil
  | e :: r', O => meet a e :: r'
  | e :: r', S j' => e :: meet_at j' a r'
  end.

Lemma meet_at_length : forall r j a, length (meet_at j a r) = length r.
Proof. induction r as [|e r IH]; intros [|j] a; cbn; auto. Qed.

Lemma meet_at_nth : forall T r j a x, within T a (x j) ->
  (forall i, within T (nth i r anything) (x i)) -> forall i, within T (nth i (meet_at j a r) anything) (x i).
Proof.
  induction r as [|e r IH]; intros j a x Ha H i; [destruct j; apply (H i)|].
  destruct j as [|j]; cbn [meet_at].
  - destruct i as [|i]; [apply meet_ok; [exact Ha|apply (H 0%nat)]|apply (H (S i))].
  - destruct i as [|i]; [apply (H 0%nat)|]. cbn [nth]. apply (IH j a (fun k => x (S k))); [exact Ha|].
    intros k. apply (H (S k)).
Qed.

(** The ends that a statement gives by itself, over the unit [T]. *)
Definition stated_ends (u T : Z) (e : Z * Z) : ends :=
  (Some (floor_div (T * fst e) u), Some (ceil_div (T * snd e) u)).

Lemma stated_ends_ok : forall u T lo hi x, (0 < T)%Z -> q lo u <= x <= q hi u ->
  within T (stated_ends (Zpos u) T (lo, hi)) x.
Proof.
  intros u T lo hi x HT [H1 H2]. apply IZR_pos in HT.
  apply (Rmult_le_compat_l (IZR (Zpos u))) in H1, H2; try (left; apply unit_positive). rewrite q_times_unit in H1, H2.
  apply (Rmult_le_compat_l (IZR T)) in H1, H2; try lra.
  split; cbn [stated_ends fst snd above below].
  - apply floor_div_below; [reflexivity|]. rewrite mult_IZR. lra.
  - apply ceil_div_above; [reflexivity|]. rewrite mult_IZR. lra.
Qed.

Fixpoint meet_statements (u T : Z) (here : list (nat * (Z * Z))) (r : row) : row :=
  match here with
  | s :: here' => meet_at (fst s) (stated_ends u T (snd s)) (meet_statements u T here' r)
  | nil => r
  end.

Lemma meet_statements_length : forall u T here r, length (meet_statements u T here r) = length r.
Proof. induction here; intros; [reflexivity|]. cbn. rewrite meet_at_length. auto. Qed.

Lemma meet_statements_ok : forall u T here r x,
  (forall s, In s here -> within T (stated_ends u T (snd s)) (x (fst s))) ->
  (forall i, within T (nth i r anything) (x i)) ->
  forall i, within T (nth i (meet_statements u T here r) anything) (x i).
Proof.
  induction here as [|s here IH]; intros r x Hs H; [exact H|]. cbn [meet_statements]. apply meet_at_nth.
  - apply Hs. left. reflexivity.
  - apply IH; [|exact H]. intros. apply Hs. right. assumption.
Qed.

(** A squared distance is not below 0. *)
Definition raise_to_zero (r : row) : row := map (fun e => (raise (Some 0%Z) (fst e), snd e)) r.

Theorem raise_to_zero_ok : forall h T r v, (0 <= T)%Z -> head_geometry h = Euclidean -> row_ok h T r v ->
  row_ok h T (raise_to_zero r) v.
Proof.
  intros h T r v HT HG [L H]. split; [unfold raise_to_zero; rewrite map_length; exact L|]. intros j Hj.
  set (f := fun e : ends => (raise (Some 0%Z) (fst e), snd e)). change (raise_to_zero r) with (map f r).
  rewrite (nth_indep (map f r) anything (f anything)) by (rewrite map_length, L; exact Hj).
  rewrite map_nth. destruct (H j Hj) as [H1 H2]. split; [|exact H2]. apply raise_ok; [|exact H1].
  apply Rmult_le_pos; [apply IZR_nonneg; exact HT|]. unfold observable. rewrite HG. apply rsum_nonneg. intros. apply Rle_0_sqr.
Qed.

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
  assert (C : products_ok D (vector (points h k)) (vectors h js ks) (map (hd 0%Z) products ++ map (Z.mul (total m)) ks)).
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
  - replace (k + S i)%nat with (S k + i)%nat in * by lia. apply (IH ms _ r (S k) d); [apply rows_step; exact HP| | |exact Hi].
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
  apply (refine_ok h F (step_of h ft) _ _ _ T ft (z l) js eq_refl HS Hft T_positive F2 in_domain_here) with (k := 0%nat) (d := Measure 0 0 1 1).
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
  - apply triangle_right; [|exact R]. eapply Forall_impl; [|exact J]. intros i Hi. split; [exact Hi|]. apply (HM i _ Hi).
  - clear - R. induction R as [|i row is rs E R IH]; constructor; [apply row_from_start; exact E|exact IH].
  - intros i Hi. apply HM. exact Hi.
  - apply B.
  - exact Hj.
Qed.
End Row.
