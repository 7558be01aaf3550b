(** The checker of claim 1, entailment, and that it is right.

    Patch by patch the statements, the domain and weights give ranges of all observables: a table. Pooling makes a box
    of activations of it, which statements about activations cut, and then what these say of one another. From the box
    come the margins, each against one rival; of softmax heads also from prices, of heads with one patch also from
    weights for the margin as a whole. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Log Columns Ends Embedding Products Hypersphere Metric Domain Table
  Similarity Simplex SimplexTable SimplexBox Leftover Assignment Activations Pooling LinearReadout Readout Joint
  Lipschitz Angles SumStatements.
Import ListNotations.

(** * What runs *)

(** Untrusted: any units and any number of terms are sound. Ends of observables are over [range_unit], those of
    activations over [box_unit]; exponentials are series of [terms] terms, logarithms of about a quarter. *)
Record settings := Settings { range_unit : positive; box_unit : positive; terms : nat }.

(** What depends on the head alone, computed once for many certificates. *)
Record prepared := Prepared {
  head_of : head;
  settings_of : settings;
  logs_of : logarithms;
  measures_of : option (list measure);
  packed_of : list (Z * list Z);
  domain_of : option row;
  rows_of : list (list Z)
}.

Definition prepare (h : head) (s : settings) : prepared :=
  let ms := measures h in
  Prepared h s (logarithms_for (Zpos (box_unit s)) (terms s)) ms
    (match ms with Some ms => packed_prototypes h ms | None => nil end) (domain_row h (Zpos (range_unit s)) (terms s))
    (no_rows h).

Definition is_stated (c : certificate) : nat -> bool :=
  let stated := stated_prototypes c in fun j => existsb (Nat.eqb j) stated.

(** The products that a certificate needs, kept for those that come after it. *)
Definition learn (p : prepared) (c : certificate) : prepared :=
  Prepared (head_of p) (settings_of p) (logs_of p) (measures_of p) (packed_of p) (domain_of p)
    (more_rows (packed_of p) (is_stated c) 0 (prototypes (head_of p)) (rows_of p)).

(** Untrusted: A and the claims of the balls, weights for the patches in their order, prices and weights of the whole
    margin against some rivals, and what links activations, upper ends and lower ends. *)
Record hints := Hints {
  curve_of : Z;
  claims_of : list claim;
  weights_of : list patch_hints;
  prices_of : list (nat * list Z);
  joint_of : list (nat * joint_hint);
  links_above : links;
  links_below : links;
  turns_above : turns;
  turns_below : turns
}.

Fixpoint against {A : Type} (r : nat) (l : list (nat * A)) : option A :=
  match l with (k, hint) :: l' => if Nat.eqb k r then Some hint else against r l' | nil => None end.

Section Run.
Variables (p : prepared) (c : certificate) (x : hints).
Let h := head_of p.
Let T := Zpos (range_unit (settings_of p)).
Let B := Zpos (box_unit (settings_of p)).

Definition given_table : option table :=
  match head_geometry h, measures_of p, domain_of p with
  | Softmax, _, Some own => simplex_table T h c own
  | _, Some ms, Some own =>
      metric_table h c T ms (packed_of p) (rows_of p) own (curve_of x) (claims_of x) (weights_of x)
  | _, _, _ => None
  end.

(** Of softmax heads what the statements leave, computed once for all rivals; and the box, where no table is needed. *)
Definition given_left : option leftover := if is_softmax h then Some (left_of T c (count h)) else None.

Definition box_of_left (left_over : option leftover) : option box :=
  match left_over, domain_of p with
  | Some left_over, Some own => simplex_box h T (similar_ends h T B (terms (settings_of p)) (logs_of p)) left_over own
  | _, _ => None
  end.

(** What activations say of one another. *)
Definition cut_by_others (b : box) : box :=
  let n := terms (settings_of p) in
  let b := cut_by_links h T B n (logs_of p) (links_above x) (links_below x) b in
  match measures_of p with
  | Some ms => cut_by_turns h T B n (logs_of p) ms (turns_above x) (turns_below x) b
  | None => b
  end.

Definition pooled_box (left_over : option leftover) : option box :=
  match box_of_left left_over with
  | Some b => Some b
  | None => match given_table with Some t => pool_box h T B (terms (settings_of p)) (logs_of p) t | None => None end
  end.

Definition given_box (left_over : option leftover) : option box :=
  option_map (fun b => cut_by_others (met_box (stated_ends (statement_unit c) B) b (statements c))) (pooled_box left_over).

Definition by_prices (left_over : option leftover) (b : box) (r : nat) (num : Z) : bool :=
  match left_over, against r (prices_of x) with
  | Some left_over, Some prices => (T =? B)%Z && assignment_at_least h c T left_over b prices r num (margin_unit c)
  | _, _ => false
  end.

Definition as_one (r : nat) (num : Z) : bool :=
  match measures_of p, against r (joint_of x) with
  | Some ms, Some hint => joint_at_least h c ms (predicted c) r hint num (margin_unit c)
  | _, _ => false
  end.

Definition by_sums (own : option (list bool)) (b : box) (r : nat) (num : Z) : bool :=
  bound_at_least h B (lead_by_sums h c own B b r) num (margin_unit c).

Definition margin_proved (left_over : option leftover) (own : option (list bool)) (b : box) (r : nat) : bool :=
  let num := nth r (margins c) 0%Z in
  Nat.eqb r (predicted c) ||
  ((0 <? num)%Z &&
     (difference_at_least h B b (predicted c) r num (margin_unit c) || by_sums own b r num || by_prices left_over b r num ||
      as_one r num)).

(** The rivals against which the margin is not proved; None if there is no box. *)
Definition unproved : option (list nat) :=
  if Nat.ltb 0 (patches c) then
    let left_over := given_left in
    match given_box left_over with
    | Some b =>
        let own := needed_marks h c in Some (filter (fun r => negb (margin_proved left_over own b r)) (seq 0 (classes h)))
    | None => None
    end
  else None.

Definition check : bool := match unproved with Some nil => true | _ => false end.
End Run.

Open Scope R_scope.

(** * What it means *)

(** What is prepared of a head, with some rows. *)
Definition prepared_with (h : head) (s : settings) (rows : list (list Z)) : prepared :=
  let p := prepare h s in
  Prepared (head_of p) (settings_of p) (logs_of p) (measures_of p) (packed_of p) (domain_of p) rows.

Lemma learned : forall h s cs, exists rows, rows_known h (packed_of (prepare h s)) rows /\
  fold_left learn cs (prepare h s) = prepared_with h s rows.
Proof.
  intros h s cs. change (fold_left learn cs (prepare h s)) with (fold_left learn cs (prepared_with h s (no_rows h))).
  assert (K := no_rows_known h (packed_of (prepare h s))). revert K. generalize (no_rows h).
  induction cs as [|c cs IH]; intros rows K; [exists rows; split; [exact K|reflexivity]|].
  exact (IH _ (more_rows_known h _ (is_stated c) rows K)).
Qed.

Section Sound.
Variables (h : head) (s : settings) (c : certificate) (x : hints) (z : latents) (rows : list (list Z)).
Let p := prepared_with h s rows.
Hypothesis known : rows_known h (packed_of (prepare h s)) rows.
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).
Hypothesis compliant : complies h c z.

