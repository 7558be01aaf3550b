(** Whether the definitions of [NetworkSemantics.v] say what they are meant to say: layers whose numbers are computed,
    of weights and inputs for which a mistaken index gives another number. Nothing that is proved elsewhere rests on
    this file. *)

From Coq Require Import Reals ZArith List Lra.
From Verale Require Import Semantics NetworkSemantics Grid EnclosedVolumes NetworkBox Joint Lipschitz Angles Check
  Picture.
Import ListNotations.
Open Scope R_scope.

(** A volume from its numbers, channel by channel and row by row, and back. *)
Definition volume_of (C H W : nat) (numbers : list (list (list Z))) : volume :=
  Volume C H W (fun c y x => IZR (nth x (nth y (nth c numbers nil) nil) 0%Z)).
Definition shown (v : volume) : list (list (list R)) :=
  map (fun c => map (fun y => map (fun x => entry v c y x) (seq 0 (width v))) (seq 0 (height v))) (seq 0 (channels v)).

Ltac numbers :=
  match goal with
  | |- nil = nil => reflexivity
  | |- _ :: _ = _ :: _ => apply f_equal2; numbers
  | |- @eq R _ _ => unfold Rmax; repeat destruct (Rle_dec _ _); lra
  end.
Ltac evaluate := cbv -[IZR Rplus Rmult Rminus Rdiv Ropp Rinv Rmax Rle_dec exp]; numbers.

(** * Convolutions *)

Definition nine : volume := volume_of 1 3 3 [[[1; 2; 3]; [4; 5; 6]; [7; 8; 9]]]%Z.

(** A cross-correlation: with the weights 1, 10, 100, 1000 the digits are those that the window meets, from its upper
    left to its lower right corner. The bias 1 is over the unit 2, as weights are. *)
Example correlation :
  shown (conv2d (Windows (2, 2) (1, 1) (0, 0) (1, 1))%nat 1 2 [[2; 20; 200; 2000]]%Z [1]%Z nine) =
  [[[5421.5; 6532.5]; [8754.5; 9865.5]]].
Proof. evaluate. Qed.

(** Rows: stride 2, padding 1, dilation 1. Columns: stride 1, no padding, dilation 2. Each entry meets columns 0 and 2;
    the first one rows -1 and 0, the second one rows 1 and 2. *)
Example rows_and_columns :
  shown (conv2d (Windows (2, 2) (2, 1) (1, 0) (1, 2))%nat 1 1 [[1; 10; 100; 1000]]%Z nil nine) = [[[3100]; [9764]]].
Proof. evaluate. Qed.

(** Two channels: a row of weights goes by (c, a, b). *)
Definition two_planes : volume := volume_of 2 1 2 [[[1; 2]]; [[3; 4]]]%Z.
Example channels_first :
  shown (conv2d (Windows (1, 2) (1, 1) (0, 0) (1, 1))%nat 1 1 [[1; 10; 100; 1000]; [0; 1; 0; 0]]%Z [0; 7]%Z
    two_planes) = [[[4321]]; [[9]]].
Proof. evaluate. Qed.

(** Two groups and four outputs: outputs 0 and 1 read channel 0, outputs 2 and 3 channel 1. *)
Example groups_of_channels :
  shown (conv2d (Windows (1, 1) (1, 1) (0, 0) (1, 1))%nat 2 1 [[1]; [10]; [100]; [1000]]%Z nil two_planes) =
  [[[1; 2]]; [[10; 20]]; [[300; 400]]; [[3000; 4000]]].
Proof. evaluate. Qed.

(** * Other layers *)

Example linear_of_three :
  shown (linear_layer 4 [[4; 40; 400]; [2; 0; 0]]%Z [8; 1]%Z (volume_of 3 1 1 [[[1]]; [[2]]; [[3]]]%Z)) =
  [[[323]]; [[0.75]]].
Proof. evaluate. Qed.

Example sum_of_three :
  shown (computed Add [two_planes; two_planes; volume_of 2 1 2 [[[10; 20]]; [[30; 40]]]%Z]) = [[[12; 24]]; [[36; 48]]].
Proof. evaluate. Qed.

Example one_after_another :
  shown (computed Concat [two_planes; volume_of 1 1 2 [[[5; 6]]]%Z; two_planes]) =
  [[[1; 2]]; [[3; 4]]; [[5; 6]]; [[1; 2]]; [[3; 4]]].
Proof. evaluate. Qed.

(** Entry by entry; a number for each channel, and one for each place. *)
Example product_of_two : shown (computed Multiply [two_planes; two_planes]) = [[[1; 4]]; [[9; 16]]].
Proof. evaluate. Qed.
Example product_by_channel :
  shown (computed Multiply [two_planes; volume_of 2 1 1 [[[10]]; [[-1]]]%Z]) = [[[10; 20]]; [[-3; -4]]].
Proof. evaluate. Qed.
Example product_by_place :
  shown (computed Multiply [two_planes; volume_of 1 1 2 [[[10; -1]]]%Z]) = [[[10; -2]]; [[30; -4]]].
