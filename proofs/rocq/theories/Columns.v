(** Columns: the enclosures of one prototype at all patches, and lists of enclosures in general.

    A table has a row for each patch; pooling needs a column for each prototype. The first entry of a column is about
    the last patch, because the sums and maxima of [Semantics] take the last number first: what is proved about columns
    is then proved entry by entry. *)

From Coq Require Import Reals ZArith List Lia.
From Verale Require Import Semantics Boxes.
Import ListNotations.
Open Scope R_scope.

(** * Entries and the numbers that they are about *)

(** Every entry of a list stands in the relation [P] to its number; the first entry is about the last number. *)
Fixpoint along {A} (P : A -> R -> Prop) (c : list A) (m : nat -> R) : Prop :=
  match c with nil => True | e :: c' => P e (m (length c')) /\ along P c' m end.

Lemma along_at : forall A (P : A -> R -> Prop) c m l, along P c m -> (l < length c)%nat ->
  exists e, In e c /\ P e (m l).
Proof.
  intros A P c m l. induction c as [|e c IH]; cbn [length along In]; intros H Hl; [lia|]. destruct H as [He H].
  destruct (Nat.eq_dec l (length c)) as [->|N].
  - exists e. tauto.
  - destruct IH as [e' He']; [exact H|lia|]. exists e'. tauto.
Qed.

Lemma along_in : forall A (P : A -> R -> Prop) c m e, along P c m -> In e c ->
  exists l, (l < length c)%nat /\ P e (m l).
Proof.
  intros A P c m e. induction c as [|e' c IH]; cbn [length along In]; [tauto|]. intros [He H] [->|I].
  - exists (length c). split; [lia|exact He].
  - destruct (IH H I) as (l & Hl & Q). exists l. split; [lia|exact Q].
Qed.

Lemma along_weaken : forall A (P Q : A -> R -> Prop) c m, (forall e x, P e x -> Q e x) -> along P c m -> along Q c m.
Proof. intros A P Q c m H. induction c; cbn [along]; [trivial|]. intros []. split; [apply H|apply IHc]; assumption. Qed.

Lemma along_map : forall A V (P : V -> R -> Prop) (f : A -> V) c m,
  along P (map f c) m <-> along (fun e x => P (f e) x) c m.
Proof.
  intros A V P f c m. induction c as [|e c IH]; cbn [map along]; [tauto|]. rewrite map_length, IH. tauto.
Qed.

Lemma along_ext : forall A (P : A -> R -> Prop) c m m', (forall l, (l < length c)%nat -> m l = m' l) ->
  along P c m -> along P c m'.
Proof.
  intros A P c m m'. induction c as [|e c IH]; cbn [length along]; intros E H; [exact I|]. destruct H as [He H].
  split; [rewrite <- E by lia; exact He|]. apply IH; [intros l Hl; apply E; lia|exact H].
Qed.

(** * The entries of the patches that a prototype looks at *)

(** [n] is the number of entries. *)
Fixpoint kept {A} (row : list Z) (n : nat) (c : list A) : list A :=
  match c, n with
  | e :: c', S k => if looks_at row k then e :: kept row k c' else kept row k c'
  | _, _ => nil
  end.

Lemma seen_succ : forall row n, seen row (S n) = seen row n ++ (if looks_at row n then [n] else []).
Proof. intros row n. unfold seen. rewrite seq_S, filter_app. reflexivity. Qed.

Lemma length_kept : forall A row (c : list A), length (kept row (length c) c) = length (seen row (length c)).
Proof.
  intros A row c. induction c as [|e c IH]; [reflexivity|]. cbn [length kept]. rewrite seen_succ, app_length, <- IH.
  destruct (looks_at row (length c)); cbn [length]; lia.
Qed.

Lemma along_kept : forall A (P : A -> R -> Prop) row c m, along P c m ->
  along P (kept row (length c) c) (fun i => m (nth i (seen row (length c)) O)).
Proof.
  intros A P row c m. induction c as [|e c IH]; intros H; [exact I|]. destruct H as [He H]. cbn [length kept].
  assert (K : along P (kept row (length c) c) (fun i => m (nth i (seen row (S (length c))) O))).
  { refine (along_ext _ _ _ _ _ _ (IH H)). intros i Hi. rewrite length_kept in Hi.
    rewrite seen_succ, app_nth1 by exact Hi. reflexivity. }
  destruct (looks_at row (length c)) eqn:S; [|exact K]. split; [|exact K].
  rewrite seen_succ, S, app_nth2, length_kept, Nat.sub_diag by (rewrite length_kept; lia). exact He.
Qed.

(** * Transposing a table *)

Notation column := (list ends).