Lemma range_unit_positive : (0 < T)%Z. Proof. reflexivity. Qed.
Lemma box_unit_positive : (0 < B)%Z. Proof. reflexivity. Qed.

Lemma given_table_ok : forall t, given_table p c x = Some t -> table_ok h T (patches c) t z.
Proof.
  intros t E. unfold given_table in E.
  cbn [p prepared_with prepare head_of settings_of measures_of domain_of packed_of rows_of] in E. fold T in E.
  assert (metric : forall ms own, measures h = Some ms -> domain_row h T (terms s) = Some own ->
            metric_table h c T ms (packed_prototypes h ms) rows own (curve_of x) (claims_of x)
              (weights_of x) = Some t -> table_ok h T (patches c) t z).
  { intros ms own M O K. assert (N := known). cbn [prepare packed_of] in N. rewrite M in N.
    apply (metric_table_ok h c T ms rows own (curve_of x) (claims_of x) (weights_of x) t z);
      auto using range_unit_positive.
    intros v V. eapply domain_row_ok; eauto using range_unit_positive. }
  destruct (domain_row h T (terms s)) as [own|] eqn:O; [|destruct (head_geometry h), (measures h); discriminate].
  destruct (head_geometry h);
    try solve [destruct (measures h) as [ms|] eqn:M; [|discriminate]; exact (metric ms own eq_refl eq_refl E)].
  apply (simplex_table_ok h c z T own t range_unit_positive compliant); [|destruct (measures h); exact E].
  intros v V. exact (domain_row_ok h T (terms s) range_unit_positive v V own O).
