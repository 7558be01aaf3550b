(** The checker of claim 3, minimality, and that it is right.

    For each statement, the others and the domain give numbers that certainly lie in the ranges of all observables.
    Pooling gives numbers that certainly lie in those of the activations, which the other statements about activations
    cut, and then what activations say of each other. A rival whose margin is 0 or less at these numbers shows that the statement is needed. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Boxes Grid Log Columns Direction Embedding Ends Leftover
  Activations
  Pooling InnerDomain InnerPooling InnerRange InnerStatements InnerSimplex
  InnerPoints InnerReadout InnerLinks SumStatements InnerPrices InnerJoint Instance Check.
Import ListNotations.

(** * What runs *)

(** Numbers of the range of every observable of a patch *)
Notation inner_row := (list (option inner_entry)).

(** Untrusted. The rivals that are tried, in this order; for the statement of an index that is left out: points of a
    patch, under prices for a rival pairs of a patch and a prototype, under joint for a rival a point and its unit, and how
    far activations reach by what others say of them.
    Points of patches that a statement is not about are those of all statements. *)
Record minimal_hints := MinimalHints {
  rivals_of : list nat;
  points_at : nat -> patch_points;                (* by patch, with all statements *)
  points_without : nat -> nat -> patch_points;
  pairs_of : nat -> nat -> list (nat * nat);
  joint_point : nat -> nat -> positive * point;
  reaches_at : nat -> reach_hints
}.

Section Run.
Variables (p : prepared) (what : addition) (x : minimal_hints).
Let h := head_of p.
Let T := Zpos (range_unit (settings_of p)).
Let B := Zpos (box_unit (settings_of p)).
Let n := terms (settings_of p).

(** Ends within those of the domain, and the entries that they make. *)
Definition inner_free : list (option (Z * Z)) := inner_domain_row h T n.
Definition entries_of : list (option (Z * Z)) -> inner_row :=
  map (fun e => match e with Some e => entry_of e | None => None end).

(** At a patch. [entries] are those of [free]. *)
Definition inner_row_at (free : list (option (Z * Z))) (entries : inner_row) (c : certificate) (l : nat)
  (points : nat -> patch_points) : inner_row :=
  if has_statement c l then
    match measures_of p with
    | Some ms => inner_points_row h c T free ms l (points l)
    | None => entries_of (inner_mass_row h c T free l)
    end
  else entries.

Definition inner_pool (row : list Z) (o : own) (column : inner_row) : option (Z * Z) :=
  match all_some column with
  | Some column => inner_activation h T B n (logs_of p) o row column
  | None => None
  end.

(** Of all patches; None unless there are as many rows as patches, all of the right length. *)
Definition inner_pooled (t : list inner_row) : option box :=
  if forallb (fun r => Nat.eqb (length r) (count h)) t
  then all_some (pool_columns inner_pool (mask_of (head_pooling h)) (owns h) (columns (count h) t))
  else None.

Section Without.
Variables (c : certificate) (i : nat).       (* [c] has all statements but that of index [i] *)

(** What the paradigm adds. *)
Definition addition_shown (tops : list Z) (b : box) (r : nat) : bool :=
  match what with
  | Nothing => true
  | Prices => (T =? B)%Z && no_prices_prove h c T b (predicted c) r tops (pairs_of x i r)
  | JointMargin =>
      match measures_of p with
      | Some ms => joint_shown h c T B n (logs_of p) ms r (joint_point x i r)
      | None => false
      end
  end.

Definition rival_shown (own : option (list bool)) (tops : list Z) (b : box) (r : nat) : bool :=
  Nat.ltb r (classes h) && negb (Nat.eqb r (predicted c)) &&
  match margin_most h B b (predicted c) r with Some most => (most <=? 0)%Z | None => false end &&
  no_sum_proves h B b c own r &&
  addition_shown tops b r.

(** Cut by what activations say of each other. *)
Definition cut_by_reach (free : list (option (Z * Z))) (table : list (nat * list Z)) (b : box) : option box :=
  match measures_of p with
  | Some ms => linked_box h T B n (logs_of p) ms table free c (reaches_at x i) b
  | None => if are_linked h then None else Some b
  end.

Definition shown_needed (free : list (option (Z * Z))) (table : list (nat * list Z)) (pooled : option box) : bool :=
  match option_map (fun pooled => met_box (inner_stated_ends (statement_unit c) B) pooled (statements c)) pooled with
  | Some met =>
      match cut_by_reach free table met with None => false | Some b =>
      let tops := match what with Prices => tops_of h c T | _ => nil end in
      let own := if existsb is_sum (statements c) then own_prototypes h (predicted c) else None in
      (forallb about_a_patch (statements c) || forallb (fun e => fst e <=? snd e)%Z b) && existsb
        (rival_shown own tops b) (rivals_of x)
      end
  | None => false
  end.
End Without.

(** Whether a statement is about the patch. *)
Definition is_about (l : nat) (s : option statement) : bool :=
  match s with Some (AboutPatch k _ _ _) => Nat.eqb k l | _ => false end.

(** Whether the statement of an index is needed. The rows of patches that it is not about are the same for all
    indices, and so is the box of one that is about activations: they are computed once. *)
Definition needed_of (c : certificate) : nat -> bool :=
  let free := inner_free in
  let entries := entries_of free in
  let patches_in_order := seq 0 (patches c) in
  let whole := map (fun l => inner_row_at free entries c l (points_at x)) patches_in_order in
  let shared := if forallb about_a_patch (statements c) then None else inner_pooled whole in
  let possible := Nat.ltb 0 (patches c) && signs_differ h in
  let table := match measures_of p with Some ms => gap_table h T ms (statements c) | None => nil end in
  fun i =>
    let left := without i c in
    let left_out := nth_error (statements c) i in
    possible &&
    shown_needed left i free table
      (match left_out with
       | Some (AboutPatch _ _ _ _) =>
           inner_pooled (map (fun r => if is_about (fst r) left_out then inner_row_at free entries left (fst r)
             (points_without x i)
                                       else snd r) (combine patches_in_order whole))
       | _ => shared
       end).

Definition check_minimal (c : certificate) : bool := forallb (needed_of c) (seq 0 (length (statements c))).
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (s : settings) (rows : list (list Z)) (what : addition) (x : minimal_hints).
Let p := prepared_with h s rows.
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).
Let HT : (0 < T)%Z. Proof. reflexivity. Qed.
Let HB : (0 < B)%Z. Proof. reflexivity. Qed.
Hypothesis signs : signs_differ h = true.