Proof. evaluate. Qed.

Definition signs : volume := volume_of 1 1 3 [[[-8; 0; 8]]]%Z.
Example relu_of_signs : shown (computed Relu [signs]) = [[[0; 0; 8]]].
Proof. evaluate. Qed.
Example leaky_relu_of_signs : shown (computed (LeakyRelu (Fraction 1 4)) [signs]) = [[[-2; 0; 8]]].
Proof. evaluate. Qed.

Example clamp_of_signs : map (clamped (real (Fraction (-1) 2)) (real (Fraction 6 1))) [-8; 0; 5; 8] = [-0.5; 0; 5; 6].
Proof.
  unfold clamped, real, q, Rmin, Rmax. cbn [map numerator denominator].
  repeat (apply f_equal2; [repeat destruct (Rle_dec _ _); lra|]). reflexivity.
Qed.

(** Where a number is not positive, no latents are given, and nothing is accepted. *)
Example inverse_root_at : inverse_root 4 = 1 / 2.
Proof. unfold inverse_root. replace 4 with (2 * 2) by lra. rewrite sqrt_square; lra. Qed.
Definition of_a_root (v : Z) : network * picture :=
  (Network 1 1 1 [Fraction 0 1] [Fraction 1 1] [Layer [0%nat] InverseRoot], [v]).
Example no_root_of_nothing : ~ gives_latents (fst (of_a_root 0)) (snd (of_a_root 0)).
Proof.
  intros [_ [P _]]. specialize (P 0%nat 0%nat 0%nat ltac:(cbn; auto) ltac:(cbn; auto) ltac:(cbn; auto)).
  cbn in P. unfold real, q in P. cbn in P. lra.
Qed.
Example root_enclosed :
  enclosed_output 1000 12 (fst (of_a_root 0)) (snd (of_a_root 0)) = None /\
  option_map (fun e => found e 0 0 0) (enclosed_output 1000 12 (fst (of_a_root 51)) (snd (of_a_root 51))) =
  Some (2236, 2237)%Z.
Proof. split; vm_compute; reflexivity. Qed.

Example logistic_at : logistic 0 = 1 / 2 /\ logistic (ln 3) = 3 / 4.
Proof.
  unfold logistic. split; [rewrite Ropp_0, exp_0|rewrite exp_Ropp, exp_ln by lra]; lra.
Qed.
Example hyperbolic_at : hyperbolic 0 = 0 /\ hyperbolic (ln 3) = 4 / 5.
Proof.
  unfold hyperbolic. split; [rewrite Ropp_0, exp_0|rewrite exp_Ropp, exp_ln by lra]; lra.
Qed.

(** Entries outside are left out of a maximum, also where all others are negative; in an average they count as 0. *)
Definition negative : volume := volume_of 1 3 3 [[[-1; -2; -3]; [-4; -5; -6]; [-7; -8; -9]]]%Z.
Example greatest_of_windows :
  shown (max_pool2d (Windows (2, 3) (2, 3) (1, 1) (1, 1))%nat negative) = [[[-1]; [-4]]].
Proof. evaluate. Qed.
Example mean_of_windows :
  shown (avg_pool2d (Windows (2, 3) (2, 3) (1, 1) (1, 1))%nat negative) = [[[-0.5]; [-4]]].
Proof. evaluate. Qed.

Definition planes_and_rows : volume := volume_of 2 2 3 [[[0; 1; 2]; [3; 4; 5]]; [[6; 7; 8]; [9; 10; 11]]]%Z.
Example in_one_row : shown (flattened planes_and_rows) =
  map (fun k => [[IZR k]]) [0; 1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 11]%Z.
Proof. evaluate. Qed.

Example twice_and_thrice :
  shown (upsampled (2, 3)%nat (volume_of 1 2 1 [[[1]; [2]]]%Z)) = [[[1; 1; 1]; [1; 1; 1]; [2; 2; 2]; [2; 2; 2]]].
Proof. evaluate. Qed.

(** * A network *)

(** Two channels of 1 x 2, mean 1 / 5 and 0, std 1 / 5 and 2. Layer 1: both channels, and their sum with the weights 1
    and 10. Layer 2: relu of layer 1. Layer 3: layer 2 and layer 1 added. *)
Definition residual : network :=
  Network 2 1 2 [Fraction 1 5; Fraction 0 1] [Fraction 1 5; Fraction 2 1]
    [Layer [0%nat] (Conv2d (Windows (1, 1) (1, 1) (0, 0) (1, 1))%nat 1 1 [[1; 0]; [0; 1]; [1; 10]]%Z [0; 0; 0]%Z);
     Layer [1%nat] Relu;
     Layer [2%nat; 1%nat] Add].
Definition bytes : picture := [0; 102; 255; 51]%Z.

Example normalised_bytes : shown (normalised residual bytes) = [[[-1; 1]]; [[0.5; 0.1]]].
Proof. evaluate. Qed.