Qed.

Lemma cut_by_others_ok : forall b, (0 < patches c)%nat -> box_ok h B (patches c) b z ->
  box_ok h B (patches c) (cut_by_others p x b) z.
Proof.
  intros b Hn H. unfold cut_by_others. cbn [p prepared_with prepare head_of settings_of logs_of measures_of]. fold T B.
  assert (L := logarithms_for_right B (terms s)).
  assert (K : box_ok h B (patches c)
    (cut_by_links h T B (terms s) (logarithms_for B (terms s)) (links_above x) (links_below x) b) z)
    by (apply cut_by_links_ok; auto using range_unit_positive, box_unit_positive).
  destruct (measures h) as [ms|] eqn:M; [|exact K].
  apply cut_by_turns_ok; auto using range_unit_positive, box_unit_positive. apply compliant.
Qed.

Lemma box_of_left_ok : forall b, (0 < patches c)%nat -> box_of_left p (given_left p c) = Some b ->
  box_ok h B (patches c) b z.
Proof.
  intros b Hn E. unfold box_of_left, given_left in E.
  cbn [p prepared_with prepare head_of settings_of logs_of domain_of] in E. fold T B in E.
  destruct (is_softmax h) eqn:S; [|discriminate].
  destruct (domain_row h T (terms s)) as [own|] eqn:O; [|discriminate].
  apply (simplex_box_ok h c z T B own (similar_ends h T B (terms s) (logarithms_for B (terms s))));
    auto using range_unit_positive.
  - apply similar_ends_ok; auto using range_unit_positive, box_unit_positive, logarithms_for_right.
  - intros v V. exact (domain_row_ok h T (terms s) range_unit_positive v V own O).
Qed.

Lemma given_box_ok : forall b, (0 < patches c)%nat -> given_box p c x (given_left p c) = Some b ->
  box_ok h B (patches c) b z.