(** Rows, each for its patch; and what [inner_pooled] gives: a value of every activation that is at most the one end,
    and one that is at least the other end. *)
Definition row_right (c : certificate) (l : nat) (r : inner_row) : Prop :=
  forall j e, (j < count h)%nat -> nth j r None = Some e -> entry_right T (reference_range h c l j) e.
Definition value_right (c : certificate) (j : nat) (g : R) : Prop :=
  exists m, (forall l, (l < patches c)%nat -> reference_range h c l j (m l)) /\ g = activation_of h (patches c) m j.
Definition pooled_right (c : certificate) (b : box) : Prop :=
  length b = count h /\ forall j, (j < count h)%nat ->
    (exists g, value_right c j g /\ IZR B * g <= IZR (fst (nth j b (0, 0)%Z))) /\
    (exists g, value_right c j g /\ IZR (snd (nth j b (0, 0)%Z)) <= IZR B * g).

Lemma length_inner_free : length (inner_free p) = count h.
Proof.
  unfold inner_free. cbn [p prepared_with prepare head_of settings_of]. unfold inner_domain_row.
  destruct (head_geometry h); try apply repeat_length; destruct (measures h) as [ms|] eqn:M; try apply repeat_length;
    rewrite map_length; unfold measures in M; destruct (_ && _) eqn:C; try discriminate;
    apply andb_prop in C as [C _]; apply andb_prop in C as [C _]; apply andb_prop in C as [_ C];
    apply Nat.eqb_eq in C; rewrite map_length in C; exact C.
Qed.

Lemma entries_of_right : forall r j e Q, nth j (entries_of r) None = Some e ->
  (forall e, nth j r None = Some e -> all_within T e Q) -> entry_right T Q e.
Proof.
  intros r j e Q H K. unfold entries_of in H. set (f := fun e => _) in H. change None with (f None) in H at 1.
  rewrite map_nth in H. unfold f in H. destruct (nth j r None) as [o|]; [|discriminate].
  exact (entry_of_ok T o e Q HT (K o eq_refl) H).
Qed.

