(** The one rule: weighted facts about a vector bound a quadratic function of it from below.

    Everything that is known of a patch is a fact about one vector y, a sign of a function

        value a v c = F (a |y|^2 - 2 <y, v>) + c

    with an integer a, an integer c and a vector v; the factor F > 0 makes integers of the c. A stated squared distance
    is known from below and from above, each with its own c; so is a stated inner product (a = 0); a ball or a box that
    holds y gives one side only. What is asked is such a function too, the target. For any integer weights the sum of the
    weighted target and the weighted facts is again such a function, with A, Q and C; if each weighted fact is <= 0, then
    the sum is not above the weighted target. Its least value is C - F |Q|^2 / A if A > 0, and C if A = 0 and Q = 0. So
    any weights are sound, and they come from hints.

    |Q|^2 is computed from the products of the vectors with one another, never from Q itself: the vectors do not occur
    in the functions that run. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums.
Import ListNotations.
Open Scope R_scope.

Section Rule.
Variable n : nat.
Variable F : Z.
Variable y : nat -> R.
Hypothesis F_positive : (0 < F)%Z.

Definition value (a : Z) (v : nat -> R) (c : Z) : R :=
  IZR F * (IZR a * inner n y y - 2 * inner n y v) + IZR c.

(** [value curve v c >= 0] for the low constant c, [value curve v c <= 0] for the high one; a side that is missing says
    nothing. *)
Record fact := Fact { curve : Z; low : option Z; high : option Z }.

Definition fact_ok (f : fact) (v : nat -> R) : Prop :=
  match low f with Some c => 0 <= value (curve f) v c | None => True end /\
  match high f with Some c => value (curve f) v c <= 0 | None => True end.

(** * The sum of the weighted facts *)

(** Its A and C on top of those given. A fact with a positive weight is used from above, one with a negative weight from
    below, so that it adds nothing above 0. Weights that are missing are 0. *)
Fixpoint weigh (ws : list Z) (facts : list fact) (A C : Z) : option (Z * Z) :=
  match ws, facts with
  | w :: ws', f :: facts' =>
      if (w =? 0)%Z then weigh ws' facts' A C else
      match (if (0 <? w)%Z then high f else low f) with
      | Some c => weigh ws' facts' (A + w * curve f)%Z (C + w * c)%Z
      | None => None
      end
  | _, _ => Some (A, C)
  end.

(** Its vector. *)
Fixpoint mix (ws : list Z) (vs : list (nat -> R)) : nat -> R :=
  match ws, vs with
  | w :: ws', v :: vs' => fun d => IZR w * v d + mix ws' vs' d
  | _, _ => fun _ => 0
  end.

Lemma inner_mix_cons : forall u w ws v vs,
  inner n u (mix (w :: ws) (v :: vs)) = IZR w * inner n u v + inner n u (mix ws vs).
Proof.
  intros. cbn [mix]. rewrite (inner_comm n u), inner_plus_l, inner_scal_l, (inner_comm n v), (inner_comm n (mix ws vs)).
  reflexivity.
Qed.

Lemma inner_mix_nil : forall u vs, inner n u (mix nil vs) = 0.
Proof. intros. rewrite inner_comm. apply inner_zero_l. Qed.

(** What a weighted fact adds is at most 0. *)
Lemma weighted_fact_nonpositive : forall w f v c, fact_ok f v ->
  (if (0 <? w)%Z then high f else low f) = Some c -> IZR w * value (curve f) v c <= 0.
Proof.
  intros w f v c [L H] E. destruct (0 <? w)%Z eqn:W.
  - rewrite E in H. apply Z.ltb_lt, (IZR_lt 0) in W. nra.
  - rewrite E in L. apply Z.ltb_ge, IZR_le in W. nra.
Qed.

(** The weighted sum is not above what it was before the facts were added; [x] stands for <y, v> of that. *)
Lemma weigh_below : forall ws facts vs A C A' C' x, Forall2 fact_ok facts vs ->
  weigh ws facts A C = Some (A', C') ->
  IZR F * (IZR A' * inner n y y - 2 * (x + inner n y (mix ws vs))) + IZR C' <=
  IZR F * (IZR A * inner n y y - 2 * x) + IZR C.
Proof.
  induction ws as [|w ws IH]; intros facts vs A C A' C' x H E.
  { injection E as <- <-. rewrite inner_mix_nil. right. ring. }
  destruct H as [|f v facts vs H1 H2].
  { injection E as <- <-. replace (mix (w :: ws) nil) with (mix nil nil) by reflexivity. rewrite inner_mix_nil.
    right. ring. }
  rewrite inner_mix_cons. cbn [weigh] in E. destruct (w =? 0)%Z eqn:W.
  - apply Z.eqb_eq in W. subst w. apply (IH _ vs _ _ _ _ x H2) in E.
    replace (x + (0 * inner n y v + inner n y (mix ws vs))) with (x + inner n y (mix ws vs)) by ring. exact E.
  - destruct (if (0 <? w)%Z then high f else low f) as [c|] eqn:S; [|discriminate].
    apply (weighted_fact_nonpositive _ _ v) in S; [|exact H1].
    apply (IH _ vs _ _ _ _ (x + IZR w * inner n y v) H2) in E. rewrite !plus_IZR, !mult_IZR in E.
    rewrite <- Rplus_assoc. eapply Rle_trans; [exact E|]. unfold value in S. lra.
Qed.

(** * The square of its vector, from products *)

(** The products of each vector with itself and with those after it: the upper half of the Gram matrix. *)
Definition products_ok (v : nat -> R) (vs : list (nat -> R)) (row : list Z) : Prop :=
  Forall2 (fun u x => IZR x = inner n v u) vs row.

Fixpoint gram_ok (vs : list (nat -> R)) (rows : list (list Z)) : Prop :=
  match vs, rows with
  | v :: vs', row :: rows' => products_ok v vs row /\ gram_ok vs' rows'
  | nil, nil => True
  | _, _ => False
  end.

Lemma gram_rows : forall vs rows, gram_ok vs rows -> Forall (fun row => row <> nil) rows.
Proof.
  induction vs as [|v vs IH]; intros [|row rows] H; try contradiction; constructor.
  - destruct H as [H _]. inversion H. congruence.
  - apply IH. apply H.
Qed.

Fixpoint square_of (ws : list Z) (rows : list (list Z)) : Z :=
  match ws, rows with
  | w :: ws', (own :: others) :: rows' =>
      if (w =? 0)%Z then square_of ws' rows' else
      (w * (w * own + 2 * zdot ws' others) + square_of ws' rows')%Z
  | _, _ => 0%Z
  end.

Lemma products_mix : forall v vs row ws, products_ok v vs row -> IZR (zdot ws row) = inner n v (mix ws vs).
Proof.
  intros v vs row ws H. revert ws. induction H as [|u x vs row E H IH]; intros [|w ws].
  - symmetry. apply inner_mix_nil.
  - cbn [mix]. rewrite zdot_nil_r, inner_comm, inner_zero_l. reflexivity.
  - symmetry. apply inner_mix_nil.
  - rewrite inner_mix_cons. cbn [zdot]. rewrite plus_IZR, mult_IZR, E, IH. reflexivity.
Qed.

Lemma mix_zero_weight : forall ws v vs u, inner n u (mix (0%Z :: ws) (v :: vs)) = inner n u (mix ws vs).
Proof. intros. rewrite inner_mix_cons. ring. Qed.

Lemma square_of_mix : forall vs rows ws, gram_ok vs rows ->
  IZR (square_of ws rows) = inner n (mix ws vs) (mix ws vs).
Proof.
  induction vs as [|v vs IH]; intros [|row rows] ws H; try contradiction.
  { destruct ws; cbn [mix square_of]; rewrite inner_zero_l; reflexivity. }
  destruct ws as [|w ws]; [rewrite inner_mix_nil; reflexivity|]. destruct H as [H1 H2].
  inversion H1 as [|? own ? others E O]; subst. specialize (IH rows ws H2). cbn [square_of].
  destruct (w =? 0)%Z eqn:W.
  - apply Z.eqb_eq in W. subst w.
    rewrite mix_zero_weight, inner_comm, mix_zero_weight. exact IH.
  - rewrite inner_mix_cons, (inner_comm n (mix (w :: ws) _) v), (inner_comm n (mix (w :: ws) _) (mix ws vs)).
    rewrite !inner_mix_cons, (inner_comm n (mix ws vs) v).
    rewrite plus_IZR, mult_IZR, plus_IZR, !mult_IZR, E, (products_mix v vs others ws O), IH. ring.
Qed.

(** * The least value *)

(** A number num / den that is not above F (A |y|^2 - 2 <y, Q>) + C, whatever y is, where |Q|^2 is given. *)
Definition least_value (A C QQ : Z) : option (Z * Z) :=
  if (0 <? A)%Z then Some (A * C - F * QQ, A)%Z
  else if ((A =? 0) && (QQ =? 0))%Z then Some (C, 1%Z) else None.

Lemma least_value_bowl : forall A C QQ Q, inner n Q Q = QQ -> 0 < A ->
  A * C - IZR F * QQ <= A * (IZR F * (A * inner n y y - 2 * inner n y Q) + C).
Proof.
  intros A C QQ Q E HA. apply (IZR_lt 0) in F_positive as HF.
  assert (H := inner_square_nonneg n (fun d => A * y d + (- 1) * Q d)).
  rewrite inner_square_of_sum, E in H. apply (Rmult_le_compat_l (IZR F)) in H; [|lra]. lra.
Qed.

Lemma inner_with_null_vector : forall Q, inner n Q Q = 0 -> inner n y Q = 0.
Proof.
  intros Q E. assert (H := cauchy_schwarz n y Q). rewrite E, Rmult_0_r in H.
  apply Rsqr_0_uniq. apply Rle_antisym; [exact H|apply Rle_0_sqr].
Qed.

Lemma least_value_ok : forall A C QQ Q num den, inner n Q Q = IZR QQ -> least_value A C QQ = Some (num, den) ->
  (0 < den)%Z /\ IZR num <= IZR den * (IZR F * (IZR A * inner n y y - 2 * inner n y Q) + IZR C).
Proof.
  intros A C QQ Q num den E H. unfold least_value in H. destruct (0 <? A)%Z eqn:HA.
  - injection H as <- <-. apply Z.ltb_lt in HA. split; [exact HA|]. apply (IZR_lt 0) in HA.
    rewrite minus_IZR, !mult_IZR. apply least_value_bowl; assumption.
  - destruct (_ && _) eqn:Z; [|discriminate]. injection H as <- <-. apply andb_prop in Z as [Z1 Z2].
    apply Z.eqb_eq in Z1, Z2. subst A QQ. split; [reflexivity|]. rewrite (inner_with_null_vector Q E). right. ring.
Qed.

(** * The rule *)

(** A number num / den that is not above [w] times the target's value. [column] holds the target's products with the
    facts' vectors, [square] that with itself. *)
Definition bound (facts : list fact) (rows : list (list Z)) (a c square : Z) (column : list Z) (w : Z) (ws : list Z) :
  option (Z * Z) :=
  match weigh ws facts (w * a) (w * c) with
  | Some (A, C) => least_value A C (square_of (w :: ws) ((square :: column) :: rows))
  | None => None
  end.

Theorem bound_ok : forall facts vs rows a v c square column w ws num den,
  Forall2 fact_ok facts vs -> gram_ok vs rows -> IZR square = inner n v v -> products_ok v vs column ->
  bound facts rows a c square column w ws = Some (num, den) ->
  (0 < den)%Z /\ IZR num <= IZR den * (IZR w * value a v c).
Proof.
  intros facts vs rows a v c square column w ws num den HF HG HS HC H. unfold bound in H.
  destruct (weigh ws facts (w * a) (w * c)) as [[A C]|] eqn:E; [|discriminate].
  apply (weigh_below _ _ vs _ _ _ _ (IZR w * inner n y v) HF) in E.
  assert (G : gram_ok (v :: vs) ((square :: column) :: rows)) by (split; [constructor; assumption|assumption]).
  assert (S := square_of_mix _ _ (w :: ws) G). symmetry in S.
  destruct (least_value_ok _ _ _ _ _ _ S H) as [D B]. split; [exact D|].
  eapply Rle_trans; [exact B|]. apply Rmult_le_compat_l; [apply IZR_le; lia|].
  rewrite inner_mix_cons. eapply Rle_trans; [exact E|]. unfold value. rewrite !mult_IZR. right. ring.
Qed.

(** The same where the square of the sum of the weighted facts is given. *)
Definition bound_of (facts : list fact) (sum a c square : Z) (column : list Z) (w : Z) (ws : list Z) : option (Z * Z) :=
  match weigh ws facts (w * a) (w * c) with
  | Some (A, C) => least_value A C (w * (w * square + 2 * zdot ws column) + sum)
  | None => None
  end.

Lemma bound_of_is : forall facts rows a c square column w ws,
  bound_of facts (square_of ws rows) a c square column w ws = bound facts rows a c square column w ws.
Proof.
  intros. unfold bound_of, bound. cbn [square_of]. destruct (w =? 0)%Z eqn:W; [|reflexivity]. apply Z.eqb_eq in W.
  subst w. reflexivity.
Qed.
End Rule.
