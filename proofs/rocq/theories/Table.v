(** The observables of all patches: a row for each. *)

From Coq Require Import Reals ZArith List Lia.
From Verale Require Import Semantics Boxes Columns Embedding Products Hypersphere Metric.
Import ListNotations.
Open Scope R_scope.

Definition no_hints : patch_hints := PatchHints nil 1 nil nil nil.

(** The rows of the patches [l], [l + 1], ..., [l + n - 1], with the hints of each; missing ones are no hints. *)
Fixpoint metric_rows (row_of : nat -> patch_hints -> option row) (l n : nat) (hints : list patch_hints) :
  list (option row) :=
  match n with
  | O => nil
  | S n' => row_of l (hd no_hints hints) :: metric_rows row_of (S l) n' (tl hints)
  end.

(** The measures [ms] and the packed prototypes of the head, rows of these, and the row [own] of its domain are computed
    once; then the goals of the [claims]. *)
Definition metric_table (h : head) (c : certificate) (T : Z) (ms : list measure) (packed : list (Z * list Z))
  (known : list (list Z)) (own : row) (A : Z) (claims : list claim) (hints : list patch_hints) : option table :=
  let goals := claimed h T A ms claims in
  let bits := digit_bits ms in
  all_some (metric_rows (metric_row h c T ms bits packed known A goals own) 0 (patches c) hints).

Lemma metric_rows_nth : forall row_of n l hints i, (i < n)%nat ->
  exists x, nth i (metric_rows row_of l n hints) None = row_of (l + i)%nat x.
Proof.
  induction n as [|n IH]; intros l hints i H; [lia|]. cbn [metric_rows]. destruct i as [|i].
  - exists (hd no_hints hints). rewrite Nat.add_0_r. reflexivity.
  - destruct (IH (S l) (tl hints) i ltac:(lia)) as [x E]. exists x. cbn [nth]. rewrite E. f_equal. lia.
Qed.

Lemma metric_rows_length : forall row_of n l hints, length (metric_rows row_of l n hints) = n.
Proof. induction n; intros; cbn [metric_rows length]; auto. Qed.

Theorem metric_table_ok : forall h c T ms known own A claims hints t z, (0 < T)%Z -> measures h = Some ms ->
  rows_known h (packed_prototypes h ms) known -> (forall v, patch_in_domain h v -> row_ok h T own v) ->
  metric_table h c T ms (packed_prototypes h ms) known own A claims hints = Some t ->
  complies h c z -> table_ok h T (patches c) t z.
Proof.
  intros h c T ms known own A claims hints t z HT HM HK HO H HC. unfold metric_table in H. cbv zeta in H.
  set (row_of := metric_row _ _ _ _ _ _ _ _ _ _) in H.
  apply all_some_spec in H.
  assert (L : length t = patches c) by (rewrite <- (map_length Some t), <- H; apply metric_rows_length).
  split; [exact L|]. intros l Hl. destruct (metric_rows_nth row_of (patches c) 0 hints l Hl) as [x E]. rewrite H in E.
  assert (N : nth l (map Some t) None = Some (nth l t nil)).
  { rewrite (nth_indep (map Some t) None (Some nil)) by (rewrite map_length; lia). apply map_nth. }
  rewrite N in E. symmetry in E. unfold row_of in E.
  eapply (metric_row_ok h c T ms _ _ known A _ z own l HT HM eq_refl eq_refl HK); try exact E.
  - exists claims. reflexivity.
  - apply HO, HC, Hl.
  - exact Hl.
  - exact HC.
Qed.
