(** Softmax heads: what the statements of a certificate leave, patch by patch, and the greatest stated masses.

    Patches without a statement are all alike: they leave one. They are only counted. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes Stated Simplex.
Import ListNotations.

(** * What runs *)

Record leftover := Leftover {
  stated_patches : list (Z * list entry);   (* what the patch leaves of one, and what is stated of its masses *)
  free_patches : Z;                         (* how many patches have no statement *)
  tops : list Z                             (* per prototype: no stated mass is greater *)
}.

Section Run.
Local Open Scope Z_scope.
Variable T : Z.

Definition has_statement (c : certificate) (l : nat) : bool :=
  existsb (fun s => match s with AboutPatch k _ _ _ => Nat.eqb k l | _ => false end) (statements c).

Definition left_at (c : certificate) (n l : nat) : Z * list entry :=
  let es := entries T c n l in (remainder T es, es).

Definition top_with (rest : Z) (top : Z) (e : entry) : Z := if is_open e then top else Z.max top (most_of rest e).

Fixpoint tops_with (rest : Z) (ts : list Z) (es : list entry) : list Z :=
  match ts, es with
  | t :: ts', e :: es' => top_with rest t e :: tops_with rest ts' es'
  | _, _ => ts
  end.

Definition left_of (c : certificate) (n : nat) : leftover :=
  let indices := seq 0 (patches c) in
  let stated := map (left_at c n) (filter (has_statement c) indices) in
  Leftover stated
    (Z.of_nat (length (filter (fun l => negb (has_statement c l)) indices)))
    (fold_left (fun ts '(rest, es) => tops_with rest ts es) stated (repeat 0 n)).
End Run.

Open Scope R_scope.

(** * What it means *)

(** ** Patches without a statement *)

Lemma entries_of_free_patch : forall T c n l, has_statement c l = false -> entries T c n l = repeat unstated n.
Proof.
  intros T c n l. unfold has_statement, entries. generalize (repeat unstated n).
  induction (statements c) as [|s ss IH]; intros es H; [reflexivity|]. cbn [existsb fold_left] in *.
  apply orb_false_elim in H as [H1 H2]. rewrite IH by exact H2.
  destruct s as [k j lo hi| |]; cbn [entries_with]; try reflexivity. rewrite H1. reflexivity.
Qed.

Lemma zsum_of_lows_unstated : forall n, zsum (map fst (repeat unstated n)) = 0%Z.
Proof. induction n; [reflexivity|]. cbn. exact IHn. Qed.

Lemma left_at_free_patch : forall T c n l, (0 < T)%Z -> has_statement c l = false ->
  left_at T c n l = (T, repeat unstated n).
Proof.
  intros T c n l HT H. unfold left_at. rewrite entries_of_free_patch by exact H. unfold remainder.
  rewrite zsum_of_lows_unstated. f_equal. lia.
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

Lemma sum_over_patches : forall T c n (f : Z * list entry -> Z), (0 < T)%Z ->
  (zsum (map (fun l => f (left_at T c n l)) (seq 0 (patches c))) =
   zsum (map f (stated_patches (left_of T c n))) + free_patches (left_of T c n) * f (T, repeat unstated n))%Z.
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

Lemma length_tops_with : forall rest ts es, length (tops_with rest ts es) = length ts.
Proof. intros rest. induction ts as [|t ts IH]; intros [|e es]; cbn; auto. Qed.

Lemma nth_tops_with : forall rest ts es k, (k < length ts)%nat -> (k < length es)%nat ->
  nth k (tops_with rest ts es) 0%Z = top_with rest (nth k ts 0%Z) (nth k es unstated).
Proof.
  intros rest. induction ts as [|t ts IH]; intros [|e es] [|k] H1 H2; cbn in *; try lia. apply IH; lia.
Qed.

Lemma tops_with_grow : forall rest ts es k, (nth k ts 0 <= nth k (tops_with rest ts es) 0)%Z.
Proof.
  intros rest. induction ts as [|t ts IH]; intros [|e es] [|k]; cbn; try lia; [|apply IH].
  unfold top_with. destruct (is_open e); lia.
Qed.

Definition all_tops (stated : list (Z * list entry)) (ts : list Z) : list Z :=
  fold_left (fun ts '(rest, es) => tops_with rest ts es) stated ts.

Lemma length_all_tops : forall stated ts, length (all_tops stated ts) = length ts.
Proof.
  unfold all_tops. induction stated as [|[rest es] stated IH]; intros ts; [reflexivity|]. cbn. rewrite IH.
  apply length_tops_with.
Qed.

Lemma all_tops_grow : forall stated ts k, (nth k ts 0 <= nth k (all_tops stated ts) 0)%Z.
Proof.
  unfold all_tops. induction stated as [|[rest es] stated IH]; intros ts k; cbn; [lia|].
  eapply Z.le_trans; [apply tops_with_grow|apply IH].
Qed.

Lemma all_tops_ok : forall stated ts rest es k, In (rest, es) stated -> (k < length ts)%nat -> (k < length es)%nat ->
  is_open (nth k es unstated) = false -> (most_of rest (nth k es unstated) <= nth k (all_tops stated ts) 0)%Z.
Proof.
  induction stated as [|[rest' es'] stated IH]; intros ts rest es k I H1 H2 O; [destruct I|].
  change (all_tops ((rest', es') :: stated) ts) with (all_tops stated (tops_with rest' ts es')).
  destruct I as [E|I]; [|apply (IH _ rest es); auto; rewrite length_tops_with; exact H1]. injection E as -> ->.
  eapply Z.le_trans; [|apply all_tops_grow]. rewrite nth_tops_with by assumption. unfold top_with. rewrite O. lia.
Qed.

Lemma length_tops : forall T c n, length (tops (left_of T c n)) = n.
Proof. intros T c n. etransitivity; [apply length_all_tops|apply repeat_length]. Qed.

Lemma tops_nonneg : forall T c n k, (0 <= nth k (tops (left_of T c n)) 0)%Z.
Proof.
  intros T c n k. eapply Z.le_trans; [|apply all_tops_grow].
  destruct (Nat.lt_ge_cases k n); [rewrite nth_repeat|rewrite nth_overflow by (rewrite repeat_length; assumption)]; lia.
Qed.

Lemma open_where_free : forall n k, is_open (nth k (repeat unstated n) unstated) = true.
Proof. intros. rewrite nth_repeat. reflexivity. Qed.

(** No mass of which something is stated exceeds its top. *)
Lemma stated_mass_at_most_top : forall T c n l k, (l < patches c)%nat -> (k < n)%nat ->
  length (entries T c n l) = n -> is_open (nth k (entries T c n l) unstated) = false ->
  (most_of (remainder T (entries T c n l)) (nth k (entries T c n l) unstated) <= nth k (tops (left_of T c n)) 0)%Z.
Proof.
  intros T c n l k Hl Hk L O. apply all_tops_ok; try rewrite ?repeat_length, ?L; auto.
  apply in_map_iff. exists l. split; [reflexivity|]. apply filter_In. split; [apply in_seq; lia|].
  destruct (has_statement c l) eqn:E; [reflexivity|]. rewrite entries_of_free_patch in O by exact E.
  rewrite open_where_free in O. discriminate.
Qed.
