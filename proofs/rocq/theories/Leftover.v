(** Softmax heads: what the statements of a certificate leave, patch by patch, and the greatest stated masses.

    Patches without a statement are all alike: they leave one. They are only counted. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes Stated Simplex FewEntries.
Import ListNotations.

(** * What runs *)

Record leftover := Leftover {
  stated_patches : list (Z * few);   (* what the patch leaves of one, and what is stated of its masses *)
  free_patches : Z;                  (* how many patches have no statement *)
  tops : list Z                      (* per prototype: no stated mass is greater *)
}.

Section Run.
Local Open Scope Z_scope.
Variable T : Z.

Definition has_statement (c : certificate) (l : nat) : bool :=
  existsb (fun s => match s with AboutPatch k _ _ _ => Nat.eqb k l | _ => false end) (statements c).

Definition left_at (c : certificate) (n l : nat) : Z * few :=
  let es := few_entries T c n l in (few_remainder T es, es).

Definition top_with (rest : Z) (e : entry) (top : Z) : Z := if is_open e then top else Z.max top (most_of rest e).

Definition tops_with (ts : list Z) (patch : Z * few) : list Z :=
  fold_left (fun ts p => change_at (top_with (fst patch) (snd p)) (fst p) ts) (snd patch) ts.

Definition left_of (c : certificate) (n : nat) : leftover :=
  let indices := seq 0 (patches c) in
  let stated := map (left_at c n) (filter (has_statement c) indices) in
  Leftover stated
    (Z.of_nat (length (filter (fun l => negb (has_statement c l)) indices)))
    (fold_left tops_with stated (repeat 0 n)).
End Run.

Open Scope R_scope.

(** * What it means *)

(** ** Patches without a statement *)

Lemma entries_of_free_patch : forall T c n l, has_statement c l = false -> entries T c n l = repeat unstated n.
Proof.
  intros T c n l. unfold has_statement, entries. generalize (repeat unstated n).
  induction (statements c) as [|s ss IH]; intros es H; [reflexivity|]. cbn [existsb fold_left] in *.
  apply orb_false_elim in H as [H1 H2]. rewrite IH by exact H2.
  destruct s as [k j lo hi| | |]; cbn [entries_with]; try reflexivity. rewrite H1. reflexivity.
Qed.

Lemma left_at_free_patch : forall T c n l, (0 < T)%Z -> has_statement c l = false -> left_at T c n l = (T, nil).
Proof.
  intros T c n l HT H. unfold left_at, few_entries, has_statement in *.
  assert (E : fold_left (few_with T (statement_unit c) n l) (statements c) nil = nil).
  { induction (statements c) as [|s ss IH]; [reflexivity|]. cbn [existsb fold_left] in *.
    apply orb_false_elim in H as [H1 H2]. destruct s as [k j lo hi| | |]; cbn [few_with]; auto. rewrite H1.
    apply IH, H2. }
  rewrite E. unfold few_remainder. cbn [map zsum]. f_equal. lia.
Qed.

(** A sum over all patches is the sum over those with a statement, and as often the same number as there are others. *)
Lemma zsum_split : forall (f : nat -> Z) p l,
  (zsum (map f l) = zsum (map f (filter p l)) + zsum (map f (filter (fun i => negb (p i)) l)))%Z.
Proof. intros f p. induction l as [|i l IH]; [reflexivity|]. cbn. destruct (p i); cbn; lia. Qed.

Lemma zsum_constant : forall (f : nat -> Z) k l, (forall i, In i l -> f i = k) ->
  zsum (map f l) = (Z.of_nat (length l) * k)%Z.
Proof.
  intros f k. induction l as [|i l IH]; intros H; [reflexivity|].
  cbn [map zsum length]. rewrite (IH (fun j I => H j (or_intror I))), (H i (or_introl eq_refl)), Nat2Z.inj_succ. ring.
Qed.

Lemma sum_over_patches : forall T c n (f : Z * few -> Z), (0 < T)%Z ->
  (zsum (map (fun l => f (left_at T c n l)) (seq 0 (patches c))) =
   zsum (map f (stated_patches (left_of T c n))) + free_patches (left_of T c n) * f (T, nil))%Z.
Proof.
  intros T c n f HT. rewrite (zsum_split _ (has_statement c)). cbn [left_of stated_patches free_patches].
  rewrite map_map. f_equal. apply zsum_constant. intros l I. apply filter_In in I as [_ I].
  rewrite left_at_free_patch; [reflexivity|exact HT|]. destruct (has_statement c l); [discriminate|reflexivity].
Qed.

Lemma zsum_seq_real : forall (f : nat -> Z) n, IZR (zsum (map f (seq 0 n))) = rsum n (fun i => IZR (f i)).
Proof.
  intros f n. replace (rsum n (fun i => IZR (f i))) with (rsum n (fun i => IZR (f (0 + i)%nat))) by reflexivity.
  generalize O. induction n as [|n IH]; intros s; [reflexivity|]. cbn [seq map zsum]. rewrite rsum_front, plus_IZR, IH.
  rewrite Nat.add_0_r. f_equal. apply rsum_ext. intros. f_equal. f_equal. lia.
Qed.

(** ** The greatest stated masses *)

Lemma length_tops_with : forall patch ts, length (tops_with ts patch) = length ts.
Proof.
  intros [rest es]. unfold tops_with. cbn [fst snd]. induction es as [|p es IH]; intros ts; [reflexivity|].
  cbn [fold_left]. rewrite IH. apply length_change_at.
Qed.

Lemma top_with_grows : forall rest e top, (top <= top_with rest e top)%Z.
Proof. intros rest e top. unfold top_with. destruct (is_open e); lia. Qed.

Lemma tops_with_grow : forall patch ts k, (k < length ts)%nat -> (nth k ts 0 <= nth k (tops_with ts patch) 0)%Z.
Proof.
  intros [rest es]. unfold tops_with. cbn [fst snd]. induction es as [|p es IH]; intros ts k H; [apply Z.le_refl|].
  cbn [fold_left]. eapply Z.le_trans; [|apply IH; rewrite length_change_at; exact H].
  rewrite nth_change_at by exact H. destruct (Nat.eqb k (fst p)); [apply top_with_grows|apply Z.le_refl].
Qed.

Lemma tops_with_ok : forall rest es ts k, (k < length ts)%nat -> is_open (few_at k es) = false ->
  (most_of rest (few_at k es) <= nth k (tops_with ts (rest, es)) 0)%Z.
Proof.
  intros rest. unfold tops_with. cbn [fst snd]. induction es as [|[j e] es IH]; intros ts k H O; [discriminate|].
  cbn [few_at fold_left fst snd] in *. destruct (Nat.eqb k j) eqn:E.
  - eapply Z.le_trans; [|apply (tops_with_grow (rest, es)); rewrite length_change_at; exact H].
    rewrite nth_change_at, E by exact H. unfold top_with. rewrite O. lia.
  - apply IH; [rewrite length_change_at; exact H|exact O].
Qed.

Lemma length_all_tops : forall stated ts, length (fold_left tops_with stated ts) = length ts.
Proof.
  induction stated as [|patch stated IH]; intros ts; [reflexivity|]. cbn [fold_left]. rewrite IH.
  apply length_tops_with.
Qed.

Lemma all_tops_grow : forall stated ts k, (k < length ts)%nat ->
  (nth k ts 0 <= nth k (fold_left tops_with stated ts) 0)%Z.
Proof.
  induction stated as [|patch stated IH]; intros ts k H; [apply Z.le_refl|]. cbn [fold_left].
  eapply Z.le_trans; [apply tops_with_grow; exact H|apply IH]. rewrite length_tops_with. exact H.
Qed.

Lemma all_tops_ok : forall stated ts rest es k, In (rest, es) stated -> (k < length ts)%nat ->
  is_open (few_at k es) = false -> (most_of rest (few_at k es) <= nth k (fold_left tops_with stated ts) 0)%Z.
Proof.
  induction stated as [|patch stated IH]; intros ts rest es k I H O; [destruct I|]. cbn [fold_left].
  destruct I as [->|I]; [|apply IH; auto; rewrite length_tops_with; exact H].
  eapply Z.le_trans; [apply (tops_with_ok rest es ts k H O)|apply all_tops_grow]. rewrite length_tops_with. exact H.
Qed.

Lemma length_tops : forall T c n, length (tops (left_of T c n)) = n.
Proof. intros T c n. etransitivity; [apply length_all_tops|apply repeat_length]. Qed.

Lemma tops_nonneg : forall T c n k, (0 <= nth k (tops (left_of T c n)) 0)%Z.
Proof.
  intros T c n k. destruct (Nat.lt_ge_cases k n) as [H|H].
  - replace 0%Z with (nth k (repeat 0%Z n) 0%Z) at 1 by apply nth_repeat. apply all_tops_grow.
    rewrite repeat_length. exact H.
  - rewrite nth_overflow by (rewrite length_tops; exact H). lia.
Qed.

(** No mass of which something is stated exceeds its top. *)
Lemma stated_mass_at_most_top : forall T c n l k, (l < patches c)%nat -> (k < n)%nat ->
  is_open (nth k (entries T c n l) unstated) = false ->
  (most_of (remainder T (entries T c n l)) (nth k (entries T c n l) unstated) <= nth k (tops (left_of T c n)) 0)%Z.
Proof.
  intros T c n l k Hl Hk O. rewrite <- few_remainder_is. destruct (few_entries_agree T c n l) as (_ & A & _).
  rewrite A in * by exact Hk. apply all_tops_ok; [|rewrite repeat_length; exact Hk|exact O].
  apply in_map_iff. exists l. split; [reflexivity|]. apply filter_In. split; [apply in_seq; lia|].
  destruct (has_statement c l) eqn:E; [reflexivity|]. rewrite <- A, entries_of_free_patch in O by assumption.
  rewrite nth_repeat in O. discriminate.
Qed.