Fixpoint stacked {A} (r : list A) (cols : list (list A)) : list (list A) :=
  match r, cols with e :: r', c :: cols' => (e :: c) :: stacked r' cols' | _, _ => nil end.

(** Row by row, so that the time is that of reading the table. *)
Definition columns {A} (P : nat) (t : list (list A)) : list (list A) :=
  fold_left (fun cols r => stacked r cols) t (repeat nil P).

Lemma length_stacked : forall A (r : list A) cols, length r = length cols -> length (stacked r cols) = length cols.
Proof.
  induction r as [|e r IH]; intros [|c cols] H; try discriminate; [reflexivity|]. cbn. rewrite IH; [reflexivity|].
  injection H as H. exact H.
Qed.

Lemma nth_stacked : forall A (d : A) r cols j, length r = length cols -> (j < length cols)%nat ->
  nth j (stacked r cols) nil = nth j r d :: nth j cols nil.
Proof.
  induction r as [|e r IH]; intros [|c cols] j H Hj; cbn [length] in *; try lia.
  destruct j as [|j]; [reflexivity|]. cbn [stacked nth]. apply IH; lia.
Qed.

Lemma nth_columns : forall A (d : A) P t j, Forall (fun r => length r = P) t -> (j < P)%nat ->
  nth j (columns P t) nil = rev (map (fun r => nth j r d) t).
Proof.
  intros A d P t j. unfold columns.
  assert (G : forall t (cols : list (list A)), Forall (fun r => length r = P) t -> (j < P)%nat -> length cols = P ->
    nth j (fold_left (fun cols r => stacked r cols) t cols) nil = rev (map (fun r => nth j r d) t) ++ nth j cols nil).
  { clear t. induction t as [|r t IH]; intros cols H Hj L; [reflexivity|]. inversion_clear H. cbn [fold_left map rev].
    rewrite (IH (stacked r cols)); [|assumption|exact Hj|rewrite length_stacked; congruence].
    rewrite (nth_stacked A d) by congruence.
    rewrite <- app_assoc. reflexivity. }
  intros H Hj. rewrite G by (auto; apply repeat_length). rewrite nth_repeat. apply app_nil_r.
Qed.

(** Columns that are right for the first [k] patches *)
Definition columns_ok (h : head) (T : Z) (k : nat) (cols : list column) (z : latents) : Prop :=
  length cols = count h /\ forall j, (j < count h)%nat ->
    length (nth j cols nil) = k /\ along (within T) (nth j cols nil) (fun l => observable h (z l) j).

Lemma columns_ok_start : forall h T z, columns_ok h T 0 (repeat nil (count h)) z.
Proof. intros h T z. split; [apply repeat_length|]. intros j _. rewrite nth_repeat. split; [reflexivity|exact I]. Qed.

Lemma columns_ok_stacked : forall h T k cols r z, columns_ok h T k cols z -> row_ok h T r (z k) ->
  columns_ok h T (S k) (stacked r cols) z.
Proof.
  intros h T k cols r z [L H] [Lr Hr]. split; [rewrite length_stacked; congruence|]. intros j Hj.
  destruct (H j Hj) as [Lj Aj]. rewrite (nth_stacked _ anything) by congruence. cbn [length along]. rewrite Lj.
  split; [reflexivity|]. split; [exact (Hr j Hj)|exact Aj].
Qed.

Lemma columns_ok_fold : forall h T t k cols z, columns_ok h T k cols z ->
  (forall l, (l < length t)%nat -> row_ok h T (nth l t nil) (z (k + l)%nat)) ->
  columns_ok h T (k + length t) (fold_left (fun cols r => stacked r cols) t cols) z.
Proof.
  intros h T t. induction t as [|r t IH]; intros k cols z C H; cbn [fold_left length].
  - rewrite Nat.add_0_r. exact C.
  - rewrite Nat.add_succ_r. apply (IH (S k)).
    + apply columns_ok_stacked; [exact C|]. rewrite <- (Nat.add_0_r k). apply (H O). cbn [length]. lia.
    + intros l Hl. rewrite Nat.add_succ_l, <- Nat.add_succ_r. apply (H (S l)). cbn [length]. lia.
Qed.

Theorem columns_ok_table : forall h T n t z, table_ok h T n t z -> columns_ok h T n (columns (count h) t) z.
Proof.
  intros h T n t z [L H]. rewrite <- L in H |- *. apply (columns_ok_fold h T t 0); [apply columns_ok_start|exact H].
Qed.

(** * What may fail, along a list *)

Fixpoint all_some {A} (l : list (option A)) : option (list A) :=
  match l with
  | nil => Some nil
  | o :: l' => match o, all_some l' with Some x, Some s => Some (x :: s) | _, _ => None end
  end.