Lemma inner_row_at_right : forall c l points,
  row_right c l (inner_row_at p (inner_free p) (entries_of (inner_free p)) c l points).
Proof.
  intros c l points j e Hj H.
  assert (Own : forall e, nth j (inner_free p) None = Some e -> all_within T e (domain_range h j)).
  { intros e'. apply inner_domain_row_ok; auto. }
  assert (L := length_inner_free). unfold inner_row_at in H.
  cbn [p prepared_with prepare head_of settings_of measures_of] in H.
  fold T in H. destruct (has_statement c l) eqn:S.
  - destruct (measures h) as [ms|] eqn:M.
    + exact (inner_points_row_ok h c T ms _ l (points l) j e HT M L Hj Own H).
    + apply (entries_of_right _ _ _ _ H). intros e'. apply inner_mass_row_ok; auto.
  - apply (entries_of_right _ _ _ (reference_range h c l j) H). intros e' E' y X.
    split; [exact (Own e' E' y X)|]. intros (k & lo & hi & I).
    assert (has_statement c l = true); [|congruence]. apply existsb_exists. exists (AboutPatch l k lo hi).
    split; [exact I|apply Nat.eqb_refl].
Qed.

Lemma inner_pooled_right : forall c t b, (0 < patches c)%nat -> length t = patches c ->
  (forall l, (l < patches c)%nat -> row_right c l (nth l t nil)) -> inner_pooled p t = Some b -> pooled_right c b.
Proof.
  intros c t b Hn Lt R H. unfold inner_pooled in H. cbn [p prepared_with prepare head_of] in H.
  destruct (forallb (fun r : inner_row => Nat.eqb (length r) (count h)) t) eqn:F; [|discriminate].
  rewrite forallb_forall in F.
  assert (W : Forall (fun r : inner_row => length r = count h) t).
  { apply Forall_forall. intros r I. apply Nat.eqb_eq, F, I. }
  assert (Lc : length (columns (count h) t) = count h).
  { unfold columns. clear - W. assert (G : forall cols : list inner_row, length cols = count h ->
      length (fold_left (fun cols r => stacked r cols) t cols) = count h); [|apply G, repeat_length].
    induction t as [|r t IH]; intros cols L; [exact L|]. inversion_clear W. cbn [fold_left]. apply IH; [assumption|].
    rewrite length_stacked; congruence. }
  assert (Lo : length (owns h) = length (columns (count h) t)) by (rewrite length_owns, Lc; reflexivity).
  apply all_some_spec in H.
  assert (Lb : length b = count h).
  { rewrite <- Lc, <- (length_pool_columns _ _ (inner_pool p) (mask_of (head_pooling h)) _ _ Lo), H.
    symmetry. apply map_length. }
  split; [exact Lb|]. intros j Hj.
  assert (N := nth_pool_columns _ _ (inner_pool p) _ _ (mask_of (head_pooling h)) j (own_at h j) nil None Lo
    ltac:(rewrite Lc; exact Hj)).
  rewrite H, nth_owns in N by exact Hj. rewrite (nth_columns _ None) in N by assumption.
  rewrite (nth_indep _ None (Some (0, 0)%Z)), map_nth in N by (rewrite map_length, Lb; exact Hj).
  symmetry in N. unfold inner_pool in N. destruct (all_some _) as [col|] eqn:A; [|discriminate].
  cbn [p prepared_with prepare head_of settings_of logs_of] in N. fold T B in N.
  apply all_some_spec in A. assert (Lcol : length col = patches c).
  { rewrite <- (map_length Some col), <- A, rev_length, map_length. exact Lt. }
  apply (inner_activation_ok h T B (terms s) _ HT HB (logarithms_for_right B (terms s)) (patches c) j col
    (fun l => reference_range h c l j) Hn Lcol (fun l => reference_range_convex h c l j)
    (fun l => reference_range_sane h c l j)) in N.
  { destruct N as [(m1 & K1 & U1) (m2 & K2 & U2)].
    split; [exists (activation_of h (patches c) m1 j)|exists (activation_of h (patches c) m2 j)];
      (split; [|assumption]); [exists m1|exists m2]; auto. }
  intros l Hl. assert (E : nth l (map (fun r : inner_row => nth j r None) t) None = Some (nth l (rev col) ((0, 0), (0,
    0))%Z)).
  { rewrite <- (rev_involutive (map _ t)), A, <- map_rev.
    rewrite (nth_indep _ None (Some ((0, 0), (0, 0))%Z)) by (rewrite map_length, rev_length; lia). apply map_nth. }
  assert (outside : nth j (@nil (option inner_entry)) None = None) by (destruct j; reflexivity).
  rewrite <- outside in E at 1. rewrite (map_nth (fun r : inner_row => nth j r None)) in E.
  exact (R l Hl j _ Hj E).
Qed.

(** Cut by what activations say of each other *)
Lemma cut_by_reach_right : forall c i ss b b', length b = count h ->
  let table := match measures h with Some ms => gap_table h T ms ss | None => nil end in
  cut_by_reach p x c i (inner_free p) table b = Some b' ->
  length b' = count h /\ (forallb about_a_patch (statements c) = true -> b' = b) /\ forall j, (j < count h)%nat ->
    (fst (nth j b (0, 0)) <= fst (nth j b' (0, 0)) /\ snd (nth j b' (0, 0)) <= snd (nth j b (0, 0)))%Z /\
    all_within B (nth j b' (0, 0)%Z) (fun a => are_linked h = true -> beside_all h c j a).
Proof.
  intros c i ss b b' L table H. unfold cut_by_reach in H.
  cbn [p prepared_with prepare head_of settings_of measures_of logs_of] in H. fold T B in H.
  assert (same : b' = b -> are_linked h = false -> length b' = count h /\ (forallb about_a_patch (statements c) = true ->
    b' = b) /\ forall j, (j < count h)%nat ->
    (fst (nth j b (0, 0)) <= fst (nth j b' (0, 0)) /\ snd (nth j b' (0, 0)) <= snd (nth j b (0, 0)))%Z /\
    all_within B (nth j b' (0, 0)%Z) (fun a => are_linked h = true -> beside_all h c j a)).
  { intros -> N. split; [exact L|]. split; [reflexivity|]. intros j Hj. split; [lia|]. intros a _ A. congruence. }
  destruct (measures h) as [ms|] eqn:M.
  - destruct (are_linked h) eqn:A; [|apply same; [|reflexivity]; unfold linked_box in H; rewrite A in H;
      injection H as <-; reflexivity].
    destruct (linked_box_right h T B (terms s) _ ms HT HB (logarithms_for_right B (terms s)) M signs A c ss
      (reaches_at x i) b b' L H) as [L' K].
    split; [exact L'|]. split.
    + intros F. unfold linked_box in H. cbv zeta in H. rewrite forallb_forall in F.
      assert (O : own_stated (statements c) = nil /\ listed (statements c) fst = nil /\ listed (statements c) snd = nil).
      { clear - F. induction (statements c) as [|st ss IH]; [auto|]. assert (Q := F st (or_introl eq_refl)).
        destruct st; try discriminate. cbn. apply IH. intros st' I. apply F. right. exact I. }
      destruct O as (O1 & O2 & O3). rewrite O1, O2, O3 in H. cbn in H. rewrite orb_true_r in H. injection H as <-. reflexivity.
    + intros j Hj. destruct (K j Hj) as [E W]. split; [exact E|]. intros a Q _. exact (W a Q).
  - destruct (are_linked h) eqn:A; [discriminate|]. injection H as <-. apply same; reflexivity.
Qed.

(** Numbers of the activations' ranges: at most the first ends of the box that statements have cut, and activations of
    each other; at least the second. *)
Lemma ends_in_ranges : forall c i ss b b', pooled_right c b ->
  let met := met_box (inner_stated_ends (statement_unit c) B) b (statements c) in
  let table := match measures h with Some ms => gap_table h T ms ss | None => nil end in
  cut_by_reach p x c i (inner_free p) table met = Some b' ->
  forallb about_a_patch (statements c) || forallb (fun e => fst e <=? snd e)%Z b' = true ->
  length b' = count h /\ forall j, (j < count h)%nat ->
    (exists g, activation_range h c j g /\ IZR B * g <= IZR (fst (nth j b' (0, 0)%Z))) /\
    (exists g, activation_range h c j g /\ IZR (snd (nth j b' (0, 0)%Z)) <= IZR B * g).
Proof.
  intros c i ss b b' [L R] met table Cut O. assert (RB := IZR_pos _ HB).
  assert (Lm : length met = count h).
  { unfold met. destruct (count h) as [|k] eqn:Ck.
    - clear - L. destruct b; [|discriminate]. induction (statements c) as [|st ss IH]; [reflexivity|].
      unfold met_box in *. cbn [fold_left].
      replace (met_with (inner_stated_ends (statement_unit c) B) nil st) with (@nil (Z * Z)); [exact IH|].
      destruct st as [| [|j] | |]; reflexivity.
    - rewrite <- L. apply (met_box_within (statement_unit c) B HB (statements c) b 0). lia. }
  destruct (cut_by_reach_right c i ss met b' Lm Cut) as (L' & Same & K').
  assert (range : forall j g, value_right c j g -> range_of (value_right c j) g).
  { intros j g G e He. split; exists g; (split; [exact G|lra]). }
  assert (within : forall j, (j < count h)%nat -> all_within B (nth j b (0, 0)%Z) (range_of (value_right c j))).
  { intros j Hj y [Y1 Y2] e He. destruct (R j Hj) as [(g & G & U) (g' & G' & U')].
    split; [exists g|exists g']; (split; [assumption|]).
    - apply (Rmult_le_reg_l (IZR B)); [exact RB|]. assert (0 < IZR B * e) by (apply Rmult_lt_0_compat; assumption). lra.
    - apply (Rmult_le_reg_l (IZR B)); [exact RB|]. assert (0 < IZR B * e) by (apply Rmult_lt_0_compat; assumption).
      lra. }
  apply orb_prop in O as [O|O].
  - specialize (Same O). rewrite forallb_forall in O. assert (E : b' = b).
    { rewrite Same. unfold met, met_box. clear - O. revert b. induction (statements c) as [|st ss IH]; intros b; [reflexivity|].
      cbn [fold_left]. assert (A := O st (or_introl eq_refl)). destruct st; try discriminate. cbn [met_with].
      apply IH. intros st' I. apply O. right. exact I. }
    rewrite E. split; [exact L|]. intros j Hj.
    assert (silent : forall g, value_right c j g -> activation_range h c j g).
    { intros g G. split; [exact (range j g G)|]. split; [|intros _]; split; intros; exfalso;
        match goal with I : In _ (statements c) |- _ => specialize (O _ I); discriminate end. }
    destruct (R j Hj) as [(g & G & U) (g' & G' & U')]. split; [exists g|exists g']; auto.
  - rewrite forallb_forall in O. split; [exact L'|]. intros j Hj.
    destruct (met_box_within (statement_unit c) B HB (statements c) b j ltac:(lia)) as [_ W']. fold met in W'.
    destruct (K' j Hj) as [[N1 N2] Be]. apply IZR_le in N1, N2.
    assert (K : forall y, IZR (fst (nth j b' (0, 0)%Z)) <= IZR B * y <= IZR (snd (nth j b' (0, 0)%Z)) ->
      activation_range h c j y).
    { intros y X. assert (X' : IZR (fst (nth j met (0, 0)%Z)) <= IZR B * y <= IZR (snd (nth j met (0, 0)%Z))) by lra.
      apply W' in X' as [X' F]. split; [exact (within j Hj y X')|]. rewrite Forall_forall in F.
      split; [split; intros; [apply (F _ H eq_refl)|apply (F _ H H0)]|exact (Be y X)]. }
    assert (Q := O (nth j b' (0, 0)%Z) ltac:(apply nth_In; lia)). apply Z.leb_le, IZR_le in Q.
    assert (E : forall z, IZR B * (IZR z / IZR B) = IZR z) by (intros z; field; lra).
    split; [exists (IZR (fst (nth j b' (0, 0)%Z)) / IZR B)|exists (IZR (snd (nth j b' (0, 0)%Z)) / IZR B)];
      (split; [apply K; rewrite E; lra|rewrite E; lra]).
Qed.

(** One choice for each of finitely many *)
Lemma choice_below : forall (n : nat) (Q : nat -> R -> Prop), (forall j, (j < n)%nat -> exists g, Q j g) ->
  exists f, forall j, (j < n)%nat -> Q j (f j).
Proof.
  induction n as [|n IH]; intros Q H; [exists (fun _ => 0); intros j Hj; inversion Hj|].
  destruct (IH Q) as [f F]; [intros j Hj; apply H; lia|]. destruct (H n ltac:(lia)) as [g G].
  exists (fun j => if Nat.eqb j n then g else f j). intros j Hj. destruct (Nat.eqb_spec j n) as [->|N]; [exact G|].
  apply F. lia.
Qed.

Lemma shown_needed_ok : forall c i ss b, pooled_right c b ->
  shown_needed p what x c i (inner_free p) (match measures h with Some ms => gap_table h T ms ss | None => nil end)
    (Some b) = true ->
  exists r, (r < classes h)%nat /\ r <> predicted c /\ reference_margin_not_positive h c what r.
Proof.
  intros c i ss b R H. unfold shown_needed in H.
  cbn [p prepared_with prepare head_of settings_of option_map] in H. fold B in H.
  destruct (cut_by_reach _ _ _ _ _ _ _) as [b'|] eqn:Cut; [|discriminate]. apply andb_prop in H as [O H]. apply existsb_exists in H as (r & _ & H).
  unfold rival_shown in H. cbn [p prepared_with prepare head_of settings_of] in H. fold B in H.
  apply andb_prop in H as [H A]. apply andb_prop in H as [H S]. apply andb_prop in H as [H M]. apply andb_prop in H as [C N]. apply Nat.ltb_lt in C.
  apply negb_true_iff, Nat.eqb_neq in N.
  destruct (margin_most h B b' (predicted c) r) as [most|] eqn:E; [|discriminate]. apply Z.leb_le in M.
  destruct (ends_in_ranges c i ss b b' R Cut O) as [L K].
  destruct (choice_below (count h) _ (fun j Hj => proj1 (K j Hj))) as [lo Lo].
  destruct (choice_below (count h) _ (fun j Hj => proj2 (K j Hj))) as [hi Hi]. cbv beta in Lo, Hi.
  rewrite <- L in Lo, Hi.
  exists r. split; [exact C|]. split; [exact N|]. exists lo, hi. split; [|split; [|split]].
  - intros j Hj. rewrite <- L in Hj. split; [apply (Lo j Hj)|apply (Hi j Hj)].
  - exact (margin_most_ok h c B b' HB lo hi (fun j Hj => proj2 (Lo j Hj)) (fun j Hj => proj2 (Hi j Hj)) r most E M).
  - destruct (existsb is_sum (statements c)) eqn:X.
    + exact (no_sum_proves_ok h c B b' HB lo hi (fun j Hj => proj2 (Lo j Hj)) (fun j Hj => proj2 (Hi j Hj)) r C L S).
    + intros rivals upper I _. exfalso. apply (eq_true_false_abs _ (proj2 (existsb_exists _ _)
        (ex_intro _ (AboutSum rivals upper) (conj I eq_refl))) X).
  - unfold addition_shown in A. cbn [p prepared_with prepare head_of settings_of measures_of logs_of] in A.
    fold T B in A.
    destruct what; [exact I| |].
    + apply andb_prop in A as [U A]. apply Z.eqb_eq in U. rewrite <- U in *.
      exact (no_prices_prove_ok h c T b' r lo _ HT (fun j Hj => proj2 (Lo j Hj)) A).
    + destruct (measures h) as [ms|] eqn:Ms; [|discriminate].
      exact (joint_shown_ok h c T B (terms s) _ ms HT HB (logarithms_for_right B (terms s)) Ms r _ A).
Qed.
End Sound.

Lemma in_without : forall i c st, In st (statements (without i c)) -> In st (statements c).
Proof.
  intros i c st H. cbn [without statements] in H. rewrite <- (firstn_skipn i (statements c)). apply in_or_app.
  apply in_app_or in H as [H|H]; [left; exact H|right]. clear - H. generalize dependent (statements c).
  induction i as [|i IH]; intros [|x l] H; cbn in *; auto.
Qed.

(** Fewer statements leave more. *)
Lemma reference_range_without : forall h i c l j y, reference_range h c l j y -> reference_range h (without i c) l j y.
Proof.
  intros h i c l j y [D G]. split; [exact D|]. intros (k & lo & hi & I). apply in_without in I.
  assert (K := G (ex_intro _ k (ex_intro _ lo (ex_intro _ hi I)))). intros e He.
  assert (more : forall v, satisfies h c l v -> satisfies h (without i c) l v).
  { intros v V k' lo' hi' I'. apply V. exact (in_without i c _ I'). }
  destruct (K e He) as [(a & (v & S1 & S2 & S3) & U) (b & (w & R1 & R2 & R3) & V)].
  split; [exists a|exists b]; (split; [|assumption]); [exists v|exists w]; auto.
Qed.

(** What [needed_of] accepts is needed, whatever the hints, and whatever certificates [cs] came before. *)
Theorem needed_sound : forall h s cs what c x i, needed_of (fold_left learn cs (prepare h s)) what x c i = true ->
  needed h what c i.
Proof.
  intros h s cs what c x i E. destruct (learned h s cs) as (rows & _ & L). rewrite L in E. clear L.
  unfold needed_of in E. cbv zeta in E. apply andb_prop in E as [E F]. apply andb_prop in E as [Hn S].
  apply Nat.ltb_lt in Hn.
  cbn [prepared_with prepare head_of] in S. set (p := prepared_with h s rows) in *.
  set (table := match measures_of p with Some ms => _ | None => _ end) in *.
  set (free := inner_free p) in *. set (entries := entries_of free) in *. set (whole := map _ (seq 0 (patches c))) in *.
  assert (Lw : length whole = patches c) by (unfold whole; rewrite map_length, seq_length; reflexivity).
  assert (Rw : forall l, (l < patches c)%nat -> row_right h s c l (nth l whole nil)).
  { intros l Hl. unfold whole. set (f := fun l => inner_row_at p free entries c l (points_at x)).
    rewrite (nth_indep _ nil (f O)) by (rewrite map_length, seq_length; exact Hl).
    rewrite map_nth, seq_nth by exact Hl. apply inner_row_at_right. exact S. }
  assert (Rs : forall l, (l < patches c)%nat -> row_right h s (without i c) l (nth l whole nil)).
  { intros l Hl j e Hj N. destruct (Rw l Hl j e Hj N) as [(y & Y1 & Y2) (z & Z1 & Z2)].
    split; [exists y|exists z]; (split; [apply reference_range_without; assumption|assumption]). }
  assert (shared : forall b, inner_pooled p whole = Some b -> shown_needed p what x (without i c) i free table (Some b) = true ->
    exists r, (r < classes h)%nat /\ r <> predicted c /\ reference_margin_not_positive h (without i c) what r).
  { intros b Eb G. apply (inner_pooled_right h s rows (without i c)) in Eb; [|exact Hn|exact Lw|exact Rs].
    exact (shown_needed_ok h s rows what x S (without i c) i (statements c) b Eb G). }
  assert (sometimes : forall o : option box, (forall b, o = Some b -> inner_pooled p whole = Some b) ->
    shown_needed p what x (without i c) i free table o = true ->
    exists r, (r < classes h)%nat /\ r <> predicted c /\ reference_margin_not_positive h (without i c) what r).
  { intros [b|] O G; [exact (shared b (O b eq_refl) G)|discriminate]. }
  destruct (nth_error (statements c) i) as [[l0 j0 lo0 hi0|j0 lo0 hi0|ex0 lo0 hi0|rs0 hi0]|];
    try (apply sometimes in F; [exact F|]; intros b O; destruct (forallb about_a_patch (statements c)); congruence).
  destruct (inner_pooled p (map _ _)) as [b|] eqn:Eb; [|discriminate].
  apply (inner_pooled_right h s rows (without i c)) in Eb;
    [exact (shown_needed_ok h s rows what x S (without i c) i (statements c) b Eb F)|exact Hn| |].
  - rewrite map_length, combine_length, seq_length, Lw. apply Nat.min_id.
  - intros l Hl. set (f := fun r : nat * inner_row => _).
    rewrite (nth_indep _ nil (f (O, nil))) by (rewrite map_length, combine_length, seq_length, Lw;
      cbn [without patches] in Hl; lia).
    rewrite map_nth, combine_nth by (rewrite seq_length; symmetry; exact Lw). rewrite seq_nth by exact Hl. unfold f.
    cbn [fst snd Nat.add]. destruct (is_about l _); [apply inner_row_at_right; exact S|exact (Rs l Hl)].
Qed.

(** The theorem: what [check_minimal] accepts is minimal. *)
Theorem check_minimal_sound : forall h s cs what c x,
  check_minimal (fold_left learn cs (prepare h s)) what x c = true -> minimal h what c.
Proof.
  intros h s cs what c x E i Hi. unfold check_minimal in E. rewrite forallb_forall in E.
  apply (needed_sound h s cs what c x i), E, in_seq. lia.
Qed.
