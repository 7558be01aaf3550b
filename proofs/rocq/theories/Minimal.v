(** The checker of claim 3, minimality, and that it is right.

    For each statement, the others and the domain give numbers that certainly lie in the ranges of all observables. Pooling
    gives numbers that certainly lie in those of the activations, which the other statements about activations cut. A rival
    whose margin is 0 or less at these numbers shows that the statement is needed. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Boxes Grid Log Columns Direction Embedding Ends Leftover Activations
  Pooling InnerDomain InnerPooling InnerStatements InnerSimplex InnerReadout InnerPrices Instance Check.
Import ListNotations.

(** * What runs *)

Notation inner_row := (list (option (Z * Z))).

Section Run.
Variables (p : prepared).
Let h := head_of p.
Let T := Zpos (range_unit (settings_of p)).
Let B := Zpos (box_unit (settings_of p)).

(** Numbers in the domain's ranges. *)
Definition inner_own : inner_row := inner_domain_row h T (terms (settings_of p)).

Section Without.
Variables (free : inner_row) (c : certificate).       (* [c] has all statements but one *)

Definition inner_table : list inner_row :=
  map (fun l => if has_statement c l then inner_mass_row h c T free l else free) (seq 0 (patches c)).

Definition inner_pool (row : list Z) (o : own) (column : inner_row) : option (Z * Z) :=
  match all_some column with
  | Some column => inner_activation h T B (terms (settings_of p)) (logs_of p) o row column
  | None => None
  end.

Definition inner_pooled : option box :=
  let t := inner_table in
  if forallb (fun r => Nat.eqb (length r) (count h)) t
  then all_some (pool_columns inner_pool (mask_of (head_pooling h)) (owns h) (columns (count h) t))
  else None.

(** What the paradigm adds *)
Definition addition_shown (what : addition) (pairs : nat -> list (nat * nat)) (tops : list Z) (b : box) (r : nat) : bool :=
  match what with
  | Nothing => true
  | Prices => (T =? B)%Z && no_prices_prove h c T b (predicted c) r tops (pairs r)
  | JointMargin => false
  end.

Definition rival_shown (what : addition) (pairs : nat -> list (nat * nat)) (tops : list Z) (b : box) (r : nat) : bool :=
  Nat.ltb r (classes h) && negb (Nat.eqb r (predicted c)) &&
  match margin_most h B b (predicted c) r with Some most => (most <=? 0)%Z | None => false end &&
  addition_shown what pairs tops b r.

Definition shown_needed (what : addition) (pooled : option box) (rivals : list nat) (pairs : nat -> list (nat * nat)) :
  bool :=
  match pooled with
  | Some pooled =>
      let b := met_box (inner_stated_ends (statement_unit c) B) pooled (statements c) in
      let tops := match what with Prices => tops_of h c T | _ => nil end in
      forallb (fun e => fst e <=? snd e)%Z b && existsb (rival_shown what pairs tops b) rivals
  | None => false
  end.
End Without.

(** Untrusted: the rivals that are tried, in this order; under prices, for the statement that is left out and a rival pairs
    of a patch and a prototype. *)
Record minimal_hints := MinimalHints { rivals_of : list nat; pairs_of : nat -> nat -> list (nat * nat) }.

(** Whether the statement of an index is needed. Without statements about patches the ranges before statements are the same
    for all indices: they are computed once. *)
Definition needed_of (what : addition) (c : certificate) (x : minimal_hints) : nat -> bool :=
  let free := inner_own in
  let spatial := existsb about_a_patch (statements c) in
  let shared := if spatial then None else inner_pooled free c in
  let possible := Nat.ltb 0 (patches c) && signs_differ h in
  fun i =>
    let left := without i c in
    possible && shown_needed left what (if spatial then inner_pooled free left else shared) (rivals_of x) (pairs_of x i).

Definition check_minimal (what : addition) (c : certificate) (x : minimal_hints) : bool :=
  forallb (needed_of what c x) (seq 0 (length (statements c))).
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (s : settings) (rows : list (list Z)).
Let p := prepared_with h s rows.
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).
Let HT : (0 < T)%Z. Proof. reflexivity. Qed.
Let HB : (0 < B)%Z. Proof. reflexivity. Qed.
Hypothesis signs : signs_differ h = true.

(** What [inner_pooled] gives, of the statements of [c] about patches *)
Definition pooled_right (c : certificate) (b : box) : Prop :=
  length b = count h /\ forall j, (j < count h)%nat -> all_within B (nth j b (0, 0)%Z)
    (range_of (fun g => exists m, (forall l, (l < patches c)%nat -> reference_range h c l j (m l)) /\
                                  g = activation_of h (patches c) m j)).

Lemma inner_row_right : forall c l j e, (j < count h)%nat -> length (inner_own p) = count h ->
  nth j (if has_statement c l then inner_mass_row h c T (inner_own p) l else inner_own p) None = Some e ->
  all_within T e (reference_range h c l j).
Proof.
  intros c l j e Hj L H. assert (Own : forall e, nth j (inner_own p) None = Some e -> all_within T e (domain_range h j)).
  { intros e'. apply inner_domain_row_ok; auto. }
  destruct (has_statement c l) eqn:S; [revert H; apply inner_mass_row_ok; auto|].
  intros x X. split; [exact (Own e H x X)|]. intros (k & lo & hi & I).
  assert (has_statement c l = true); [|congruence]. apply existsb_exists. exists (AboutPatch l k lo hi).
  split; [exact I|apply Nat.eqb_refl].
Qed.

Lemma inner_pooled_right : forall c b, (0 < patches c)%nat -> inner_pooled p (inner_own p) c = Some b -> pooled_right c b.
Proof.
  intros c b Hn H. unfold inner_pooled in H. set (t := inner_table p (inner_own p) c) in *. cbv zeta in H.
  cbn [p prepared_with prepare head_of] in H.
  destruct (forallb (fun r : inner_row => Nat.eqb (length r) (count h)) t) eqn:F; [|discriminate]. rewrite forallb_forall in F.
  assert (W : Forall (fun r : inner_row => length r = count h) t).
  { apply Forall_forall. intros r I. apply Nat.eqb_eq, F, I. }
  assert (Lt : length t = patches c) by (unfold t, inner_table; rewrite map_length, seq_length; reflexivity).
  assert (Lc : length (columns (count h) t) = count h).
  { unfold columns. clear - W. assert (G : forall cols : list inner_row, length cols = count h ->
      length (fold_left (fun cols r => stacked r cols) t cols) = count h); [|apply G, repeat_length].
    induction t as [|r t IH]; intros cols L; [exact L|]. inversion_clear W. cbn [fold_left]. apply IH; [assumption|].
    rewrite length_stacked; congruence. }
  assert (Lo : length (owns h) = length (columns (count h) t)) by (rewrite length_owns, Lc; reflexivity).
  apply all_some_spec in H.
  assert (Lb : length b = count h).
  { rewrite <- Lc, <- (length_pool_columns _ _ (inner_pool p) (mask_of (head_pooling h)) _ _ Lo), H. symmetry. apply map_length. }
  split; [exact Lb|]. intros j Hj.
  assert (N := nth_pool_columns _ _ (inner_pool p) _ _ (mask_of (head_pooling h)) j (own_at h j) nil None Lo ltac:(rewrite Lc; exact Hj)).
  rewrite H, nth_owns in N by exact Hj. rewrite (nth_columns _ None) in N by assumption.
  rewrite (nth_indep _ None (Some (0, 0)%Z)), map_nth in N by (rewrite map_length, Lb; exact Hj).
  symmetry in N. unfold inner_pool in N. destruct (all_some _) as [col|] eqn:A; [|discriminate].
  cbn [p prepared_with prepare head_of settings_of logs_of] in N. fold T B in N.
  apply all_some_spec in A. assert (Lcol : length col = patches c).
  { rewrite <- (map_length Some col), <- A, rev_length, map_length. exact Lt. }
  revert N. apply (inner_activation_ok h T B (terms s) _ HT HB (logarithms_for_right B (terms s)) (patches c) j col
    (fun l => reference_range h c l j) Hn Lcol).
  intros l Hl. assert (E : nth l (map (fun r : inner_row => nth j r None) t) None = Some (nth l (rev col) (0, 0)%Z)).
  { rewrite <- (rev_involutive (map _ t)), A, <- map_rev.
    rewrite (nth_indep _ None (Some (0, 0)%Z)) by (rewrite map_length, rev_length; lia). apply map_nth. }
  rewrite (nth_indep _ None ((fun r : inner_row => nth j r None) nil)) in E by (rewrite map_length; lia).
  rewrite (map_nth (fun r : inner_row => nth j r None)) in E. unfold t, inner_table in E.
  cbn [p prepared_with prepare head_of settings_of] in E. fold T in E.
  rewrite (nth_indep _ nil (if has_statement c (patches c) then inner_mass_row h c T (inner_own p) (patches c) else inner_own p))
    in E by (rewrite map_length, seq_length; exact Hl).
  rewrite (map_nth (fun l => if has_statement c l then inner_mass_row h c T (inner_own p) l else inner_own p)) in E.
  rewrite seq_nth in E by exact Hl. cbn [Nat.add] in E.
  apply (inner_row_right c l j); [exact Hj| |exact E].
  assert (I : In (nth l t nil) t) by (apply nth_In; lia). rewrite Forall_forall in W. apply W in I.
  unfold inner_own. cbn [p prepared_with prepare head_of settings_of]. unfold inner_domain_row.
  destruct (head_geometry h); try apply repeat_length; destruct (measures h) as [ms|] eqn:M; try apply repeat_length;
    rewrite map_length; unfold measures in M; destruct (_ && _) eqn:C; try discriminate;
    apply andb_prop in C as [C _]; apply andb_prop in C as [C _]; apply andb_prop in C as [_ C];
    apply Nat.eqb_eq in C; rewrite map_length in C; exact C.
Qed.

Lemma shown_needed_ok : forall what c b rivals pairs, pooled_right c b ->
  shown_needed p c what (Some b) rivals pairs = true ->
  exists r, (r < classes h)%nat /\ r <> predicted c /\ reference_margin_not_positive h c what r.
Proof.
  intros what c b rivals pairs [L R] H. unfold shown_needed in H. cbn [p prepared_with prepare head_of settings_of] in H. fold B in H.
  set (b' := met_box _ b _) in H. apply andb_prop in H as [O H]. apply existsb_exists in H as (r & _ & H).
  unfold rival_shown in H. cbn [p prepared_with prepare head_of settings_of] in H. fold B in H.
  apply andb_prop in H as [H A]. apply andb_prop in H as [H M]. apply andb_prop in H as [C N]. apply Nat.ltb_lt in C. apply negb_true_iff, Nat.eqb_neq in N.
  destruct (margin_most h B b' (predicted c) r) as [most|] eqn:E; [|discriminate]. apply Z.leb_le in M.
  exists r. split; [exact C|]. split; [exact N|].
  exists (low_end B b'), (high_end B b'). split; [|split; [exact (margin_most_ok h c B b' HB r most E M)|]].
  2: { unfold addition_shown in A. cbn [p prepared_with prepare head_of settings_of] in A. fold T B in A.
       destruct what; [exact I| |discriminate]. apply andb_prop in A as [U A]. apply Z.eqb_eq in U. rewrite <- U in *.
       exact (no_prices_prove_ok h c T b' r (pairs r) HT A). }
  intros j Hj. destruct (met_box_within (statement_unit c) B HB (statements c) b j ltac:(lia)) as [L' W'].
  fold b' in L', W'. assert (K : forall x, IZR (fst (nth j b' (0, 0)%Z)) <= IZR B * x <= IZR (snd (nth j b' (0, 0)%Z)) ->
    activation_range h c j x).
  { intros x X. apply W' in X as [X F]. split; [exact (R j Hj x X)|]. rewrite Forall_forall in F.
    split; intros; [apply (F _ H eq_refl)|apply (F _ H H0)]. }
  rewrite forallb_forall in O. assert (Q := O (nth j b' (0, 0)%Z) ltac:(apply nth_In; lia)). apply Z.leb_le, IZR_le in Q.
  split; apply K; [rewrite low_end_scaled by exact HB|rewrite high_end_scaled by exact HB]; lra.
Qed.
End Sound.

Lemma in_without : forall i c st, In st (statements (without i c)) -> In st (statements c).
Proof.
  intros i c st H. cbn [without statements] in H. rewrite <- (firstn_skipn i (statements c)). apply in_or_app.
  apply in_app_or in H as [H|H]; [left; exact H|right]. clear - H. generalize dependent (statements c).
  induction i as [|i IH]; intros [|x l] H; cbn in *; auto.
Qed.

(** The theorem: what [check_minimal] accepts is minimal, whatever the hints, and whatever certificates [cs] came before. *)
Theorem check_minimal_sound : forall h s cs what c x,
  check_minimal (fold_left learn cs (prepare h s)) what c x = true -> minimal h what c.
Proof.
  intros h s cs what c x E i Hi. destruct (learned h s cs) as (rows & _ & L). rewrite L in E. clear L.
  unfold check_minimal in E. rewrite forallb_forall in E. specialize (E i ltac:(apply in_seq; lia)).
  unfold needed_of in E. apply andb_prop in E as [E F]. apply andb_prop in E as [Hn S]. apply Nat.ltb_lt in Hn.
  cbn [prepared_with prepare head_of] in S. destruct (existsb about_a_patch (statements c)) eqn:A.
  - destruct (inner_pooled _ _ (without i c)) as [b|] eqn:Eb; [|discriminate].
    apply (inner_pooled_right h s rows S) in Eb; [|exact Hn].
    exact (shown_needed_ok h s rows what (without i c) b _ _ Eb F).
  - destruct (inner_pooled _ _ c) as [b|] eqn:Eb; [|discriminate].
    apply (inner_pooled_right h s rows S) in Eb; [|exact Hn].
    refine (shown_needed_ok h s rows what (without i c) b _ _ _ F).
    destruct Eb as [Lb R]. split; [exact Lb|]. intros j Hj y Y e He. destruct (R j Hj y Y e He) as [K1 K2].
    assert (same : forall l x, reference_range h c l j x -> reference_range h (without i c) l j x).
    { intros l k0 [D _]. split; [exact D|]. intros (k & lo & hi & I). apply in_without in I.
      assert (existsb about_a_patch (statements c) = true); [|congruence]. apply existsb_exists.
      exists (AboutPatch l k lo hi). auto. }
    split; [destruct K1 as (g & (m & K & ->) & U)|destruct K2 as (g & (m & K & ->) & U)];
      exists (activation_of h (patches c) m j); (split; [exists m; split; [intros l Hl; apply same, K, Hl|reflexivity]|exact U]).
Qed.
