(** The observables of all patches: a row for each. *)

From Coq Require Import Reals ZArith List Lia.
From Verale Require Import Semantics Boxes Columns Embedding Products Metric.
Import ListNotations.
Open Scope R_scope.

(** The rows of the patches [l], [l + 1], ..., [l + n - 1], with the hints of each; missing ones are no hints. *)
Fixpoint metric_rows (row_of : nat -> list hint -> option row) (l n : nat) (hints : list (list hint)) :
  list (option row) :=
  match n with
  | O => nil
  | S n' => row_of l (hd nil hints) :: metric_rows row_of (S l) n' (tl hints)
  end.

(** The measures [ms] and the products [G] of the head, and the row [own] of its domain, are computed once. *)
Definition metric_table (h : head) (c : certificate) (T : Z) (ms : list measure) (G : list (list Z)) (own : row)
  (hints : list (list hint)) : option table :=
  all_some (metric_rows (metric_row h c T ms G own) 0 (patches c) hints).

Lemma metric_rows_nth : forall row_of n l hints i, (i < n)%nat ->
  exists x, nth i (metric_rows row_of l n hints) None = row_of (l + i)%nat x.
Proof.
  induction n as [|n IH]; intros l hints i H; [lia|]. cbn [metric_rows]. destruct i as [|i].
  - exists (hd nil hints). rewrite Nat.add_0_r. reflexivity.
  - destruct (IH (S l) (tl hints) i ltac:(lia)) as [x E]. exists x. cbn [nth]. rewrite E. f_equal. lia.
Qed.

Lemma metric_rows_length : forall row_of n l hints, length (metric_rows row_of l n hints) = n.
Proof. induction n; intros; cbn [metric_rows length]; auto. Qed.

Theorem metric_table_ok : forall h c T ms G own hints t z, (0 < T)%Z -> measures h = Some ms -> products_right h G ->
  (forall v, patch_in_domain h v -> row_ok h T own v) -> metric_table h c T ms G own hints = Some t ->
  complies h c z -> table_ok h T (patches c) t z.
Proof.
  intros h c T ms G own hints t z HT HM HG HO H HC. unfold metric_table in H. apply all_some_spec in H.
  assert (L : length t = patches c) by (rewrite <- (map_length Some t), <- H; apply metric_rows_length).
  split; [exact L|]. intros l Hl.
  destruct (metric_rows_nth (metric_row h c T ms G own) (patches c) 0 hints l Hl) as [x E]. rewrite H in E.
  assert (N : nth l (map Some t) None = Some (nth l t nil)).
  { rewrite (nth_indep (map Some t) None (Some nil)) by (rewrite map_length; lia). apply map_nth. }
  rewrite N in E. symmetry in E.
  apply (metric_row_ok h c T z ms G own l HT HM HG) with (hints := x); auto. apply HO, HC, Hl.
Qed.
