(** The checker of claim 1, entailment, and that it is right.

    Patch by patch the statements, the domain and weights give ranges of all observables: a table. Pooling makes a box of
    activations of it, which statements about activations cut. From the box come the margins, each against one rival. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Log Columns Embedding Products Metric Domain Table SimplexTable
  Leftover Assignment Activations Pooling LinearReadout Readout.
Import ListNotations.

(** * What runs *)

(** Untrusted: any units and any number of terms are sound. Ends of observables are over [range_unit], those of
    activations over [box_unit]; logarithms and exponentials are series of [terms] terms. *)
Record settings := Settings { range_unit : positive; box_unit : positive; terms : nat }.

(** What depends on the head alone, computed once for many certificates. *)
Record prepared := Prepared {
  head_of : head;
  settings_of : settings;
  ln2_of : Z * Z;
  measures_of : option (list measure);
  packed_of : list (Z * list Z);
  domain_of : option row
}.

Definition prepare (h : head) (s : settings) : prepared :=
  let ms := measures h in
  Prepared h s (ln2_ends (Zpos (box_unit s)) (terms s)) ms
    (match ms with Some ms => packed_prototypes h ms | None => nil end) (domain_row h (Zpos (range_unit s))).

(** Untrusted: weights for the patches in their order, and prices against some rivals. *)
Record hints := Hints { weights_of : list (list hint); prices_of : list (nat * list Z) }.

Fixpoint prices_against (r : nat) (l : list (nat * list Z)) : option (list Z) :=
  match l with (k, prices) :: l' => if Nat.eqb k r then Some prices else prices_against r l' | nil => None end.

Section Run.
Variables (p : prepared) (c : certificate) (x : hints).
Let h := head_of p.
Let T := Zpos (range_unit (settings_of p)).
Let B := Zpos (box_unit (settings_of p)).

Definition products_of (ms : list measure) : list (list Z) :=
  let stated := stated_prototypes c in products h ms (packed_of p) (fun j => existsb (Nat.eqb j) stated).

Definition given_table : option table :=
  match head_geometry h, measures_of p, domain_of p with
  | Softmax, _, _ => simplex_table T h c
  | _, Some ms, Some own => metric_table h c T ms (products_of ms) own (weights_of x)
  | _, _, _ => None
  end.

Definition given_box : option box :=
  match given_table with
  | Some t => option_map (fun b => met_box B (statement_unit c) b (statements c))
                (pool_box h T B (terms (settings_of p)) (ln2_of p) t)
  | None => None
  end.

Definition by_prices (b : box) (r : nat) (num : Z) : bool :=
  match prices_against r (prices_of x) with
  | Some prices => (T =? B)%Z && assignment_at_least h c B (left_of B c (count h)) b prices r num (margin_unit c)
  | None => false
  end.

Definition margin_proved (b : box) (r : nat) : bool :=
  let num := nth r (margins c) 0%Z in
  Nat.eqb r (predicted c) ||
  ((0 <? num)%Z && (difference_at_least h B b (predicted c) r num (margin_unit c) || by_prices b r num)).

Definition check : bool :=
  Nat.ltb 0 (patches c) &&
  match given_box with Some b => forallb (margin_proved b) (seq 0 (classes h)) | None => false end.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (s : settings) (c : certificate) (x : hints) (z : latents).
Let p := prepare h s.
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).
Hypothesis compliant : complies h c z.

Lemma range_unit_positive : (0 < T)%Z. Proof. reflexivity. Qed.
Lemma box_unit_positive : (0 < B)%Z. Proof. reflexivity. Qed.

Lemma given_table_ok : forall t, given_table p c x = Some t -> table_ok h T (patches c) t z.
Proof.
  intros t E. unfold given_table in E. cbn [p prepare head_of settings_of measures_of domain_of] in E. fold T in E.
  assert (metric : forall ms own, measures h = Some ms -> domain_row h T = Some own ->
            metric_table h c T ms (products_of p c ms) own (weights_of x) = Some t -> table_ok h T (patches c) t z).
  { intros ms own M O K. unfold products_of in K. cbn [p prepare head_of packed_of] in K. rewrite M in K.
    eapply metric_table_ok; eauto using range_unit_positive, products_of_measured_head.
    intros v V. eapply domain_row_ok; eauto using range_unit_positive. }
  destruct (head_geometry h); [| | | |eapply simplex_table_ok; eauto using range_unit_positive];
    (destruct (measures h) as [ms|] eqn:M; [|discriminate]; destruct (domain_row h T) as [own|] eqn:O; [|discriminate];
     eapply metric; eauto).
Qed.

Lemma given_box_ok : forall b, (0 < patches c)%nat -> given_box p c x = Some b -> box_ok h B (patches c) b z.
Proof.
  intros b Hn E. unfold given_box in E. cbn [p prepare head_of settings_of ln2_of] in E. fold T B in E.
  destruct (given_table p c x) as [t|] eqn:Et; [|discriminate]. fold p in Et.
  destruct (pool_box _ _ _ _ _ _) as [b'|] eqn:Eb; [|discriminate]. injection E as <-.
  apply met_box_ok; [exact box_unit_positive|exact compliant|].
  apply (pool_box_ok h T B (terms s) (ln2_ends B (terms s))) with (t := t); auto using range_unit_positive, box_unit_positive.
  - apply ln2_ends_ok. exact box_unit_positive.
  - apply given_table_ok. exact Et.
Qed.

Lemma margin_proved_ok : forall b r, box_ok h B (patches c) b z -> r <> predicted c ->
  margin_proved p c x b r = true ->
  logit h (patches c) z (predicted c) - logit h (patches c) z r >= margin c r /\ margin c r > 0.
Proof.
  intros b r Hb Hr E. unfold margin_proved in E. cbn [p prepare head_of settings_of] in E. fold B in E.
  apply Nat.eqb_neq in Hr. rewrite Hr in E. cbn [orb] in E. apply andb_prop in E as [E1 E2]. apply Z.ltb_lt in E1.
  split.
  - apply orb_prop in E2 as [E2|E2].
    + apply (difference_at_least_ok h B b); [exact box_unit_positive|exact Hb|exact E2].
    + unfold by_prices in E2. cbn [p prepare head_of settings_of] in E2. fold T B in E2.
      destruct (prices_against r (prices_of x)) as [prices|]; [|discriminate]. apply andb_prop in E2 as [_ E2].
      eapply assignment_at_least_ok; [exact box_unit_positive|exact compliant|exact Hb|exact E2].
  - unfold margin, q. apply (IZR_lt 0) in E1. apply Rdiv_lt_0_compat; [exact E1|]. apply (IZR_lt 0). reflexivity.
Qed.
End Sound.

(** The theorem: what [check] accepts is entailed, whatever the hints. *)
Theorem check_sound : forall h s c x, check (prepare h s) c x = true -> entails h c.
Proof.
  intros h s c x E z H r Hr N. unfold check in E. apply andb_prop in E as [Hn E]. apply Nat.ltb_lt in Hn.
  destruct (given_box _ _ _) as [b|] eqn:Eb; [|discriminate].
  apply (margin_proved_ok h s c x z H b r); [eapply given_box_ok; eassumption|exact N|].
  rewrite forallb_forall in E. apply E. apply in_seq. cbn. lia.
Qed.