Proof.
  intros b Hn E. unfold given_box in E. destruct (pooled_box _ _ _ _) as [b'|] eqn:Eb; [|discriminate].
  injection E as <-. apply cut_by_others_ok; [exact Hn|].
  apply met_box_ok; [exact box_unit_positive|exact compliant|]. unfold pooled_box in Eb.
  destruct (box_of_left p (given_left p c)) as [b|] eqn:El.
  { injection Eb as <-. apply box_of_left_ok; assumption. }
  destruct (given_table p c x) as [t|] eqn:Et; [|discriminate].
  cbn [p prepared_with prepare head_of settings_of logs_of] in Eb. fold T B in Eb.
  apply (pool_box_ok h T B (terms s) (logarithms_for B (terms s))) with (t := t); auto using range_unit_positive, box_unit_positive.
  - apply logarithms_for_right.
  - apply given_table_ok. exact Et.
Qed.

Lemma margin_proved_ok : forall b r, box_ok h B (patches c) b z -> (r < classes h)%nat -> r <> predicted c ->
  margin_proved p c x (given_left p c) (needed_marks h c) b r = true ->
  logit h (patches c) z (predicted c) - logit h (patches c) z r >= margin c r /\ margin c r > 0.
Proof.
  intros b r Hb Hc N E. assert (Hr := N). unfold margin_proved in E. cbn [p prepared_with prepare head_of settings_of] in E. fold B in E.
  apply Nat.eqb_neq in Hr. rewrite Hr in E. cbn [orb] in E. apply andb_prop in E as [E1 E2]. apply Z.ltb_lt in E1.
  split.
  - apply orb_prop in E2 as [E2|E2]; [apply orb_prop in E2 as [E2|E2]; [apply orb_prop in E2 as [E2|E2]|]|].
    + apply (difference_at_least_ok h B b); [exact box_unit_positive|exact Hb|exact E2].
    + unfold by_sums in E2. cbn [p prepared_with prepare head_of settings_of] in E2. fold B in E2.
      revert E2. apply bound_at_least_ok; [exact box_unit_positive|]. intros least L.
      assert (K := lead_by_sums_ok h c B b z r box_unit_positive Hb compliant Hc N). rewrite L in K. exact K.
    + unfold by_prices in E2. cbn [p prepared_with prepare head_of settings_of] in E2. fold T B in E2.
      unfold given_left in E2. cbn [p prepared_with prepare head_of settings_of] in E2. fold T in E2.
      destruct (is_softmax h); [|discriminate].
      destruct (against r (prices_of x)) as [prices|]; [|discriminate]. apply andb_prop in E2 as [U E2].
      apply Z.eqb_eq in U. rewrite U in E2.
      eapply assignment_at_least_ok; [exact box_unit_positive|exact compliant|exact Hb|exact E2].
    + unfold as_one in E2. cbn [p prepared_with prepare head_of measures_of] in E2.
      destruct (measures h) as [ms|] eqn:M; [|discriminate].
      destruct (against r (joint_of x)) as [hint|]; [|discriminate].
      exact (joint_at_least_ok h c ms z _ _ hint _ _ M compliant E2).
  - unfold margin, q. apply (IZR_lt 0) in E1. apply Rdiv_lt_0_compat; [exact E1|]. apply (IZR_lt 0). reflexivity.
Qed.
End Sound.

(** The theorem: where no rival is left, the class is entailed, whatever the hints, and whatever certificates [cs] came
    before. *)
Theorem unproved_sound : forall h s cs c x, unproved (fold_left learn cs (prepare h s)) c x = Some nil -> entails h c.
Proof.
  intros h s cs c x E z H r Hr N. destruct (learned h s cs) as (rows & K & L). rewrite L in E. unfold unproved in E.
  destruct (Nat.ltb 0 (patches c)) eqn:Hn; [|discriminate]. apply Nat.ltb_lt in Hn. cbv zeta in E.
  destruct (given_box _ _ _) as [b|] eqn:Eb; [|discriminate].
  apply (margin_proved_ok h s c x z rows H b r); [eapply given_box_ok; eassumption|exact Hr|exact N|].
  destruct (margin_proved _ _ _ _ _ _ r) eqn:M; [reflexivity|]. exfalso.
  assert (I : In r nil); [|destruct I]. injection E as <-. apply filter_In. split; [apply in_seq; cbn; lia|].
  rewrite M. reflexivity.
Qed.

Theorem check_learned_sound : forall h s cs c x, check (fold_left learn cs (prepare h s)) c x = true -> entails h c.
Proof.
  intros h s cs c x E. unfold check in E. destruct (unproved _ _ _) as [[|r rs]|] eqn:U; try discriminate.
  exact (unproved_sound h s cs c x U).
Qed.

Theorem check_sound : forall h s c x, check (prepare h s) c x = true -> entails h c.
Proof. intros h s c x. exact (check_learned_sound h s nil c x). Qed.