Lemma all_some_spec : forall A (l : list (option A)) s, all_some l = Some s -> l = map Some s.
Proof.
  intros A l. induction l as [|o l IH]; cbn [all_some]; intros s H.
  - injection H as <-. reflexivity.
  - destruct o as [x|]; [|discriminate]. destruct (all_some l) as [s'|]; [|discriminate]. injection H as <-.
    cbn [map]. rewrite <- (IH s' eq_refl). reflexivity.
Qed.

(** What a function says of every entry holds along its values. *)
Lemma along_values : forall A V (P : A -> R -> Prop) (Q : V -> R -> Prop) (f : A -> option V) (g : R -> R) c s m,
  (forall e x v, P e x -> f e = Some v -> Q v (g x)) -> map f c = map Some s -> along P c m ->
  along Q s (fun l => g (m l)).
Proof.
  intros A V P Q f g c s m H. revert s. induction c as [|e c IH]; intros [|v s] E K; try discriminate; [exact I|].
  assert (L : length c = length s).
  { rewrite <- (map_length f c), <- (map_length Some s). injection E as _ E. rewrite E. reflexivity. }
  injection E as Ev E. destruct K as [Ke K]. cbn [along]. rewrite <- L. split; [exact (H e _ v Ke Ev)|exact (IH s E K)].
Qed.

Lemma length_values : forall A V (f : A -> option V) c s, map f c = map Some s -> length s = length c.
Proof. intros A V f c s H. rewrite <- (map_length f c), <- (map_length Some s), H. reflexivity. Qed.

Lemma nth_all_some : forall A V (f : A -> option V) l s i a d, all_some (map f l) = Some s -> (i < length l)%nat ->
  f (nth i l a) = Some (nth i s d).
Proof.
  intros A V f l s i a d H Hi. apply all_some_spec in H. assert (L := length_values _ _ _ _ _ H).
  rewrite <- (map_nth Some), <- (map_nth f), H. apply nth_indep. rewrite map_length, L. exact Hi.
Qed.

(** * Mapping a slow function *)

(** Most patches have no statement, and so the same ends. The last two arguments and their values are remembered: an
    argument that alternates with others is then computed once. *)
Section Remembering.
Context {A V : Type} (same : A -> A -> bool) (f : A -> V).
Hypothesis same_sound : forall x y, same x y = true -> x = y.

Definition recall (known : option (A * V)) (x : A) : option V :=
  match known with Some (y, v) => if same x y then Some v else None | None => None end.

Fixpoint remembering (newer older : option (A * V)) (l : list A) : list V :=
  match l with
  | nil => nil
  | x :: l' =>
      match recall newer x, recall older x with
      | Some v, _ => v :: remembering newer older l'
      | None, Some v => v :: remembering older newer l'
      | None, None => let v := f x in v :: remembering (Some (x, v)) newer l'
      end
  end.

Definition true_memory (known : option (A * V)) : Prop := match known with Some (y, v) => v = f y | None => True end.

Lemma recall_true : forall known x v, true_memory known -> recall known x = Some v -> v = f x.
Proof.
  intros [[y w]|] x v K H; [|discriminate]. cbn in *. destruct (same x y) eqn:E; [|discriminate].
  apply same_sound in E as ->. congruence.
Qed.

Lemma remembering_true : forall l newer older, true_memory newer -> true_memory older ->
  remembering newer older l = map f l.
Proof.
  induction l as [|x l IH]; intros newer older Hn Ho; [reflexivity|]. cbn [remembering map].
  destruct (recall newer x) as [v|] eqn:En.
  - rewrite (recall_true _ _ _ Hn En), IH by assumption. reflexivity.
  - destruct (recall older x) as [v|] eqn:Eo.
    + rewrite (recall_true _ _ _ Ho Eo), IH by assumption. reflexivity.
    + cbn zeta. rewrite IH; [reflexivity|reflexivity|exact Hn].
Qed.

Definition map_remembering (l : list A) : list V := remembering None None l.

Theorem map_remembering_map : forall l, map_remembering l = map f l.
Proof. intros l. apply remembering_true; exact I. Qed.
End Remembering.

Definition same_end (x y : option Z) : bool :=
  match x, y with Some a, Some b => Z.eqb a b | None, None => true | _, _ => false end.
Definition same_ends (x y : ends) : bool := same_end (fst x) (fst y) && same_end (snd x) (snd y).

Lemma same_end_sound : forall x y, same_end x y = true -> x = y.
Proof. intros [a|] [b|] H; try discriminate; [|reflexivity]. apply Z.eqb_eq in H as ->. reflexivity. Qed.

Lemma same_ends_sound : forall x y, same_ends x y = true -> x = y.
Proof.
  intros [a b] [c d] H. apply andb_prop in H as [H1 H2]. apply same_end_sound in H1, H2. cbn [fst snd] in *. congruence.
Qed.