(** Two patches of three coordinates each. *)
Example latents_of_the_network :
  network_patches residual bytes = 2%nat /\
  map (fun l => map (network_latents residual bytes l) [0; 1; 2]%nat) [0; 1]%nat = [[-1; 1; 8]; [2; 0.2; 4]].
Proof. split; [reflexivity|evaluate]. Qed.

(** Enclosed on the grid of 1 / 1000: the ends of those numbers. *)
Example latents_enclosed :
  option_map (fun e => map (fun x => map (fun c => found e c 0 x) [0; 1; 2]%nat) [0; 1]%nat)
    (enclosed_output 1000 12 residual bytes) =
  Some [[(-1000, -1000); (1000, 1000); (8000, 8000)]; [(2000, 2000); (200, 200); (4000, 4000)]]%Z.
Proof. vm_compute. reflexivity. Qed.

(** A byte too much, or one above 255, is refused. *)
Example no_picture :
  enclosed_output 1000 12 residual (bytes ++ [0])%Z = None /\
  enclosed_output 1000 12 residual [0; 102; 256; 51]%Z = None.
Proof. split; vm_compute; reflexivity. Qed.

(** * The class of a picture *)

(** Prototypes (-1, 1, 8) and (2, 0, 4), similarity -|z - p|^2, logits a_0 and a_1: 0 and -1 / 25, as the latents are
    (-1, 1, 8) and (2, 1 / 5, 4). *)
Definition nearest : head :=
  Head 3 2 2 Euclidean Negated MaxPool Linear 1 [[-1; 1; 8]; [2; 0; 4]]%Z (Some (-9)%Z) (Some 9%Z)
    1 [[1; 0]; [0; 1]]%Z [0; 0]%Z 1 nil 1 nil.

(** a_0 >= -1/64 and a_1 <= -2/64, so class 0 leads by 1/64. *)
Definition first_class : certificate :=
  Certificate 0 2 64 [AboutActivation 0 (Some (-1)%Z) None; AboutActivation 1 None (Some (-2)%Z)] 64 [0; 1]%Z.
Definition settings_here : settings := Settings 4294967296 4294967296 12.
Definition grid_here : positive := 1099511627776.

Example pictured_here : pictured nearest first_class residual bytes.
Proof. apply (check_picture_sound nearest settings_here first_class grid_here). vm_compute. reflexivity. Qed.

Example class_of_the_picture : network_gives nearest residual bytes 0 (margin first_class).
Proof.
  apply (check_classified_picture nearest settings_here settings_here nil first_class
    (Hints 1 nil nil nil nil (Links nil nil) (Links nil nil) (Turns nil nil) (Turns nil nil)) grid_here residual bytes);
    vm_compute; reflexivity.
Qed.

(** With one byte changed the first statement is not true of the picture, and the claim is refused. *)
Example not_pictured :
  check_picture (prepare nearest settings_here) first_class grid_here residual [10; 102; 255; 51]%Z = false.
Proof. vm_compute. reflexivity. Qed.

(** The same claim of observables of single patches, for the other geometries: ends of 64 m_lj. *)
Definition of_geometry (g : geometry) : head :=
  Head 3 (match g with Softmax => 3 | _ => 2 end)%nat 2 g Identity MaxPool Linear 1 [[-1; 1; 8]; [2; 0; 4]]%Z None None
    1 [[1; 0; 0]; [0; 1; 0]]%Z [0; 0]%Z 1 nil 1 nil.
Definition about (lo hi : Z) : certificate :=
  Certificate 0 2 64 [AboutPatch 1 1 (Some lo) (Some hi)] 64 [0; 1]%Z.
Definition proved_of (g : geometry) (lo hi : Z) : bool :=
  check_picture (prepare (of_geometry g) settings_here) (about lo hi) grid_here residual bytes.

(** Patch 1 is (2, 1 / 5, 4): its squared distance to (2, 0, 4) is 1 / 25, their product 20, their cosine
    (20 / 20.04)^(1/2) = 0.999, and the mass of its coordinate 1 is exp 0.2 / (exp 2 + exp 0.2 + exp 4) = 0.0193. *)
Example ranges_of_observables :
  map (fun x => proved_of (fst x) (fst (snd x)) (snd (snd x)))
    [(Euclidean, (2, 3)); (Euclidean, (3, 4)); (InnerProduct None, (1279, 1281)); (InnerProduct None, (1281, 1290));
     (InnerProduct (Some (Fraction 9 1)), (1279, 1281)); (InnerProduct (Some (Fraction 8 1)), (1279, 1281));
     (Cosine (Fraction 0 1), (63, 64)); (Cosine (Fraction 1 1), (52, 53)); (RootedCosine (Fraction 1 1), (62, 63));
     (Softmax, (1, 2)); (Softmax, (2, 3))]%Z =
  [true; false; true; false; true; false; true; true; true; true; false].
Proof. vm_compute. reflexivity. Qed.
