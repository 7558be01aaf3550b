(** Ends, met with one another, and what a statement or the geometry gives without any further argument. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid.
Import ListNotations.
Open Scope R_scope.

(** * Intersections *)

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

(** * Statements about the observable itself *)

(** The ends that a statement gives by itself, over the unit [T]. *)
Definition stated_ends (u : positive) (T : Z) (lo hi : option Z) : ends :=
  (option_map (fun a => floor_div (T * a) (Zpos u)) lo, option_map (fun b => ceil_div (T * b) (Zpos u)) hi).

Lemma stated_ends_ok : forall u T lo hi x, (0 < T)%Z -> between u lo hi x -> within T (stated_ends u T lo hi) x.
Proof.
  intros u T lo hi x HT [H1 H2]. apply IZR_pos in HT. assert (P := unit_positive u).
  split; [destruct lo as [a|]; [|exact I]|destruct hi as [b|]; [|exact I]];
    cbn [stated_ends fst snd option_map above below].
  - apply floor_div_below; [reflexivity|]. rewrite mult_IZR.
    apply (Rmult_le_compat_l (IZR (Zpos u))) in H1; [|lra]. rewrite q_times_unit in H1.
    apply (Rmult_le_compat_l (IZR T)) in H1; lra.
  - apply ceil_div_above; [reflexivity|]. rewrite mult_IZR.
    apply (Rmult_le_compat_l (IZR (Zpos u))) in H2; [|lra]. rewrite q_times_unit in H2.
    apply (Rmult_le_compat_l (IZR T)) in H2; lra.
Qed.

Fixpoint meet_statements (u : positive) (T : Z) (here : list (nat * (option Z * option Z))) (r : row) : row :=
  match here with
  | s :: here' => meet_at (fst s) (stated_ends u T (fst (snd s)) (snd (snd s))) (meet_statements u T here' r)
  | nil => r
  end.

Lemma meet_statements_length : forall u T here r, length (meet_statements u T here r) = length r.
Proof. induction here; intros; [reflexivity|]. cbn. rewrite meet_at_length. auto. Qed.

Lemma meet_statements_ok : forall u T here r x,
  (forall s, In s here -> within T (stated_ends u T (fst (snd s)) (snd (snd s))) (x (fst s))) ->
  (forall i, within T (nth i r anything) (x i)) ->
  forall i, within T (nth i (meet_statements u T here r) anything) (x i).
Proof.
  induction here as [|s here IH]; intros r x Hs H; [exact H|]. cbn [meet_statements]. apply meet_at_nth.
  - apply Hs. left. reflexivity.
  - apply IH; [|exact H]. intros. apply Hs. right. assumption.
Qed.

(** The same in one walk where the prototypes rise; [k] is that of the first entry. *)
Fixpoint rise (k : nat) (here : list (nat * (option Z * option Z))) : bool :=
  match here with s :: here' => Nat.leb k (fst s) && rise (S (fst s)) here' | nil => true end.

Fixpoint meet_rising (u : positive) (T : Z) (k : nat) (here : list (nat * (option Z * option Z))) (r : row) : row :=
  match here, r with
  | s :: here', e :: r' =>
      if Nat.eqb (fst s) k then meet (stated_ends u T (fst (snd s)) (snd (snd s))) e :: meet_rising u T (S k) here' r'
      else e :: meet_rising u T (S k) here r'
  | _, _ => r
  end.

Definition meet_stated (u : positive) (T : Z) (here : list (nat * (option Z * option Z))) (r : row) : row :=
  if rise 0 here then meet_rising u T 0 here r else meet_statements u T here r.

Lemma meet_rising_length : forall u T r k here, length (meet_rising u T k here r) = length r.
Proof.
  intros u T. induction r as [|e r IH]; intros k [|s here]; try reflexivity. cbn [meet_rising].
  destruct (Nat.eqb (fst s) k); cbn [length]; rewrite IH; reflexivity.
Qed.

Lemma meet_rising_ok : forall u T x r k here,
  (forall s, In s here -> within T (stated_ends u T (fst (snd s)) (snd (snd s))) (x (fst s))) ->
  (forall i, within T (nth i r anything) (x (k + i)%nat)) ->
  forall i, within T (nth i (meet_rising u T k here r) anything) (x (k + i)%nat).
Proof.
  intros u T x. induction r as [|e r IH]; intros k here Hs H i; [destruct here; exact (H i)|].
  destruct here as [|s here]; [exact (H i)|]. assert (H0 := H 0%nat). rewrite Nat.add_0_r in H0. cbn [nth] in H0.
  assert (H' : forall i, within T (nth i r anything) (x (S k + i)%nat)).
  { intros n. replace (S k + n)%nat with (k + S n)%nat by lia. exact (H (S n)). }
  cbn [meet_rising]. destruct (Nat.eqb (fst s) k) eqn:E.
  - apply Nat.eqb_eq in E. destruct i as [|i]; cbn [nth].
    + rewrite Nat.add_0_r. apply meet_ok; [|exact H0]. rewrite <- E. apply Hs. left. reflexivity.
    + replace (k + S i)%nat with (S k + i)%nat by lia. apply IH; [|exact H']. intros t Ht. apply Hs. right. exact Ht.
  - destruct i as [|i]; cbn [nth]; [rewrite Nat.add_0_r; exact H0|].
    replace (k + S i)%nat with (S k + i)%nat by lia. apply IH; [exact Hs|exact H'].
Qed.

Lemma meet_stated_length : forall u T here r, length (meet_stated u T here r) = length r.
Proof.
  intros u T here r. unfold meet_stated.
  destruct (rise 0 here); [apply meet_rising_length|apply meet_statements_length].
Qed.

Lemma meet_stated_ok : forall u T here r x,
  (forall s, In s here -> within T (stated_ends u T (fst (snd s)) (snd (snd s))) (x (fst s))) ->
  (forall i, within T (nth i r anything) (x i)) ->
  forall i, within T (nth i (meet_stated u T here r) anything) (x i).
Proof.
  intros u T here r x Hs H. unfold meet_stated.
  destruct (rise 0 here); [exact (meet_rising_ok u T x r 0 here Hs H)|exact (meet_statements_ok u T here r x Hs H)].
Qed.

(** * Squared distances are not below 0 *)

Definition raise_to_zero (r : row) : row := map (fun e => (raise (Some 0%Z) (fst e), snd e)) r.

Theorem raise_to_zero_ok : forall h T r v, (0 <= T)%Z -> head_geometry h = Euclidean -> row_ok h T r v ->
  row_ok h T (raise_to_zero r) v.
Proof.
  intros h T r v HT HG [L H]. split; [unfold raise_to_zero; rewrite map_length; exact L|]. intros j Hj.
  set (f := fun e : ends => (raise (Some 0%Z) (fst e), snd e)). change (raise_to_zero r) with (map f r).
  rewrite (nth_indep (map f r) anything (f anything)) by (rewrite map_length, L; exact Hj).
  rewrite map_nth. destruct (H j Hj) as [H1 H2]. split; [|exact H2]. apply raise_ok; [|exact H1].
  apply Rmult_le_pos; [apply IZR_nonneg; exact HT|]. unfold observable. rewrite HG. apply rsum_nonneg. intros.
  apply Rle_0_sqr.
Qed.
