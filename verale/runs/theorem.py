"""Certificates as theorems of Rocq: one file with a head, certificates, hints, and the theorems of each certificate."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os.path import basename
from pathlib import Path

from verale.checker import CheckerError
from verale.checker.certificate import LARGEST, Certificate, read_certificate
from verale.checker.errors import FormatError, KernelError, RefutedError, UnprovedError
from verale.checker.limit import LIMIT
from verale.checker.options import AuditOptions
from verale.checker.proved.claims import ProvedAudit, ProvedClaims
from verale.checker.proved.program import find_program
from verale.checker.proved.text import image_text, prices_text
from verale.checker.read.latents import Image
from verale.checker.read.pictures import Picture
from verale.checker.subject import Subjects
from verale.checker.verdict import Status, Verdict
from verale.errors import InputError
from verale.files import CERTIFICATE_SUFFIX, LARGEST_LATENTS, read, write_atomically
from verale.runs.arguments import HeadFile, certificate_bytes
from verale.runs.terms import certificate_term, head_term, hints_terms, image_term, settings_term
from verale.version import __version__

_OUTSIDE = re.compile(r"[^A-Za-z0-9._+-]")
_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")

# What the file defines is called after certificates, whose names strangers choose: a word such as `entailed_`, and the
# name. No such word begins with another one, so nothing is defined twice. No name of the theories that is used without
# its module begins with such a word, so none is hidden by what the file defines.
_INTRODUCTION = """\
(* {count} of one head as theorems, written by `verale export rocq` of verale {version}.

   What is stated: of each certificate NAME `entailed_NAME : entails the_head certificate_NAME`. All latents in the
   head's domain that satisfy every statement of the certificate get the predicted class: each rival's logit stays below
   that of the class by at least the certificate's margin. Where the image's latents are here, `instance_NAME` says that
   they lie in the domain and satisfy the statements, and `classified_NAME` what follows: the head gives the image this
   class.

   What has to be believed: that the terms `the_head`, `certificate_NAME` and `image_NAME` are what the files hold whose
   SHA-256 stand beside them; the definitions of Semantics.v (and, for `classified`, the first one of Classified.v); and
   Rocq. Not the settings and hints: with others a proof fails, or holds too.

   To check it:  make -C ROCQ theories BUILD=$PWD/build
                 coqc -Q build/rocq/theories Verale {file}
   ROCQ is proofs/rocq in verale's sources, and verale/soundness/proofs/rocq in the installed package.
   The last command of this file prints the axioms: those of Coq's real numbers and classical logic{machine}. *)
"""
_MACHINE = """,
   and of machine integers (PrimInt63, Uint63), in which large matrices are written: `Sint63.to_Z` makes integers of
   them. Products of prototypes are computed with them too, where statements are about patches"""
_REQUIRED = """\
From Coq Require Import ZArith List{machine}.
From Verale Require Import Semantics Hypersphere Metric Joint Lipschitz Angles Check CheckImage Classified{products}.
Import ListNotations.
Open Scope Z_scope.
"""
_HEAD = """
(* {file}, SHA-256 {sha256} *)
Definition the_head : head :=
{head}.
"""
_PLANES = """
(* The prototypes as machine integers, with which their products are computed. *)
Definition the_planes := planes the_head.
"""
_PREPARED = """
(* Computed once, for all certificates with these settings. *)
Definition {prepared} : prepared := prepare the_head {settings}.
Lemma ready_{prepared} : ready the_head {prepared}.
Proof. exact (prepare_ready _ _). Qed.
"""
_ENTAILED = """
(* {file}, SHA-256 {sha256} *)
Definition certificate_{name} : certificate :=
{certificate}.
Definition hints_{name} : hints :=
{hints}.
Definition learned_{name} : prepared := {learn} {before} certificate_{name}.
Lemma ready_learned_{name} : ready the_head learned_{name}.
Proof. exact ({ready} ready_{before}). Qed.
Theorem entailed_{name} : entails the_head certificate_{name}.
Proof.
  apply (check_ready_sound the_head learned_{name} certificate_{name} hints_{name} ready_learned_{name}).
  vm_cast_no_check (eq_refl true).
Qed.
"""
_INSTANCE = """\
Definition image_{name} : image :=
{image}.
Theorem instance_{name} : instance the_head certificate_{name} image_{name}.
Proof.
  apply (Verale.CheckImage.instance_proved_sound the_head {settings} certificate_{name} image_{name}).
  vm_cast_no_check (eq_refl true).
Qed.
Theorem classified_{name} : classified the_head image_{name} {predicted}%nat (margin certificate_{name}).
Proof.
  apply (Verale.Classified.entailed_instance_classified the_head certificate_{name} image_{name});
    [apply Nat.ltb_lt; reflexivity|exact entailed_{name}|exact instance_{name}].
Qed.
"""


@dataclass(frozen=True)
class Theorem:
    """The claims of a certificate, as terms of Rocq. Settings and hints, with which they are computed, need not be
    believed.

    Attributes:
        instance: of claim 2 the latents and the settings, where there are latents.
    """

    predicted: int
    certificate: str
    settings: str
    hints: str
    instance: tuple[str, str] | None


class _Hinted(ProvedClaims):
    """Claims that are proved by the hints which the program finds, and the latest of these.

    Attributes:
        hints: settings and hints of an entailment, as text.
        settings: of an instance.
    """

    hints = settings = ""

    def entails(self, certificate: Certificate) -> bool:
        prices = prices_text(certificate, self._head.count)
        answer = self._answer("entailment_hints", self._about(certificate, prices))
        self.hints = answer.why
        return answer.word == "hints"

    def holds(self, certificate: Certificate, seen: Image | Picture) -> bool:
        if not isinstance(seen, Image):
            return super().holds(certificate, seen)
        answer = self._answer("instance_settings", self._about(certificate, image_text(seen)))
        self.settings = answer.why
        return answer.word == "hints"


def names_of(files: Iterable[str]) -> list[str]:
    """For each certificate file what its theorems are called after: its name, as far as Rocq has such names, with a
    number if another one has it too."""
    names: dict[str, None] = {}
    for file in files:
        name = stem = _IN_NAMES.sub("_", basename(file).removesuffix(CERTIFICATE_SUFFIX)) or "_"
        number = 1
        while name in names:
            number += 1
            name = f"{stem}_{number}"
        names[name] = None
    return list(names)


class Theorems:
    """The theorems of certificates of one head, and how the proved checker proves them.

    Args:
        latents: the path of a latents file; without it no instance is stated.
        limit: the most seconds of processor time to find a proof for each megabyte of files.

    Attributes:
        term: the head.

    Raises:
        InputError: a file that cannot be used, or no program that finds proofs.
    """

    def __init__(self, head: HeadFile, latents: str | None, limit: float = LIMIT) -> None:
        self._head = head
        images = None if latents is None else read(latents, "a latents file (safetensors)", most=LARGEST_LATENTS)
        try:
            self._subjects, self._options = Subjects(head.data, images, limit), AuditOptions(limit=limit)
            self._claims = _Hinted(self._subjects.head, len(head.data), find_program(), limit=limit)
        except KernelError as error:
            raise InputError(*str(error).split(": ", 1)) from error
        except CheckerError as error:
            raise InputError(head.path if latents is None else f"{head.path}, {latents}", str(error)) from error
        self.term = head_term(self._subjects.head)
        self._stated: list[tuple[str, str, Theorem]] = []

    def theorem(self, data: bytes) -> Theorem:
        """The claims of a certificate's bytes, and how they are proved.

        Raises:
            FormatError, UnprovedError, RefutedError: as an audit by the kernel `proved` says it.
            ExecutableError, KernelError: the program fails, or changed.
        """
        certificate = read_certificate(data)
        subject = self._subjects.of(certificate, len(data), self._options)
        ProvedAudit(subject, claims=self._claims).prove()
        image = subject.image
        return Theorem(
            certificate.predicted,
            certificate_term(certificate),
            *hints_terms(self._claims.hints),
            None if image is None else (image_term(image), settings_term(self._claims.settings)),
        )

    def add(self, file: str) -> Verdict:
        """Find how a certificate is proved, and state it. The verdict says so, or what is not proved.

        Raises:
            InputError: the file cannot be read, or the program failed.
        """
        data = certificate_bytes(file, LARGEST + 1)
        try:
            theorem = self.theorem(data)
        except FormatError as error:
            return Verdict(Status.MALFORMED, "malformed", str(error))
        except RefutedError as error:
            return Verdict(Status.REFUTED, "refuted", str(error))
        except UnprovedError as error:
            return Verdict(Status.NOT_PROVED, error.reason, str(error))
        except CheckerError as error:
            raise InputError(file, str(error)) from error
        self._stated.append((file, hashlib.sha256(data).hexdigest(), theorem))
        return Verdict(Status.PROVED, "", "")

    def write(self, file: str | Path) -> None:
        """Write all that was stated. Raises InputError: the file cannot be written."""
        parts = theorem_file(str(file), self._head, self.term, self._stated)
        write_atomically(file, "".join(parts).encode("ascii"))


def theorem_file(file: str, head: HeadFile, term: str, stated: Sequence[tuple[str, str, Theorem]]) -> Iterator[str]:
    """The parts of the file, in their order.

    Args:
        stated: of each certificate its file, its SHA-256 and what is stated.
    """
    instances = (theorem.instance for _, _, theorem in stated)
    machine = any("Sint63" in part for part in (term, *(one[0] for one in instances if one is not None)))
    count = "1 certificate" if len(stated) == 1 else f"{len(stated)} certificates"
    yield _INTRODUCTION.format(count=count, version=__version__, file=_told(file), machine=_MACHINE if machine else "")
    products = "Sint63" in term and any("AboutPatch" in theorem.certificate for _, _, theorem in stated)
    learn, ready = "learn", "learn_ready the_head _ _"
    yield _REQUIRED.format(machine=" Sint63" if machine else "", products=" MachineProducts" if products else "")
    yield _HEAD.format(file=_told(head.path), sha256=head.sha256, head=term)
    if products:
        learn, ready = "learn_by the_planes", "learn_by_ready the_head _ _"
        yield _PLANES
    latest: dict[str, str] = {}
    theorems: list[str] = []
    for name, (path, sha256, theorem) in zip(names_of(path for path, _, _ in stated), stated, strict=True):
        if theorem.settings not in latest:
            latest[theorem.settings] = f"prepared_{len(latest)}"
            yield _PREPARED.format(prepared=latest[theorem.settings], settings=theorem.settings)
        yield _ENTAILED.format(
            name=name,
            file=_told(path),
            sha256=sha256,
            certificate=theorem.certificate,
            hints=theorem.hints,
            before=latest[theorem.settings],
            learn=learn,
            ready=ready,
        )
        latest[theorem.settings] = f"learned_{name}"
        theorems.append(f"entailed_{name}")
        if (instance := theorem.instance) is not None:
            yield _INSTANCE.format(name=name, image=instance[0], settings=instance[1], predicted=theorem.predicted)
            theorems += [f"instance_{name}", f"classified_{name}"]
    yield f"\nDefinition all_theorems := ({', '.join(theorems)}, I).\nPrint Assumptions all_theorems.\n"


def _told(path: str) -> str:
    """The name of a file, in a comment: nothing in it ends the comment, or begins a text or another comment."""
    return _OUTSIDE.sub("_", basename(path))
