(** The observables of one patch, enclosed by its statements, the domain's own ranges and weights from hints.

    For euclidean, inner product and both cosines. A hint can only narrow an end that the statements and the domain give
    anyway; one that proves nothing changes nothing. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Ends Quadratic Embedding Facts Lookup Packing Products Squares
  Hypersphere Span.
Import ListNotations.
Open Scope R_scope.

(** * Hints, untrusted

    Weights are one of the target, which is positive, and one of each fact of the patch, in the order of [Facts.v]: the
    patch's statements in the certificate's order, the box, the ball, as far as there are any. Weights that are missing
    are 0. The hints of a patch are for some prototypes, each with the number of prototypes that are left out before it.
    The weights of the patch's ball (Hypersphere.v) are for the facts in the same order. Those of its directions
    (Span.v) are for the statements only, and [square_length] is mu. How many of them, the first ones, give the ends of
    each prototype says [sharpened]; with 0 these are left as they are.

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
Record patch_hints := PatchHints {
  centre : list Z;
  square_length : Z;
  directions : list (list Z);
  sharpened : list nat;
  targets : list (nat * hint)
}.

(** Weights, and the square of the sum of the facts' vectors by them; of all hints these are computed at once. *)
Definition squared : Type := weights * Z.

Definition given_weights (x : option weights) : list (list Z) := match x with Some (_, ws) => [ws] | None => nil end.

Definition weights_in (hints : list (nat * hint)) : list (list Z) :=
  flat_map (fun x => given_weights (for_low (snd x)) ++ given_weights (for_high (snd x))) hints.

Definition with_square (x : option weights) (squares : list Z) : option squared * list Z :=
  match x, squares with Some given, s :: squares' => (Some (given, s), squares') | _, _ => (None, squares) end.

Fixpoint with_squares (hints : list (nat * hint)) (squares : list Z) : list (nat * (option squared * option squared)) :=
  match hints with
  | (gap, x) :: hints' =>
      let (low, squares) := with_square (for_low x) squares in
      let (high, squares) := with_square (for_high x) squares in
      (gap, (low, high)) :: with_squares hints' squares
  | nil => nil
  end.

(** * Ends by weights *)

(** The sign of the slope. *)
Definition turn (h : head) : Z := match head_geometry h with Euclidean => 1 | _ => -1 end.

(** Num / den being a bound of the weighted target, the observable's is num / (den step), up to size. *)
Definition step_of (h : head) (ft : Z) : Z := (ft * (turn h * slope h))%Z.

Section Patch.
Variable h : head.
Variables F step : Z.
Variables (facts : list fact) (rows : list (list Z)) (ks : list Z).
(** The products of prototype k with the vectors of the statements *)
Variable products : nat -> list Z.
Let D := depth h.

(** With [sign] 1 a low end; with [sign] -1 minus a high end. *)
Definition reach (sign : Z) (m : measure) (column : list Z) (claim : option squared) : option Z :=
  match claim with
  | Some ((w, ws), s) =>
      if (0 <? w)%Z then
        match bound_of F facts s (curvature h) (constant h F (square m)) (square m) column (sign * turn h * w) ws with
        | Some (num, den) => Some (over_down h m num (den * w * step)%Z)
        | None => None
        end
      else None
  | None => None
  end.

Definition narrow (x : option squared * option squared) (m : measure) (k : nat) (e : ends) : ends :=
  match x with
  | (None, None) => e
  | (a, b) =>
      let column := products k ++ map (Z.mul (total m)) ks in
      (raise (reach 1 m column a) (fst e), cut (option_map Z.opp (reach (-1) m column b)) (snd e))
  end.

(** From prototype [k] on *)
Fixpoint refine (hints : list (nat * (option squared * option squared))) (k : nat) (ms : list measure) (r : row) :
  row :=
  match hints with
  | (gap, x) :: hints' =>
      match skipn gap ms, skipn gap r with
      | m :: ms', e :: r' =>
          let k' := (k + gap)%nat in firstn gap r ++ narrow x m k' e :: refine hints' (S k') ms' r'
      | _, _ => r
      end
  | nil => r
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
Hypothesis products_right : forall k, (k < count h)%nat ->
  Forall2 (fun i x => IZR x = inner D (point h k) (point h i)) js (products k).

Lemma turn_slope : (0 < turn h * slope h)%Z /\ (turn h * turn h = 1)%Z.
Proof.
  assert (U : (0 < unit_of h)%Z) by reflexivity. unfold turn, slope.
  destruct (head_geometry h); split; try reflexivity; nia.
Qed.

Definition square_right (x : option squared) : Prop :=
  match x with Some ((_, ws), s) => s = square_of ws rows | None => True end.
Definition squares_right (x : option squared * option squared) : Prop := square_right (fst x) /\ square_right (snd x).

Lemma with_square_right : forall x wss,
  let (y, left) := with_square x (map (fun ws => square_of ws rows) (given_weights x ++ wss)) in
  square_right y /\ left = map (fun ws => square_of ws rows) wss.
Proof. intros [[w ws]|] wss; cbn; auto. Qed.

Lemma with_squares_right : forall hints,
  Forall (fun x => squares_right (snd x)) (with_squares hints (map (fun ws => square_of ws rows) (weights_in hints))).
Proof.
  induction hints as [|[gap x] hints IH]; [constructor|]. cbn [with_squares weights_in flat_map snd].
  fold (weights_in hints). rewrite <- app_assoc.
  assert (L := with_square_right (for_low x) (given_weights (for_high x) ++ weights_in hints)).
  revert L. destruct (with_square (for_low x) _) as [low left]. intros [L ->].
  assert (H := with_square_right (for_high x) (weights_in hints)).
  revert H. destruct (with_square (for_high x) _) as [high left]. intros [H ->].
  constructor; [split; assumption|exact IH].
Qed.

Lemma reach_ok : forall sign j m column claim e, measure_ok h j m -> square_right claim ->
  products_ok D (vector (points h j)) (vectors h js ks) column ->
  reach sign m column claim = Some e -> IZR e <= IZR sign * (IZR T * observable h v j).
Proof.
  intros sign j m column [[[w ws] s]|] e HM HS HC H; [|discriminate]. cbn [square_right] in HS. subst s.
  unfold reach in H. rewrite bound_of_is in H.
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

Lemma narrow_ok : forall k m x e, (k < count h)%nat -> measure_ok h k m -> squares_right x ->
  within T e (observable h v k) -> within T (narrow x m k e) (observable h v k).
Proof.
  intros k m [low high] e Hk HM [S1 S2] [H1 H2]. cbn [fst snd] in S1, S2.
  assert (C : products_ok D (vector (points h k)) (vectors h js ks) (products k ++ map (Z.mul (total m)) ks)).
  { apply (column_right h); [apply HM|]. apply products_right; assumption. }
  assert (G : within T (raise (reach 1 m (products k ++ map (Z.mul (total m)) ks) low) (fst e),
    cut (option_map Z.opp (reach (-1) m (products k ++ map (Z.mul (total m)) ks) high)) (snd e))
    (observable h v k)).
  { split; cbn [fst snd].
    - apply raise_ok; [|exact H1]. destruct (reach 1 _ _ _) as [a|] eqn:R; [|exact I].
      apply (reach_ok _ k) in R; try assumption. cbn [above]. lra.
    - apply cut_ok; [|exact H2]. destruct (reach (-1) _ _ _) as [b|] eqn:R; [|exact I].
      apply (reach_ok _ k) in R; try assumption. cbn [option_map below]. rewrite opp_IZR. lra. }
  unfold narrow. destruct low, high; exact G.
Qed.

Lemma skipped : forall A (l : list A) gap x l', skipn gap l = x :: l' ->
  l = firstn gap l ++ x :: l' /\ length (firstn gap l) = gap.
Proof.
  intros A l gap x l' E. split; [rewrite <- E; symmetry; apply firstn_skipn|]. apply firstn_length_le.
  assert (L := skipn_length gap l). rewrite E in L. cbn [length] in L. lia.
Qed.

Lemma refine_length : forall hints k ms r, length (refine hints k ms r) = length r.
Proof.
  induction hints as [|[gap x] hints IH]; intros k ms r; [reflexivity|]. cbn [refine].
  destruct (skipn gap ms) as [|m ms']; [reflexivity|]. destruct (skipn gap r) as [|e r'] eqn:E; [reflexivity|].
  apply skipped in E as [E _]. rewrite E at 2. rewrite !app_length. cbn [length]. rewrite IH. reflexivity.
Qed.

Lemma nth_after : forall A (l : list A) gap x l' i d, skipn gap l = x :: l' ->
  nth (gap + S i) l d = nth i l' d /\ nth gap l d = x.
Proof.
  intros A l gap x l' i d E. apply skipped in E as [E L]. rewrite E, !app_nth2, L by lia.
  replace (gap + S i - gap)%nat with (S i) by lia. rewrite Nat.sub_diag. split; reflexivity.
Qed.

Lemma refine_ok : forall hints k ms r d, Forall (fun x => squares_right (snd x)) hints ->
  (forall i, (k + i < count h)%nat -> measure_ok h (k + i) (nth i ms d)) ->
  (forall i, (k + i < count h)%nat -> within T (nth i r anything) (observable h v (k + i))) ->
  forall i, (k + i < count h)%nat -> within T (nth i (refine hints k ms r) anything) (observable h v (k + i)).
Proof.
  induction hints as [|[gap x] hints IH]; intros k ms r d HS HM HR; [exact HR|]. cbn [refine].
  apply Forall_cons_iff in HS as [HX HS].
  destruct (skipn gap ms) as [|m ms'] eqn:Em; [exact HR|]. destruct (skipn gap r) as [|e r'] eqn:Er; [exact HR|].
  destruct (skipped _ _ _ _ _ Er) as [Hr L].
  intros i Hi. destruct (Nat.lt_ge_cases i gap) as [B|B].
  - assert (W := HR i Hi). rewrite Hr, app_nth1 in W by lia. rewrite app_nth1 by lia. exact W.
  - rewrite app_nth2, L by lia. destruct (i - gap)%nat as [|i'] eqn:G; cbn [nth].
    + replace i with gap in * by lia. assert (W := HR gap Hi). assert (M := HM gap Hi).
      rewrite (proj2 (nth_after _ _ _ _ _ 0%nat anything Er)) in W.
      rewrite (proj2 (nth_after _ _ _ _ _ 0%nat d Em)) in M.
      apply narrow_ok; assumption.
    + replace (k + i)%nat with (S (k + gap) + i')%nat in * by lia.
      apply (IH (S (k + gap)) ms' r' d); [exact HS| | |exact Hi]; intros i'' Hi'';
        replace (S (k + gap) + i'')%nat with (k + (gap + S i''))%nat in * by lia.
      * rewrite <- (proj1 (nth_after _ _ _ _ _ i'' d Em)). apply HM. exact Hi''.
      * rewrite <- (proj1 (nth_after _ _ _ _ _ i'' anything Er)). apply HR. exact Hi''.
Qed.
End Patch.

(** * The row of a patch *)

Section Row.
Variables (h : head) (c : certificate) (T : Z).

(** What statements are about; the table of products has to have their rows. *)
Definition stated_prototypes : list nat :=
  flat_map (fun s => match s with AboutPatch _ j _ _ => [j] | _ => nil end) (statements c).

Definition no_measure : measure := Measure 0 0 1 1.
Definition measure_at (ms : list measure) (j : nat) : measure := nth j ms no_measure.

(** What is computed of the head and of the certificate before the patches are: the measures, the digits' bits, the
    packed prototypes and their rows; A and the goals of the prototypes. *)
Variables (ms : list measure) (bits : Z) (packed : list (Z * list Z)) (rows_packed : list (list Z)).
Variables (A : Z) (goals : list goal).

(** Products with the vector Q of the ball, but for what constant vectors add to it, and with that. *)
Definition sums_of (shares : list Z) (rows : list (list Z)) : list Z :=
  digits_of bits (length (prototypes h)) packed (mixed shares rows (map (fun _ => 0%Z) packed)).

Fixpoint plus_totals (t : Z) (ms : list measure) (xs : list Z) : list Z :=
  match ms, xs with m :: ms', x :: xs' => (x + t * total m)%Z :: plus_totals t ms' xs' | _, _ => nil end.

(** The ball: what its centre gives with all prototypes, |Q|^2 and C. *)
Record foot := Foot { middles : list Z; foot_square : Z; constant_of : Z }.

Definition ball_of (js : list nat) (rows' : list (list Z)) (facts : list fact) (rows : list (list Z)) (ks ws : list Z) :
  option foot :=
  let shares := firstn (length js) ws in
  match weigh ws facts 0 0 with
  | Some (A', C) =>
      if ((A' =? A) && (0 <? A) && (sizes shares <=? 2 ^ room))%Z then
        let t := zdot (skipn (length js) ws) ks in
        let xs := sums_of shares rows' in
        Some (Foot (if (t =? 0)%Z then xs else plus_totals t ms xs) (square_of ws rows) C)
      else None
  | None => None
  end.

(** The row met with the claims that the ball proves. *)
Definition by_ball (F : Z) (b : foot) (r : row) : row :=
  settle (settled h A (radius A F (constant_of b) (foot_square b)) (foot_square b)) goals (middles b) r.

(** |x|^2 is at most the first number, and at least the second one; [ws] are the weights of the ball. *)
Definition greatest_off (F : Z) (b : foot) : Z := Z.max 0 (ceil_div (F * foot_square b - A * constant_of b) F).
Definition least_off (F : Z) (b : foot) (facts : list fact) (ws : list Z) : Z :=
  match weigh (map Z.opp ws) facts 0 0 with
  | Some (A', C) => if (A' =? - A)%Z then floor_div (A * C + F * foot_square b) F else 0
  | None => 0
  end.

(** One of the ends for each of the prototypes that are wanted; [k] is the number of the first. *)
Fixpoint sharpen (step : nat -> nat -> measure -> Z -> ends -> ends) (wanted : list nat) (k : nat) (ms : list measure)
  (xs : list Z) (r : row) : row :=
  match wanted, ms, xs, r with
  | w :: wanted', m :: ms', x :: xs', e :: r' =>
      (match w with O => e | _ => step w k m x e end) :: sharpen step wanted' (S k) ms' xs' r'
  | _, _, _, _ => r
  end.

(** The row met with what follows from the directions. *)
Definition by_directions (F : Z) (js : list nat) (rows' : list (list Z)) (stated facts : list fact) (ws : list Z)
  (b : foot) (hints : patch_hints) (r : row) : row :=
  let ss := directions hints in
  let mu := square_length hints in
  if (0 <? mu)%Z && forallb (fun s => sizes s <=? 2 ^ room)%Z ss then
    let zero := map (fun _ => 0%Z) packed in
    let sums := map (fun s => started packed (mixed s rows' zero)) ss in
    let ts := map (fun sum => map (fun j => hd 0%Z (entries bits j [sum])) js) sums in
    let here := nths 0%Z js (middles b) in
    let cs := map (fun s => zdot s here) ss in
    match farthest F A stated ss cs with
    | Some alpha =>
        let top := greatest_size (crossed ss ts) in
        let most := greatest_off F b in
        let least := least_off F b facts ws in
        let QQ := foot_square b in
        let square_of_target := target_square h A QQ in
        let left_of := left_over mu top in
        let ends_of := ends_from h T A least most in
        let step many k m x e :=
          let bs := target_products h A (entries bits k (firstn many sums)) cs in
          let squares := zdot bs bs in
          let square := square_of_target m x in
          meet (ends_of m x square (leeway mu most (left_of square squares) alpha (length bs) squares)) e in
        sharpen step (sharpened hints) 0 ms (middles b) r
    | None => r
    end
  else r.

(** The row met with all that the ball gives. *)
Definition by_centre (F : Z) (js : list nat) (rows' : list (list Z)) (stated facts : list fact) (rows : list (list Z))
  (ks : list Z) (hints : patch_hints) (r : row) : row :=
  match ball_of js rows' facts rows ks (centre hints) with
  | Some b =>
      let r := by_ball F b r in
      match sharpened hints with
      | nil => r
      | _ => by_directions F js rows' stated facts (centre hints) b hints r
      end
  | None => r
  end.

(** The row of a patch; [own] is the domain's own row. None if a statement is about a prototype that there is not, or
    one without products. *)
Definition metric_row (own : row) (l : nat) (hints : patch_hints) : option row :=
  let u := Zpos (statement_unit c) in
  let here := stated_at l (statements c) in
  let js := map fst here in
  if forallb (fun j => Nat.ltb j (count h)) js then
    let base := meet_stated (statement_unit c) T here own in
    match centre hints, targets hints with
    | nil, nil => Some base
    | ws, xs =>
        match rows_found rows_packed js, common u T with
        | Some rows', (F, fu, ft) =>
            let measured := nths no_measure js ms in
            let fact_of s m e := stated_fact h F m (with_domain fu ft (snd s) e) in
            let stated := map_three fact_of here measured (nths anything js own) in
            let known := domain_facts h F in
            let facts := stated ++ map snd known in
            let ks := map fst known in
            let rows'' := map (started packed) rows' in
            let rows := triangle h bits js (map total measured) rows'' ks in
            let base := match ws with nil => base | _ => by_centre F js rows' stated facts rows ks hints base end in
            let weighed := with_squares xs (squares rows (weights_in xs)) in
            Some (refine h F (step_of h ft) facts ks (fun k => entries bits k rows'') weighed 0 ms base)
        | None, _ => None
        end
    end
  else None.

Variable z : latents.
Variables (own : row) (l : nat).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis measured : measures h = Some ms.
Hypothesis bits_right : bits = digit_bits ms.
Hypothesis packed_right : packed = packed_prototypes h ms.
Hypothesis rows_right : rows_known h packed rows_packed.
Hypothesis goals_right : exists cs, goals = claimed h T A ms cs.
Hypothesis own_right : row_ok h T own (z l).
Hypothesis l_is_a_patch : (l < patches c)%nat.
Hypothesis compliant : complies h c z.

Lemma statement_true : forall s, In s (stated_at l (statements c)) ->
  between (statement_unit c) (fst (snd s)) (snd (snd s)) (observable h (z l) (fst s)).
Proof. intros [j [lo hi]] H. apply stated_at_in in H. apply compliant in H. exact H. Qed.

Lemma base_right : forall j, (j < count h)%nat ->
  within T (nth j (meet_stated (statement_unit c) T (stated_at l (statements c)) own) anything)
    (observable h (z l) j).
Proof.
  intros j Hj. apply (meet_stated_ok _ T _ own (observable h (z l))).
  - intros s Hs. apply statement_true in Hs. apply stated_ends_ok; assumption.
  - intros i. destruct own_right as [L H]. destruct (Nat.lt_ge_cases i (count h)) as [Hi|Hi]; [apply H; exact Hi|].
    rewrite nth_overflow by lia. split; exact I.
Qed.

Lemma in_domain_here : patch_in_domain h (z l).
Proof. apply compliant. exact l_is_a_patch. Qed.

(** ** The ball *)

Lemma rows_at_known : forall js rows', rows_at rows_packed js = Some rows' ->
  Forall2 (fun u row => row = row_of packed u) (map (points h) js) rows' /\
  incl (map (points h) js) (prototypes h).
Proof.
  induction js as [|j js IH]; intros rows' H; [injection H as <-; split; [constructor|intros x []]|].
  cbn [rows_at] in H. destruct (nth j rows_packed nil) as [|x row] eqn:E; [discriminate|].
  destruct (rows_at rows_packed js) as [rest|]; [|discriminate]. injection H as <-.
  destruct (IH rest eq_refl) as [R I].
  destruct (rows_known_nth h packed rows_packed j rows_right ltac:(rewrite E; discriminate)) as [J K].
  split; [constructor; [rewrite <- E; exact K|exact R]|]. cbn [map]. intros p [<-|Hp];
     [apply nth_In; exact J|apply I, Hp].
Qed.

Lemma plus_totals_nth : forall t ms' xs i d, (i < length ms')%nat -> (i < length xs)%nat ->
  nth i (plus_totals t ms' xs) 0%Z = (nth i xs 0 + t * total (nth i ms' d))%Z.
Proof.
  intros t. induction ms' as [|m ms' IH]; intros [|x xs] [|i] d H1 H2; cbn [length] in *; try lia; [reflexivity|].
  cbn [plus_totals nth]. apply IH; lia.
Qed.

Lemma everywhere_product : forall ks ws k t, IZR t = rsum (depth h) (point h k) ->
  inner (depth h) (mix ws (map everywhere ks)) (point h k) = IZR (zdot ws ks * t).
Proof.
  intros ks ws k t Ht. revert ws. induction ks as [|k' ks IH]; intros [|w ws];
    try (cbn [map]; rewrite ?zdot_nil_r; cbn [mix zdot]; rewrite inner_zero_l; reflexivity).
  cbn [map]. rewrite inner_comm, inner_mix_cons, (inner_comm _ _ (mix ws _)), IH, (inner_point_everywhere h k k' t Ht).
  cbn [zdot]. rewrite !mult_IZR, !plus_IZR, !mult_IZR. ring.
Qed.

Lemma mix_product : forall ks k t, IZR t = rsum (depth h) (point h k) ->
  (forall j, (length (points h j) <= depth h)%nat) -> forall js ws,
  IZR (mix_of (firstn (length js) ws) (map (points h) js) (points h k) + zdot (skipn (length js) ws) ks * t) =
  inner (depth h) (mix ws (vectors h js ks)) (point h k).
Proof.
  intros ks k t Ht short. induction js as [|j js IH]; intros ws.
  - cbn [length firstn skipn map]. unfold vectors. cbn [map app]. rewrite (everywhere_product ks ws k t Ht).
    destruct ws; reflexivity.
  - destruct ws as [|w ws]; [cbn; rewrite inner_zero_l; reflexivity|].
    cbn [length firstn skipn map mix_of]. change (vectors h (j :: js) ks) with (point h j :: vectors h js ks).
    rewrite (inner_comm _ (mix _ _)), inner_mix_cons, (inner_comm _ _ (mix ws _)), <- IH, (inner_comm _ (point h k)).
    unfold point at 1 2. rewrite <- (zdot_real (depth h)) by apply short. rewrite !plus_IZR, !mult_IZR. ring.
Qed.

Lemma combined_fact : forall F ws facts vs A' C, Forall2 (fact_ok (depth h) F (embedded h (z l))) facts vs ->
  weigh ws facts 0 0 = Some (A', C) -> value (depth h) F (embedded h (z l)) A' (mix ws vs) C <= 0.
Proof.
  intros F ws facts vs A' C H E. apply (weigh_below (depth h) F (embedded h (z l)) ws facts vs 0 0 A' C 0 H) in E.
  unfold value. lra.
Qed.

(** What a ball is. *)
Definition ball_right (F : Z) (facts : list fact) (vs : list (nat -> R)) (ws : list Z) (b : foot) : Prop :=
  let Q := mix ws vs in
  (0 < A)%Z /\ value (depth h) F (embedded h (z l)) A Q (constant_of b) <= 0 /\
  IZR (foot_square b) = inner (depth h) Q Q /\
  (forall i, (i < count h)%nat -> IZR (nth i (middles b) 0%Z) = inner (depth h) Q (point h i)).

Lemma short : forall j, (length (points h j) <= depth h)%nat.
Proof. intros j. apply (measures_short h ms). exact measured. Qed.

Lemma ball_of_right : forall F js rows' facts rows ks ws b, rows_at rows_packed js = Some rows' ->
  Forall2 (fact_ok (depth h) F (embedded h (z l))) facts (vectors h js ks) ->
  gram_ok (depth h) (vectors h js ks) rows ->
  ball_of js rows' facts rows ks ws = Some b -> ball_right F facts (vectors h js ks) ws b.
Proof.
  intros F js rows' facts rows ks ws b ER Hf Hg H. unfold ball_of in H. cbv zeta in H.
  destruct (weigh ws facts 0 0) as [[A' C]|] eqn:E; [|discriminate]. destruct (_ && _) eqn:B; [|discriminate].
  match type of H with Some ?y = _ => assert (Eb : b = y) by congruence end. clear H. subst b.
  apply andb_prop in B as [B S]. apply andb_prop in B as [B1 B2]. apply Z.eqb_eq in B1. apply Z.ltb_lt in B2.
  apply Z.leb_le in S. subst A'. unfold ball_right. cbn [middles foot_square constant_of].
  destruct (measures_ok h ms measured) as (HS & HC & HL & HM). destruct (measured_head h ms measured) as [E1 E2].
  split; [exact B2|]. split; [exact (combined_fact F ws facts _ A C Hf E)|].
  split; [exact (square_of_mix (depth h) _ rows ws Hg)|].
  destruct (rows_at_known js rows' ER) as [R I].
  assert (X : sums_of (firstn (length js) ws) rows' =
    map (mix_of (firstn (length js) ws) (map (points h) js)) (prototypes h)).
  { unfold sums_of. rewrite bits_right, packed_right in *.
    apply (digits_of_sum h ms E1 E2); [reflexivity|exact I|exact R|exact S]. }
  intros i Hi. assert (N := nth_mapped h E2 (mix_of (firstn (length js) ws) (map (points h) js)) i Hi).
  rewrite <- X in N.
  assert (T1 : IZR (total (nth i ms (Measure 0 0 1 1))) = rsum (depth h) (point h i)) by (apply HM; exact Hi).
  assert (M := mix_product ks i _ T1 short js ws). rewrite <- N in M.
  destruct (zdot (skipn (length js) ws) ks =? 0)%Z eqn:T0.
  - apply Z.eqb_eq in T0. rewrite T0 in M. rewrite Z.mul_0_l, Z.add_0_r in M. exact M.
  - rewrite (plus_totals_nth _ _ _ _ (Measure 0 0 1 1)); [exact M|lia|]. rewrite X, map_length. lia.
Qed.

(** A row that is right, and as long as another. *)
Definition still_right (r r' : row) : Prop :=
  length r' = length r /\ forall j, (j < count h)%nat -> within T (nth j r' anything) (observable h (z l) j).

Lemma by_ball_ok : forall F facts vs ws b r, (0 < F)%Z -> ball_right F facts vs ws b ->
  (forall j, (j < count h)%nat -> within T (nth j r anything) (observable h (z l) j)) ->
  still_right r (by_ball F b r).
Proof.
  intros F facts vs ws b r HF (HA & K & Q & X) Hr. split; [apply settle_length|]. intros j Hj. unfold by_ball.
  destruct (measures_ok h ms measured) as (HS & HC & HL & HM).
  apply (settle_ok h T A (z l) (mix ws vs) F (constant_of b) (foot_square b)) with (k := 0%nat);
    [|intros i Hi; apply X; exact Hi|exact Hr|exact Hj].
  destruct goals_right as [cs ->]. intros i Hi. cbn [plus] in *.
  destruct (claimed_nth h T A ms cs i (Measure 0 0 1 1)) as [[x ->]| ->];
    [apply (goal_of_right h T A (z l) _ F _ _ HS T_positive HA HF in_domain_here K Q)|intros y e _ W; exact W].
  apply HM. exact Hi.
Qed.

Lemma sharpen_length : forall step wanted k ms' xs r, length (sharpen step wanted k ms' xs r) = length r.
Proof. induction wanted as [|w wanted IH]; intros k [|m ms'] [|x xs] [|e r]; cbn [sharpen length]; auto. Qed.

Lemma sharpen_ok : forall step d, (forall w k m x e, (k < count h)%nat -> measure_ok h k m ->
    IZR x = d k -> within T e (observable h (z l) k) -> within T (step w k m x e) (observable h (z l) k)) ->
  forall wanted k ms' xs r, (forall i, (k + i < count h)%nat -> measure_ok h (k + i) (nth i ms' (Measure 0 0 1 1))) ->
  (forall i, (k + i < count h)%nat -> IZR (nth i xs 0%Z) = d (k + i)%nat) ->
  (forall i, (k + i < count h)%nat -> within T (nth i r anything) (observable h (z l) (k + i))) ->
  forall i, (k + i < count h)%nat ->
  within T (nth i (sharpen step wanted k ms' xs r) anything) (observable h (z l) (k + i)).
Proof.
  intros step d HS. induction wanted as [|w wanted IH]; intros k ms' xs r HM HX HR i Hi; [exact (HR i Hi)|].
  destruct ms' as [|m ms']; [exact (HR i Hi)|]. destruct xs as [|x xs]; [exact (HR i Hi)|].
  destruct r as [|e r]; [exact (HR i Hi)|]. destruct i as [|i]; cbn [sharpen nth].
  - assert (W := HR 0%nat Hi). cbn [nth] in W. destruct w; [exact W|]. rewrite Nat.add_0_r in *.
    assert (M := HM 0%nat). assert (X := HX 0%nat). rewrite Nat.add_0_r in M, X.
    apply HS; [exact Hi|exact (M Hi)|exact (X Hi)|exact W].
  - replace (k + S i)%nat with (S k + i)%nat in * by lia. apply IH; try exact Hi; intros i' Hi';
      replace (S k + i')%nat with (k + S i')%nat in * by lia;
      [exact (HM (S i') Hi')|exact (HX (S i') Hi')|exact (HR (S i') Hi')].
Qed.

Lemma mix_of_real : forall k js s,
  IZR (mix_of s (map (points h) js) (points h k)) = inner (depth h) (mix s (map (point h) js)) (point h k).
Proof.
  intros k. induction js as [|j js IH]; intros [|w s]; cbn [map]; try (cbn; rewrite inner_zero_l; reflexivity).
  cbn [mix_of]. rewrite (inner_comm _ (mix _ _)), inner_mix_cons, (inner_comm _ _ (mix s _)), <- IH.
  rewrite (inner_comm _ (point h k)).
  unfold point at 1 2. rewrite <- (zdot_real (depth h)) by apply short. rewrite plus_IZR, mult_IZR. reflexivity.
Qed.

(** |A y - Q|^2 *)
Lemma off_within : forall F facts vs ws b, (0 < F)%Z -> ball_right F facts vs ws b ->
  Forall2 (fact_ok (depth h) F (embedded h (z l))) facts vs ->
  let off := fun d => IZR A * embedded h (z l) d + (-1) * mix ws vs d in
  IZR (least_off F b facts ws) <= inner (depth h) off off <= IZR (greatest_off F b).
Proof.
  intros F facts vs ws b HF (HA & K & Q & X) Hf. cbv zeta. apply IZR_pos in HF as PF. apply IZR_pos in HA as PA.
  assert (E := inner_square_of_sum (depth h) (IZR A) (-1) (embedded h (z l)) (mix ws vs)). cbv beta in E. rewrite E.
  rewrite <- Q. unfold value in K. set (y := embedded h (z l)) in *. set (o := _ + _ + _).
  assert (N : 0 <= o) by (unfold o; rewrite Q, <- E; apply inner_square_nonneg). split.
  - unfold least_off. destruct (weigh (map Z.opp ws) facts 0 0) as [[A' C]|] eqn:W; [|exact N].
    destruct (A' =? - A)%Z eqn:EA; [|exact N]. apply Z.eqb_eq in EA. subst A'.
    assert (V := combined_fact F (map Z.opp ws) facts vs (- A) C Hf W). unfold value in V. fold y in V.
    rewrite mix_opposite, opp_IZR in V. apply floor_div_below; [exact HF|].
    rewrite plus_IZR, !mult_IZR. apply (Rmult_le_compat_l (IZR A)) in V; [|lra]. unfold o. lra.
  - unfold greatest_off. eapply Rle_trans; [|apply IZR_le, Z.le_max_r]. apply ceil_div_above; [exact HF|].
    rewrite minus_IZR, !mult_IZR. apply (Rmult_le_compat_l (IZR A)) in K; [|lra]. unfold o. lra.
Qed.

Lemma by_directions_ok : forall F js rows' stated facts vs ws b hints r, (0 < F)%Z ->
  rows_at rows_packed js = Some rows' -> ball_right F facts vs ws b -> Forall (fun j => (j < count h)%nat) js ->
  Forall2 (fact_ok (depth h) F (embedded h (z l))) facts vs ->
  Forall2 (fact_ok (depth h) F (embedded h (z l))) stated (map (point h) js) ->
  (forall j, (j < count h)%nat -> within T (nth j r anything) (observable h (z l) j)) ->
  still_right r (by_directions F js rows' stated facts ws b hints r).
Proof.
  intros F js rows' stated facts vs ws b hints r HF ER HB HJ Hf Hs Hr. unfold by_directions. cbv zeta.
  rewrite nths_are.
  set (ss := directions hints). set (zero := map _ packed). set (sums := map (fun s => started packed _) ss).
  set (ts := map (fun sum => map _ js) sums). set (here := map _ js). set (cs := map (fun s => zdot s here) ss).
  destruct (_ && _) eqn:G; [|split; [reflexivity|exact Hr]]. apply andb_prop in G as [G1 G2]. apply Z.ltb_lt in G1.
  destruct (farthest F A stated ss cs) as [alpha|] eqn:Ea; [|split; [reflexivity|exact Hr]].
  split; [apply sharpen_length|]. assert (W := off_within F facts vs ws b HF HB Hf). cbv zeta in W.
  destruct HB as (HA & K & Q & X). set (D := depth h) in *. set (y := embedded h (z l)) in *.
  set (qs := map (fun s => mix s (map (point h) js)) ss).
  destruct (measures_ok h ms measured) as (HS & HC & HL & HM). destruct (measured_head h ms measured) as [E1 E2].
  destruct (rows_at_known js rows' ER) as [R I].
  assert (S : forall s, In s ss -> (sizes s <= 2 ^ room)%Z).
  { intros s Hs'. rewrite forallb_forall in G2. apply Z.leb_le. exact (G2 s Hs'). }
  assert (N : forall s k, In s ss -> (k < count h)%nat ->
    IZR (digit bits (Nat.modulo k piece)
      (nth (Nat.div k piece) (started packed (mixed s rows' zero)) 0%Z)) =
    inner D (mix s (map (point h) js)) (point h k)).
  { intros s k Hs' Hk. unfold zero. rewrite bits_right, packed_right in *.
    rewrite (entry_of_sum h ms E1 E2 _ s (map (points h) js) rows' k eq_refl I R (S s Hs') Hk). apply mix_of_real. }
  assert (Hts : Forall2 (fun s t => products_ok D (mix s (map (point h) js)) (map (point h) js) t) ss ts).
  { unfold ts, sums. clear - N HJ. induction ss as [|s ss IH]; constructor.
    - unfold products_ok. assert (N' := fun k => N s k (or_introl eq_refl)). clear - N' HJ.
      set (f := mix s (map (point h) js)) in *. clearbody f. induction HJ as [|j js Hj HJ IH]; constructor; [|exact IH].
      rewrite entries_is. cbn [map hd]. apply N'. exact Hj.
    - apply IH. intros s' k Hs'. apply N. right. exact Hs'. }
  assert (Hhere : products_ok D (mix ws vs) (map (point h) js) here).
  { unfold here, products_ok. clear - HJ X.
    induction HJ as [|j js Hj HJ IH]; constructor; [apply X; exact Hj|exact IH]. }
  assert (Hcs : Forall2 (fun s c => IZR c = inner D (mix ws vs) (mix s (map (point h) js))) ss cs).
  { unfold cs. clear - Hhere. induction ss as [|s ss IH]; constructor; [|exact IH]. apply products_mix. exact Hhere. }
  assert (Halpha := farthest_ok D F A y stated (map (point h) js) Hs (mix ws vs) HF ltac:(lia) ss cs alpha Hcs Ea).
  assert (Hgram := crossed_right D (map (point h) js) ss ts Hts).
  assert (Hcq : Forall2 (fun q c => IZR c = inner D (mix ws vs) q) qs cs).
  { unfold qs. clear - Hcs. induction Hcs as [|s c ss cs E H IH]; constructor; assumption. }
  intros j Hj. apply (sharpen_ok _ (fun k => inner D (mix ws vs) (point h k))) with (k := 0%nat) (i := j);
    [|intros i Hi; apply HM; exact Hi|intros i Hi; apply X; exact Hi|exact Hr|exact Hj].
  intros w k m x e Hk M Ex We. cbv zeta. apply meet_ok; [|exact We].
  assert (Ht : Forall2 (fun q t => IZR t = inner D (point h k) q) (firstn w qs)
    (entries bits k (firstn w sums))).
  { rewrite entries_is. unfold qs, sums. clear - N Hk. revert w.
    induction ss as [|s ss IH]; intros [|w]; cbn [map firstn]; constructor.
    - rewrite inner_comm. apply N; [left; reflexivity|exact Hk].
    - apply IH. intros s' k' Hs'. apply N. right. exact Hs'. }
  assert (Hb := target_products_ok h A (mix ws vs) qs w _ cs (point h k) Ht Hcq).
  assert (Hq := target_square_ok h A (mix ws vs) (foot_square b) Q k m x M Ex).
  apply (ends_from_ok h T A (z l) (mix ws vs) (foot_square b) HS T_positive HA in_domain_here Q k m x); auto.
  apply (leeway_ok D _ _ qs _ _ Hgram Hb _ (greatest_off F b) _ alpha G1 (proj1 Halpha) (proj2 W) Hq (proj2 Halpha)).
Qed.

Lemma by_centre_ok : forall F js rows' stated facts rows ks hints r, (0 < F)%Z ->
  rows_at rows_packed js = Some rows' -> Forall (fun j => (j < count h)%nat) js ->
  Forall2 (fact_ok (depth h) F (embedded h (z l))) facts (vectors h js ks) ->
  Forall2 (fact_ok (depth h) F (embedded h (z l))) stated (map (point h) js) ->
  gram_ok (depth h) (vectors h js ks) rows ->
  (forall j, (j < count h)%nat -> within T (nth j r anything) (observable h (z l) j)) ->
  still_right r (by_centre F js rows' stated facts rows ks hints r).
Proof.
  intros F js rows' stated facts rows ks hints r HF ER HJ Hf Hs Hg Hr. unfold by_centre.
  destruct (ball_of _ _ _ _ _ _) as [b|] eqn:E; [|split; [reflexivity|exact Hr]].
  assert (B := ball_of_right F js rows' facts rows ks _ b ER Hf Hg E).
  assert (K := by_ball_ok F facts _ _ b r HF B Hr). cbv zeta. destruct (sharpened hints); [exact K|].
  destruct K as [L K]. assert (Y := by_directions_ok F js rows' stated facts _ _ b hints _ HF ER B HJ Hf Hs K).
  split; [rewrite <- L; apply Y|apply Y].
Qed.

Theorem metric_row_ok : forall hints r, metric_row own l hints = Some r -> row_ok h T r (z l).
Proof.
  intros hints r H. unfold metric_row in H. cbv zeta in H. destruct (forallb _ _) eqn:HJ; [|discriminate].
  assert (B : row_ok h T (meet_stated (statement_unit c) T (stated_at l (statements c)) own) (z l)).
  { split; [rewrite meet_stated_length; apply own_right|exact base_right]. }
  set (here := stated_at l (statements c)) in *. set (js := map fst here) in *.
  set (base := meet_stated _ _ _ _) in *. set (ws := centre hints) in *. set (xs := targets hints) in *.
  assert (J : Forall (fun j => (j < count h)%nat) js).
  { apply Forall_forall. intros j Hj. apply Nat.ltb_lt. rewrite forallb_forall in HJ. apply HJ. exact Hj. }
  clear HJ.
  assert (main : match rows_found rows_packed js, common (Zpos (statement_unit c)) T with
    | Some rows', (F, fu, ft) =>
        let measured := nths no_measure js ms in
        let fact_of s m e := stated_fact h F m (with_domain fu ft (snd s) e) in
        let stated := map_three fact_of here measured (nths anything js own) in
        let facts := stated ++ map snd (domain_facts h F) in
        let ks := map fst (domain_facts h F) in
        let rows'' := map (started packed) rows' in
        let rows := triangle h bits js (map total measured) rows'' ks in
        let base := match ws with nil => base | _ => by_centre F js rows' stated facts rows ks hints base end in
        let weighed := with_squares xs (squares rows (weights_in xs)) in
        Some (refine h F (step_of h ft) facts ks (fun k => entries bits k rows'') weighed 0 ms base)
    | None, _ => None end = Some r -> row_ok h T r (z l)).
  2: { destruct ws, xs; try (apply main; exact H). injection H as <-. exact B. }
  clear H. intros H. rewrite rows_found_are in H.
  destruct (rows_at rows_packed js) as [rows'|] eqn:HR; [|discriminate].
  destruct (common (Zpos (statement_unit c)) T) as [[F fu] ft] eqn:HF. cbv zeta in H. rewrite !nths_are in H.
  assert (M := map_three_is (fun s m e => stated_fact h F m (with_domain fu ft (snd s) e)) fst
    (fun j => nth j ms no_measure) (fun j => nth j own anything) here). fold js in M. rewrite M, map_map in H. clear M.
  match type of H with Some ?y = _ => assert (E : r = y) by congruence end. clear H. subst r.
  destruct (measures_ok h ms measured) as (HS & _ & _ & HM).
  destruct (common_ok _ _ _ _ _ (Pos2Z.is_pos _) T_positive HF) as (F1 & F2 & Hfu & Hft).
  assert (HF' : (0 < F)%Z) by (rewrite F2; apply Z.mul_pos_pos; assumption).
  set (rows'' := map (started packed) rows') in *.
  assert (R : Forall2 (row_right h ms) js rows'').
  { destruct (rows_at_known js rows' HR) as [R _]. destruct (measured_head h ms measured) as [E1 E2].
    assert (K : forall j, (j < count h)%nat -> row_right h ms j (started packed (row_of packed (points h j)))).
    { intros j Hj. rewrite packed_right.
      apply (started_row_right h (fun i => measures_short h ms i measured) ms E1 E2 j Hj). }
    unfold rows''. clear - R J K. revert rows' R.
    induction J as [|j js Hj J IH]; intros rows' R; inversion R as [|? row ? rest E R']; subst; [constructor|].
    constructor; [|exact (IH rest R')]. apply K. exact Hj. }
  set (fact_of := fun s : nat * (option Z * option Z) => _) in *.
  set (facts := _ ++ map snd (domain_facts h F)) in *. set (ks := map fst (domain_facts h F)) in *.
  set (rows := triangle _ _ _ _ _ _) in *.
  assert (Hs : Forall2 (fact_ok (depth h) F (embedded h (z l))) (map fact_of here) (map (point h) js)).
  { assert (A' := statement_true). fold here in A'. assert (HV := in_domain_here).
    assert (O := proj2 own_right).
    clear - HM HS Hfu Hft F1 F2 J A' HV O. unfold js in *. induction here as [|s ss IH]; [constructor|].
    apply Forall_cons_iff in J as [J1 J2]. constructor.
    - apply stated_fact_ok; try assumption; [apply HM; assumption|].
      apply (with_domain_ok (statement_unit c) T); try assumption; [|apply O; assumption].
      apply A'. left. reflexivity.
    - apply IH; [assumption|]. intros s' Hs'. apply A'. right. exact Hs'. }
  assert (Hf : Forall2 (fact_ok (depth h) F (embedded h (z l))) facts (vectors h js ks)).
  { apply Forall2_app; [exact Hs|].
    assert (K := domain_facts_ok h F (z l) HS HF' in_domain_here). unfold ks. clear - K.
    induction K as [|e es E K IH]; constructor; assumption. }
  assert (Hg : gram_ok (depth h) (vectors h js ks) rows).
  { unfold rows. rewrite bits_right. apply triangle_right; [exact J| |exact R]. clear - J HM.
    induction J as [|i is Hi J IH]; constructor; [|exact IH].
    apply (HM i _ Hi). }
  set (base' := match ws with nil => base | _ => _ end).
  assert (B' : length base' = count h /\
    forall j, (j < count h)%nat -> within T (nth j base' anything) (observable h (z l) j)).
  { unfold base'. destruct ws as [|w ws']; [exact B|]. destruct B as [LB HB].
    destruct (by_centre_ok F js rows' (map fact_of here) facts rows ks hints base HF' HR J Hf Hs Hg HB) as [L K].
    split; [rewrite L; exact LB|exact K]. }
  split; [rewrite refine_length; apply B'|]. intros j Hj.
  apply (refine_ok h F (step_of h ft) facts rows ks _ T ft (z l) js eq_refl HS Hft T_positive F2 in_domain_here)
    with (k := 0%nat) (d := Measure 0 0 1 1).
  - exact Hf.
  - exact Hg.
  - intros k Hk. rewrite bits_right. apply entries_right; [exact Hk|exact R].
  - rewrite squares_are; [apply with_squares_right|]. exact (gram_rows _ _ _ Hg).
  - intros i Hi. apply HM. exact Hi.
  - apply B'.
  - exact Hj.
Qed.
End Row.
