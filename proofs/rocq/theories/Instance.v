(** The instance: an image's latents lie in the head's domain and satisfy every statement.

    The domain is checked in exact numbers. A statement is checked on enclosures of the observables, and on a box of the
    activations computed from them; what these do not decide is refused. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes Vectors SumStatements.
Import ListNotations.

(** * What runs *)

Section Domain.
Local Open Scope Z_scope.
Variables (h : head) (U : positive).
Let S : Z := Zpos (coord_unit h).

Definition coordinate_inside (k : Z) : bool :=
  match lower h with Some a => a * Zpos U <=? k * S | None => true end &&
  match upper h with Some b => k * S <=? b * Zpos U | None => true end.

Definition length_inside (z : list Z) : bool :=
  match head_geometry h with
  | InnerProduct (Some r) =>
      (0 <=? numerator r) &&
      (zdot z z * (Zpos (denominator r) * Zpos (denominator r)) <=? numerator r * numerator r * (Zpos U * Zpos U))
  | Cosine e | RootedCosine e => negb (numerator e =? 0) || (0 <? zdot z z)
  | _ => true
  end.

Definition latent_inside (z : list Z) : bool :=
  Nat.eqb (length z) (depth h) && forallb coordinate_inside z && length_inside z.
End Domain.

Section Statements.
Local Open Scope Z_scope.
Variables (n : nat) (T : Z) (t : table) (B : Z) (b : box) (u : positive) (sums : option (list nat) -> Z -> bool).

(** Ends over [A] lie in an interval over the unit of statements. *)
Definition low_in (A : Z) (low lo : option Z) : bool :=
  match lo, low with Some lo, Some low => lo * A <=? low * Zpos u | Some _, None => false | None, _ => true end.
Definition high_in (A : Z) (high hi : option Z) : bool :=
  match hi, high with Some hi, Some high => high * Zpos u <=? hi * A | Some _, None => false | None, _ => true end.

Definition ends_in (A : Z) (e : ends) (lo hi : option Z) : bool := low_in A (fst e) lo && high_in A (snd e) hi.
Definition activation_in (e : Z * Z) (lo hi : option Z) : bool := ends_in B (Some (fst e), Some (snd e)) lo hi.

Fixpoint others_in (except : list nat) (lo hi : option Z) (k : nat) (b : box) : bool :=
  match b with
  | nil => true
  | e :: b' => (existsb (Nat.eqb k) except || activation_in e lo hi) && others_in except lo hi (Datatypes.S k) b'
  end.

Definition statement_true (s : statement) : bool :=
  match s with
  | AboutPatch l j lo hi =>
      match nth_error t l with
      | Some r => match nth_error r j with Some e => ends_in T e lo hi | None => false end
      | None => false
      end
  | AboutActivation j lo hi =>
      match nth_error b j with Some e => activation_in e lo hi | None => false end
  | AboutOthers except lo hi => others_in except lo hi 0 b
  | AboutSum rivals hi => sums rivals hi
  end.
End Statements.

(** Statements about patches need no box. *)
Definition about_a_patch (s : statement) : bool := match s with AboutPatch _ _ _ _ => true | _ => false end.

Definition instance_holds (h : head) (c : certificate) (T : Z) (t : table) (B : Z) (b : box) (i : image) : bool :=
  Nat.eqb (length (rows i)) (patches c) && forallb (latent_inside h (image_unit i)) (rows i) &&
  forallb (statement_true T t B b (statement_unit c) (sum_true h c B b)) (statements c).

Open Scope R_scope.

(** * What it means *)

(** ** The domain *)

Lemma q_le : forall a u b w, (a * Zpos w <= b * Zpos u)%Z -> q a u <= q b w.
Proof.
  intros a u b w H. assert (U := Zpos_pos u). assert (W := Zpos_pos w). apply IZR_le in H. rewrite !mult_IZR in H.
  unfold q. apply div_le_iff; [exact U|]. replace (IZR (Zpos u) * (IZR b / IZR (Zpos w))) with
    (IZR b * IZR (Zpos u) / IZR (Zpos w)) by (field; lra). apply le_div_iff; lra.
Qed.

Lemma coordinate_inside_ok : forall h U z d, forallb (coordinate_inside h U) z = true -> length z = depth h ->
  (d < depth h)%nat ->
  (match lower h with Some a => q a (coord_unit h) <= over z U d | None => True end) /\
  (match upper h with Some b => over z U d <= q b (coord_unit h) | None => True end).
Proof.
  intros h U z d H L Hd. rewrite forallb_forall in H. specialize (H (nth d z 0%Z) (@nth_In _ d z 0%Z ltac:(lia))).
  apply andb_prop in H as [Lo Hi]. unfold over.
  split; [destruct (lower h)|destruct (upper h)]; try exact I; apply q_le, Z.leb_le; assumption.
Qed.

Lemma real_zero : forall e, real e = 0 -> numerator e = 0%Z.
Proof.
  intros e H. apply eq_IZR. rewrite <- (q_times_unit (numerator e) (denominator e)). fold (real e). rewrite H. ring.
Qed.

Lemma length_inside_ok : forall h U z, length_inside h U z = true -> length z = depth h ->
  match head_geometry h with
  | InnerProduct (Some r) => norm h (over z U) <= real r
  | Cosine e | RootedCosine e => real e = 0 -> 0 < norm h (over z U)
  | _ => True
  end.
Proof.
  intros h U z H L. assert (P := Zpos_pos U). unfold length_inside in H. rewrite norm_over by lia.
  assert (Positive : forall e, (negb (numerator e =? 0) || (0 <? zdot z z))%Z = true -> real e = 0 ->
    0 < sqrt (IZR (zdot z z)) / IZR (Zpos U)).
  { intros e K Z0. apply real_zero in Z0. rewrite Z0 in K. apply Z.ltb_lt, IZR_pos in K.
    apply div_pos; [apply sqrt_lt_R0; exact K|exact P]. }
  destruct (head_geometry h) as [|e|e|[r|]|]; try exact I; try (apply Positive; exact H).
  apply andb_prop in H as [N H]. apply Z.leb_le, IZR_nonneg in N. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
  assert (Q := Zpos_pos (denominator r)). unfold real, q. set (d := IZR (Zpos (denominator r))) in *.
  set (k := IZR (numerator r)) in *. set (y := IZR (Zpos U)) in *. apply div_le_iff; [exact P|].
  assert (K : 0 <= y * (k / d)) by (apply Rmult_le_pos; [lra|apply div_nonneg; assumption]).
  rewrite <- (sqrt_square _ K). apply sqrt_le_1_alt.
  replace (y * (k / d) * (y * (k / d))) with (k * k * (y * y) / (d * d)) by (field; lra).
  apply le_div_iff; [apply Rmult_lt_0_compat; exact Q|]. lra.
Qed.

Lemma latent_inside_ok : forall h U z, latent_inside h U z = true ->
  length z = depth h /\ patch_in_domain h (over z U).
Proof.
  intros h U z H. apply andb_prop in H as [H K]. apply andb_prop in H as [L C]. apply Nat.eqb_eq in L.
  split; [exact L|]. split; [|apply length_inside_ok; assumption].
  intros d Hd. apply coordinate_inside_ok; assumption.
Qed.

(** ** Statements *)

Lemma ends_in_ok : forall A u e lo hi x, (0 < A)%Z -> ends_in u A e lo hi = true -> within A e x -> between u lo hi x.
Proof.
  intros A u [low high] lo hi x HA H [L K]. apply andb_prop in H as [H1 H2]. apply IZR_pos in HA.
  assert (P := Zpos_pos u). cbn [fst snd] in *. split.
  - destruct lo as [lo|]; [|exact I]. destruct low as [low|]; [|discriminate]. cbn [low_in above] in *.
    apply Z.leb_le, IZR_le in H1. rewrite !mult_IZR in H1.
    apply div_le_iff; [exact P|]. apply (Rmult_le_reg_l (IZR A)); [exact HA|]. nra.
  - destruct hi as [hi|]; [|exact I]. destruct high as [high|]; [|discriminate]. cbn [high_in below] in *.
    apply Z.leb_le, IZR_le in H2. rewrite !mult_IZR in H2.
    apply le_div_iff; [exact P|]. apply (Rmult_le_reg_l (IZR A)); [exact HA|]. nra.
Qed.

Lemma activation_in_ok : forall B u e lo hi x, (0 < B)%Z -> activation_in B u e lo hi = true -> encloses B e x ->
  between u lo hi x.
Proof. intros B u e lo hi x HB H E. exact (ends_in_ok B u _ lo hi x HB H E). Qed.

Lemma others_in_ok : forall B u except lo hi b s k, others_in B u except lo hi s b = true -> (k < length b)%nat ->
  ~ In (s + k)%nat except -> activation_in B u (nth k b (0, 0)%Z) lo hi = true.
Proof.
  intros B u except lo hi. induction b as [|e b IH]; intros s k H Hk N; [inversion Hk|]. cbn [others_in] in H.
  apply andb_prop in H as [H1 H2]. destruct k as [|k].
  - rewrite Nat.add_0_r in N. apply orb_prop in H1 as [H1|H1]; [|exact H1]. apply existsb_exists in H1 as [i [I E]].
    apply Nat.eqb_eq in E as ->. contradiction.
  - apply (IH (Datatypes.S s)); [exact H2|cbn in Hk; lia|]. rewrite Nat.add_succ_l, <- Nat.add_succ_r. exact N.
Qed.

Lemma patch_statement_ok : forall h c T t B b z l j lo hi, (0 < T)%Z -> table_ok h T (patches c) t z ->
  forall sums, statement_true T t B b (statement_unit c) sums (AboutPatch l j lo hi) = true -> holds h c z (AboutPatch l j lo hi).
Proof.
  intros h c T t B b z l j lo hi HT [Lt Ht] sums H. cbn [statement_true holds] in *.
  destruct (nth_error t l) as [r|] eqn:Nl; [|discriminate]. destruct (nth_error r j) as [e|] eqn:Nj; [|discriminate].
  assert (Hl : (l < length t)%nat) by (apply nth_error_Some; rewrite Nl; discriminate).
  assert (Hj : (j < length r)%nat) by (apply nth_error_Some; rewrite Nj; discriminate).
  destruct (Ht l ltac:(lia)) as [Lr Hr]. rewrite (nth_error_nth _ _ (nil : row) Nl : nth l t nil = r) in Lr, Hr.
  specialize (Hr j ltac:(lia)). rewrite (nth_error_nth _ _ anything Nj) in Hr.
  exact (ends_in_ok T _ e lo hi _ HT H Hr).
Qed.

Lemma statement_true_ok : forall h c T t B b z s, (0 < T)%Z -> (0 < B)%Z ->
  table_ok h T (patches c) t z -> about_a_patch s = true \/ box_ok h B (patches c) b z ->
  statement_true T t B b (statement_unit c) (sum_true h c B b) s = true -> holds h c z s.
Proof.
  intros h c T t B b z s HT HB [Lt Ht] [A|[Lb Hb]] H.
  { destruct s as [l j lo hi| | |]; try discriminate. exact (patch_statement_ok h c T t B b z l j lo hi HT (conj Lt Ht) _ H). }
  destruct s as [l j lo hi|j lo hi|except lo hi|rivals hi]; cbn [statement_true holds] in *.
  - exact (patch_statement_ok h c T t B b z l j lo hi HT (conj Lt Ht) (sum_true h c B b) H).
  - destruct (nth_error b j) as [e|] eqn:Nj; [|discriminate].
    assert (Hj : (j < length b)%nat) by (apply nth_error_Some; rewrite Nj; discriminate).
    assert (K := Hb j ltac:(lia)). rewrite (nth_error_nth _ _ (0, 0)%Z Nj) in K.
    exact (activation_in_ok B _ e lo hi _ HB H K).
  - intros k Hk N. apply (activation_in_ok B _ (nth k b (0, 0)%Z) lo hi _ HB); [|apply Hb; exact Hk].
    apply (others_in_ok B _ except lo hi b 0); [exact H|lia|exact N].
  - exact (sum_true_ok h c B b z rivals hi HB (conj Lb Hb) H).
Qed.

Theorem instance_holds_ok : forall h c T t B b i, (0 < T)%Z -> (0 < B)%Z ->
  table_ok h T (length (rows i)) t (latents_of i) ->
  forallb about_a_patch (statements c) = true \/ box_ok h B (length (rows i)) b (latents_of i) ->
  instance_holds h c T t B b i = true -> instance h c i.
Proof.
  intros h c T t B b i HT HB Ht Hb H. apply andb_prop in H as [H HS]. apply andb_prop in H as [HL HD].
  apply Nat.eqb_eq in HL. rewrite HL in Ht, Hb. rewrite forallb_forall in HD, HS. split; [exact HL|]. split.
  - apply Forall_forall. intros row I. apply (latent_inside_ok h (image_unit i)). apply HD. exact I.
  - split.
    + intros l Hl. rewrite latents_over. apply latent_inside_ok, HD, nth_In. rewrite HL. exact Hl.
    + intros s I. apply (statement_true_ok h c T t B b); auto.
      destruct Hb as [A|Hb]; [left|right; exact Hb]. rewrite forallb_forall in A. apply A. exact I.
Qed.
