(** Observables at given latents, for every geometry but softmax: distances and inner products are rational numbers;
    a cosine is one over the product of two roots.

    A cosine is D / (|P| X), where P and Z are the integers of prototype and latent, D is their product, and X is
    |Z| + U E or (|Z|^2 + U^2 E)^(1/2) with U the latent's unit. The integer roots are taken over T. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Root Boxes UnitInterval Vectors.
Import ListNotations.

(** * What runs *)

(** A prototype, the square of its length, and its length over T. *)
Record measured := Measured { integers : list Z; length_square : Z; length_ends : Z * Z }.

Section Run.
Local Open Scope Z_scope.
Variables (T : Z) (h : head).

Definition root_over (n : Z) : Z * Z := (root_floor (T * T * n), root_ceil (T * T * n)).

Definition measured_of (p : list Z) : measured :=
  let square := zdot p p in
  Measured p square
    match head_geometry h with Cosine _ | RootedCosine _ => root_over square | _ => (0, 0) end.

(** The integer [num] divided by a number between two integers. *)
Definition ratio_ends (num low high : Z) : option (Z * Z) :=
  if num =? 0 then Some (0, 0)
  else if 0 <? low then
    Some (if 0 <? num then (floor_div num high, ceil_div num low) else (floor_div num low, ceil_div num high))
  else None.

(** X over T, given |Z|^2. *)
Definition stretch_ends (U : positive) (square : Z) : option (Z * Z) :=
  match head_geometry h with
  | Cosine e =>
      if 0 <=? numerator e
      then Some (add_ends (root_over square) (quotient_ends T (Zpos U * numerator e) (Zpos (denominator e))))
      else None
  | RootedCosine e =>
      if 0 <=? numerator e
      then let under := quotient_ends (T * T) (square * Zpos (denominator e) + Zpos U * Zpos U * numerator e)
             (Zpos (denominator e)) in Some (root_floor (fst under), root_ceil (snd under))
      else None
  | _ => Some (0, 0)
  end.

Definition cosine_ends (D : Z) (size stretch : Z * Z) : option (Z * Z) :=
  match ratio_ends (T * T * T * D) (fst size * fst stretch) (snd size * snd stretch) with
  | Some e => Some (Z.max (- T) (fst e), Z.min T (snd e))
  | None => None
  end.

(** The observable of a latent, given its product D with the prototype, |Z|^2 and X. *)
Definition observed_of (D : Z) (U : positive) (square : Z) (stretch : Z * Z) (m : measured) : option (Z * Z) :=
  let S := coord_unit h in
  match head_geometry h with
  | Euclidean =>
      Some (quotient_ends T
        (Zpos S * Zpos S * square - 2 * (Zpos U * Zpos S) * D + Zpos U * Zpos U * length_square m)
        (Zpos U * Zpos U * (Zpos S * Zpos S)))
  | InnerProduct _ => Some (quotient_ends T D (Zpos U * Zpos S))
  | Cosine _ | RootedCosine _ => cosine_ends D (length_ends m) stretch
  | Softmax => None
  end.

Definition observed_ends (z : list Z) (U : positive) (square : Z) (stretch : Z * Z) (m : measured) : option (Z * Z) :=
  observed_of (zdot z (integers m)) U square stretch m.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma root_over_ok : forall T n, (0 < T)%Z -> (0 <= n)%Z -> encloses T (root_over T n) (sqrt (IZR n)).
Proof.
  intros T n HT Hn. unfold encloses. assert (P : (0 <= T * T * n)%Z) by nia.
  rewrite sqrt_scaled, <- !mult_IZR by (apply IZR_nonneg; lia). apply root_ok. exact P.
Qed.

Lemma ratio_ends_ok : forall num low high d e, IZR low <= d <= IZR high -> ratio_ends num low high = Some e ->
  IZR (fst e) <= IZR num / d <= IZR (snd e).
Proof.
  intros num low high d e [L H] E. unfold ratio_ends in E. destruct (num =? 0)%Z eqn:N.
  - apply Z.eqb_eq in N as ->. injection E as <-. cbn. unfold Rdiv. rewrite Rmult_0_l. lra.
  - destruct (0 <? low)%Z eqn:P; [|discriminate]. apply Z.ltb_lt in P. apply IZR_pos in P as PR.
    assert (D : 0 < / d) by (apply Rinv_0_lt_compat; lra). assert (I : d * / d = 1) by (field; lra).
    assert (HH : (0 < high)%Z) by (apply lt_IZR; lra).
    assert (A : IZR low * / d <= 1) by (rewrite <- I; apply Rmult_le_compat_r; lra).
    assert (B : 1 <= IZR high * / d) by (rewrite <- I; apply Rmult_le_compat_r; lra).
    destruct (0 <? num)%Z eqn:Q; injection E as <-; cbn [fst snd]; unfold Rdiv.
    + apply Z.ltb_lt, IZR_pos in Q. split; [apply floor_div_below|apply ceil_div_above]; try assumption; nra.
    + apply Z.ltb_ge, IZR_le in Q. split; [apply floor_div_below|apply ceil_div_above]; try assumption; nra.
Qed.

Section Sound.
Variables (T : Z) (h : head) (z : list Z) (U : positive).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis z_short : (length z <= depth h)%nat.
Let v : nat -> R := over z U.
Let square : Z := zdot z z.

(** X of the latent *)
Definition stretch : R :=
  match head_geometry h with
  | Cosine e => IZR (Zpos U) * (norm h v + real e)
  | RootedCosine e => IZR (Zpos U) * sqrt (dot h v v + real e)
  | _ => 0
  end.

Lemma rational_over : forall e, IZR (Zpos U * numerator e) / IZR (Zpos (denominator e)) = IZR (Zpos U) * real e.
Proof. intros e. unfold real, q. rewrite mult_IZR. unfold Rdiv. ring. Qed.

Lemma rooted_stretch : forall e, IZR (Zpos U) * sqrt (dot h v v + real e) =
  sqrt (IZR (square * Zpos (denominator e) + Zpos U * Zpos U * numerator e) / IZR (Zpos (denominator e))).
Proof.
  intros e. assert (P := Zpos_pos U). assert (Q := Zpos_pos (denominator e)).
  transitivity (sqrt (IZR (Zpos U) * IZR (Zpos U)) * sqrt (dot h v v + real e));
    [rewrite sqrt_square by lra; reflexivity|]. rewrite <- sqrt_mult_alt by (apply Rmult_le_pos; lra). f_equal.
  unfold v. rewrite dot_over by exact z_short. fold square. unfold real, q. rewrite plus_IZR, !mult_IZR. field. lra.
Qed.

Lemma stretch_ends_ok : forall e, stretch_ends T h U square = Some e -> encloses T e stretch.
Proof.
  intros e E. unfold stretch_ends, stretch in *. assert (P := Zpos_pos U).
  assert (Z0 : (0 <= square)%Z) by apply zdot_square_nonneg.
  destruct (head_geometry h) as [|f|f| |]; try (injection E as <-; unfold encloses; cbn; lra);
    destruct (0 <=? numerator f)%Z eqn:N; try discriminate; apply Z.leb_le in N; injection E as <-.
  - rewrite Rmult_plus_distr_l, <- rational_over. apply add_ends_ok; [|apply quotient_ends_ok; reflexivity].
    unfold v. rewrite norm_over by exact z_short. fold square.
    replace (IZR (Zpos U) * (sqrt (IZR square) / IZR (Zpos U))) with (sqrt (IZR square)) by (field; lra).
    apply root_over_ok; assumption.
  - rewrite rooted_stretch. assert (N0 : (0 <= square * Zpos (denominator f) + Zpos U * Zpos U * numerator f)%Z).
    { apply Z.add_nonneg_nonneg; apply Z.mul_nonneg_nonneg; lia. }
    set (n := (square * _ + _)%Z) in *. set (d := Zpos (denominator f)).
    destruct (quotient_ends_ok (T * T) n d eq_refl) as [L H]. unfold encloses. cbn [fst snd].
    assert (X : 0 <= IZR n / IZR d) by (apply div_nonneg; [apply IZR_nonneg; exact N0|apply Zpos_pos]).
    rewrite sqrt_scaled by (try exact X; apply IZR_nonneg; lia). rewrite mult_IZR in L, H.
    split; [apply root_floor_below|apply root_ceil_above]; try assumption;
      [apply floor_div_nonneg|apply ceil_div_nonneg]; (nia || reflexivity).
Qed.

Variable p : list Z.
Hypothesis p_short : (length p <= depth h)%nat.
Let S : positive := coord_unit h.
Let w : nat -> R := over p S.
Let D : Z := zdot z p.

Lemma cosine_as_ratio : forall X, dot h v w / (norm h w * X) =
  IZR D / (sqrt (IZR (zdot p p)) * (IZR (Zpos U) * X)).
Proof.
  intros X. unfold v, w. rewrite dot_over, norm_over by assumption. fold D.
  assert (P := Zpos_pos U). assert (Q := Zpos_pos S). set (n := sqrt (IZR (zdot p p))).
  unfold Rdiv. rewrite !Rinv_mult, Rinv_inv. generalize (/ n) (/ X). intros. field. lra.
Qed.

Lemma cosine_at_least_minus_one : forall X, norm h v <= X -> -1 <= dot h v w / (norm h w * X).
Proof.
  intros X H. assert (V := norm_nonneg h v). assert (N := norm_nonneg h w). assert (C := proj1 (dot_le_norms h v w)).
  assert (K : - dot h v w / (norm h w * X) <= 1) by (apply quotient_at_most_one; nra). unfold Rdiv in *. lra.
Qed.

Lemma cosine_ends_ok : forall X st e, encloses T st (IZR (Zpos U) * X) -> norm h v <= X ->
  (0 <= fst st)%Z -> cosine_ends T D (root_over T (zdot p p)) st = Some e ->
  encloses T e (dot h v w / (norm h w * X)).
Proof.
  intros X st e Hs HX S0 E. unfold cosine_ends in E.
  destruct (ratio_ends _ _ _) as [r|] eqn:R; [|discriminate]. injection E as <-.
  assert (HT := IZR_pos T T_positive). set (m := dot h v w / (norm h w * X)).
  assert (Up : m <= 1) by (apply cosine_at_most_one; exact HX).
  assert (Lo : -1 <= m) by (apply cosine_at_least_minus_one; exact HX).
  assert (Hn := root_over_ok T (zdot p p) T_positive (zdot_square_nonneg p)).
  assert (N0 : (0 <= fst (root_over T (zdot p p)))%Z) by apply root_floor_nonneg.
  set (size := root_over T (zdot p p)) in *. set (n := sqrt (IZR (zdot p p))) in *.
  assert (B : IZR (fst size * fst st) <= IZR T * n * (IZR T * (IZR (Zpos U) * X)) <= IZR (snd size * snd st)).
  { rewrite !mult_IZR. apply IZR_nonneg in S0, N0. destruct Hs, Hn. split; apply Rmult_le_compat; lra. }
  apply (ratio_ends_ok _ _ _ _ _ B) in R.
  replace (IZR (T * T * T * D) / (IZR T * n * (IZR T * (IZR (Zpos U) * X)))) with (IZR T * m) in R.
  - unfold encloses. cbn [fst snd]. split.
    + destruct (Z.max_spec (- T) (fst r)) as [[_ ->]|[_ ->]]; [apply R|]. rewrite opp_IZR. nra.
    + destruct (Z.min_spec T (snd r)) as [[_ ->]|[_ ->]]; [nra|apply R].
  - unfold m. rewrite cosine_as_ratio. fold n. rewrite !mult_IZR. unfold Rdiv. rewrite !Rinv_mult.
    generalize (/ n) (/ IZR (Zpos U)) (/ X). intros. field. lra.
Qed.

Lemma stretch_ends_nonneg : forall st, stretch_ends T h U square = Some st -> (0 <= fst st)%Z.
Proof.
  intros st E. unfold stretch_ends in E. destruct (head_geometry h) as [|f|f| |]; try (injection E as <-; cbn; lia);
    destruct (0 <=? numerator f)%Z eqn:N; try discriminate; apply Z.leb_le in N; injection E as <-; cbn [fst add_ends].
  - apply Z.add_nonneg_nonneg; [apply root_floor_nonneg|]. apply floor_div_nonneg; [|reflexivity].
    assert (K : (0 <= Zpos U * numerator f)%Z) by (apply Z.mul_nonneg_nonneg; lia).
    apply Z.mul_nonneg_nonneg; [lia|exact K].
  - apply root_floor_nonneg.
Qed.

(** The divisor of a cosine is at least the latent's length. *)
Lemma epsilon_nonneg : forall st e, stretch_ends T h U square = Some st ->
  head_geometry h = Cosine e \/ head_geometry h = RootedCosine e -> 0 <= real e.
Proof.
  intros st e E G. apply fraction_nonneg. unfold stretch_ends in E.
  destruct G as [G|G]; rewrite G in E; destruct (0 <=? numerator e)%Z; (reflexivity || discriminate).
Qed.

Theorem observed_ends_ok : forall j st e, nth j (prototypes h) nil = p -> stretch_ends T h U square = Some st ->
  observed_ends T h z U square st (measured_of T h p) = Some e -> encloses T e (observable h v j).
Proof.
  intros j st e J E O. assert (Ok := stretch_ends_ok st E). assert (S0 := stretch_ends_nonneg st E).
  assert (Eps := epsilon_nonneg st). unfold observed_ends, observed_of, observable in *. rewrite coord_over, J. fold S w.
  unfold stretch in Ok. unfold measured_of in O. cbn [integers length_square length_ends] in O. fold D in O.
  destruct (head_geometry h) as [|f|f| |] eqn:G.
  - injection O as <-. unfold v, w. rewrite distance_over by assumption. apply quotient_ends_ok. reflexivity.
  - apply (cosine_ends_ok _ st); auto. specialize (Eps f E (or_introl eq_refl)). lra.
  - apply (cosine_ends_ok _ st); auto. specialize (Eps f E (or_intror eq_refl)). apply sqrt_le_1_alt. lra.
  - injection O as <-. unfold v, w. rewrite dot_over by exact z_short. rewrite <- mult_IZR. apply quotient_ends_ok.
    reflexivity.
  - discriminate.
Qed.
End Sound.
