"""The auditor: the nine steps in their order, on whole files, in both kernels."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest
from support import arithmetic, files
from support.cases import every
from support.rationals import cosine_ends

from verale.checker import Auditor, Status, Verdict, check
from verale.checker.auditor import Exclusive
from verale.checker.errors import FormatError, UnprovedError
from verale.checker.numbers import StatementAt
from verale.checker.options import KERNELS

GENERATOR = random.Random(7)
PATCHES, DEPTH, COUNT, CLASSES = 3, 5, 8, 3
POINTS = [[GENERATOR.random() for _ in range(DEPTH)] for _ in range(COUNT - 1)]
POINTS.append(POINTS[0])  # a duplicate, as projection leaves them
WEIGHT = [[1.5 if j % CLASSES == c else -0.5 for j in range(COUNT)] for c in range(CLASSES)]
IMAGE = [[min(1.0, max(0.0, x + GENERATOR.gauss(0, 0.02))) for x in POINTS[patch]] for patch in (0, 3, 6)]
OTHER_IMAGE = [[GENERATOR.random() for _ in range(DEPTH)] for _ in range(PATCHES)]
LATENTS = files.latents([OTHER_IMAGE, IMAGE])


def head(geometry: str) -> bytes:
    if geometry == "euclidean":
        return files.head(WEIGHT, POINTS, similarity=files.log_ratio(1e-4))
    return files.head(WEIGHT, POINTS, geometry=files.cosine(1e-8), similarity=files.IDENTITY)


def statements(geometry: str) -> list[dict[str, Any]]:
    """Every observable, enclosed as narrowly as floats can."""
    result = []
    for patch, z in enumerate(IMAGE):
        for j, p in enumerate(POINTS):
            d = arithmetic.squared_distance(z, p)
            low, high = (d, d) if geometry == "euclidean" else cosine_ends(z, p, 1e-8)
            result.append(files.patch_statement(patch, j, arithmetic.below(low), arithmetic.above(high)))
    return result


HEADS = {geometry: head(geometry) for geometry in ("euclidean", "cosine")}


def document(geometry: str = "euclidean", **options: Any) -> dict[str, Any]:
    options = {"classes": CLASSES, "patches": PATCHES, "image": IMAGE} | options
    return files.document(HEADS[geometry], options.pop("stated", None) or statements(geometry), **options)


@pytest.fixture(params=[*KERNELS, "both"])
def auditor(request: pytest.FixtureRequest) -> Auditor:
    return Auditor(HEADS["euclidean"], LATENTS, request.param)


def reasons(verdict: Verdict) -> tuple[Status, str, int]:
    return verdict.status, verdict.reason, verdict.exit_code


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_a_true_certificate_is_proved(geometry: str, kernel: str) -> None:
    verdict = check(files.encode(document(geometry)), HEADS[geometry], LATENTS, kernel)
    assert reasons(verdict) == (Status.PROVED, "", 0)
    assert verdict.claims == {"entailment": "proved", "instance": "proved"}
    record = verdict.record()
    assert (record["predicted"], record["paradigm"], record["statements"]) == (0, "projection", PATCHES * COUNT)
    assert record["elements"] == {str(j): PATCHES for j in range(COUNT)}
    assert verdict.margins[0] is None
    assert all(margin is not None and margin > 0 for margin in verdict.margins[1:])


@every("geometry", ["euclidean", "cosine"])
def test_the_proved_margin_is_below_the_true_difference_and_close(geometry: str) -> None:
    """With every observable stated the bound is the difference of the logits, but for the floats' width."""
    margins = [
        check(files.encode(document(geometry, predicted=predicted)), HEADS[geometry], LATENTS, "arb").margins
        for predicted in range(CLASSES)
    ]
    for rival in range(1, CLASSES):
        margin, reverse = margins[0][rival], margins[rival][0]
        assert margin is not None and reverse is not None
        assert 0 <= -reverse - margin < Fraction(1, 10**9)


def test_without_latents_the_instance_is_not_checked() -> None:
    verdict = check(files.encode(document()), HEADS["euclidean"])
    assert reasons(verdict) == (Status.PROVED, "", 0)
    assert verdict.claims == {"entailment": "proved", "instance": "not checked"}
    by_rules = check(files.encode(document(minimality=True)), HEADS["euclidean"], None, "arb")
    assert by_rules.claims["minimality"] == "not checked"


def test_latents_that_no_claim_names_are_not_used(auditor: Auditor) -> None:
    verdict = auditor.check(files.encode(document(image=None)))
    assert reasons(verdict) == (Status.PROVED, "unclaimed", 14)
    assert verdict.claims == {"entailment": "proved", "instance": "not claimed"}
    assert "perhaps none satisfy the statements" in verdict.message


@pytest.mark.parametrize("minimality", [False, True])
def test_entailment_alone_is_accepted_where_it_is_asked_for(auditor: Auditor, minimality: bool) -> None:
    for options in ({"image": None}, {}):
        data = files.encode(document(**options))
        alone, both = (auditor.check(data, minimality=minimality, entailment_only=asked) for asked in (True, False))
        assert reasons(alone) == (Status.PROVED, "", 0)
        assert (alone.claims, alone.margins) == (both.claims, both.margins)
    failing = files.encode(document(stated=statements("euclidean")[:2], image=None))
    assert reasons(auditor.check(failing, entailment_only=True)) == (Status.NOT_PROVED, "entailment", 3)


@every("predicted", range(CLASSES))
def test_statements_that_contradict_each_other_entail_every_class_and_exit_code_0_is_for_none(predicted: int) -> None:
    """No activation of this head is 0, so the statements hold of no latents. Only the instance claim excludes that."""
    stated = [files.activation_statement(j, *[5.0 * (j % CLASSES == predicted)] * 2) for j in range(COUNT)]
    vacuous = files.encode(document(stated=stated, predicted=predicted, paradigm="top_k", image=None))
    verdict = check(vacuous, HEADS["euclidean"], LATENTS, "both")
    assert reasons(verdict) == (Status.PROVED, "unclaimed", 14)
    assert "entailment proved, no instance claimed" in verdict.line("x")


def test_the_margin_that_was_proved_can_be_stated_and_no_more(auditor: Auditor) -> None:
    proved = auditor.check(files.encode(document())).margins
    floats = [None if margin is None else arithmetic.below(margin) for margin in proved]
    assert auditor.check(files.encode(document(margins=floats))).status is Status.PROVED
    for rival in (1, 2):
        margin = proved[rival]
        assert margin is not None
        more = [*floats]
        more[rival] = arithmetic.above(margin) * (1 + 2**-50)
        verdict = auditor.check(files.encode(document(margins=more)))
        assert reasons(verdict) == (Status.NOT_PROVED, "margin", 3)
        assert f"rival {rival}" in verdict.message
        assert verdict.margins == proved


def test_another_head(auditor: Auditor) -> None:
    value = document()
    value["subject"][0]["digest"]["sha256"] = "0" * 64
    assert reasons(auditor.check(files.encode(value))) == (Status.NOT_PROVED, "subject", 6)
    changed = bytearray(HEADS["euclidean"])
    changed[-1] ^= 1
    assert check(files.encode(document()), bytes(changed)).reason == "subject"


def test_the_steps_run_in_their_order(auditor: Auditor) -> None:
    """Each certificate breaks two steps or more; the first decides."""

    def digest(document: dict[str, Any], place: int) -> None:
        document["subject"][place]["digest"]["sha256"] = "0" * 64

    def stating(document: dict[str, Any], **fields: Any) -> None:
        document["predicate"] |= fields

    cases: list[tuple[str, Callable[[dict[str, Any]], Any], dict[str, Any]]] = [
        ("malformed", lambda d: digest(d, 0) or d.update(x=1), {}),
        ("subject", lambda d: digest(d, 0), {"margins": [1.0]}),
        ("subject", lambda d: digest(d, 1), {"margins": [1.0]}),
        ("malformed", lambda d: stating(d, patches=2), {}),  # a patch out of range, and not the latents' number
        ("instance", lambda d: stating(d, patches=4), {"predicted": 1}),
        ("refuted", lambda d: stating(d, statements=[]), {"predicted": 1}),
        ("entailment", lambda d: stating(d, statements=[]), {"minimality": True}),
        ("margin", lambda d: None, {"margins": [None, 1e9, 1e9], "minimality": True}),
        ("minimality", lambda d: None, {"minimality": True}),
    ]
    for reason, change, options in cases:
        value = document(**options)
        change(value)
        assert auditor.check(files.encode(value), minimality=True).reason == reason


def test_a_billion_patches_cost_nothing(auditor: Auditor) -> None:
    value = document(image=None, patches=10**18 - 1)
    assert auditor.check(files.encode(value)).reason == "entailment"
    value["predicate"]["statements"] = []
    assert auditor.check(files.encode(value)).reason == "entailment"


# Refutation by a witness: REFUTED only if the latents satisfy every statement and are classified otherwise.


# Two classes, one prototype each, on the line: whoever is nearer wins. Only patch 0 is spoken of.
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]])
STATEMENTS = [files.patch_statement(0, 0, 0.0625, 0.0625)]
WITNESSED = [[0.25], [0.25]]
WITNESS = [[0.25], [1.0]]


def refute(witness: Any, kernel: str = "arb", data: bytes = HEAD, **options: Any) -> Verdict:
    options = {"patches": 2, "image": WITNESSED, "paradigm": "projection"} | options
    certificate = files.certificate(data, options.pop("statements", STATEMENTS), **options)
    return Auditor(data, kernel=kernel).refute(certificate, files.latents([witness]))


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
def test_a_counterexample_refutes_whatever_latents_are_named_and_nothing_else(kernel: str) -> None:
    for image in (WITNESSED, None):
        verdict = refute(WITNESS, kernel, image=image)
        assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.REFUTED, "refuted", 4)
        assert "rival 1" in verdict.message
        instance = "not claimed" if image is None else "not checked"
        assert verdict.claims == {"entailment": "not checked", "instance": instance}
        assert verdict.margins == ()
    verdict = refute(WITNESSED, kernel)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_REFUTED, "witness", 11)
    assert verdict.line("x").startswith("NOT_REFUTED  x  class 0  projection  1 statements  witness: ")


# Statements at one image: true, false, and what no number of bits decides.


OWN_DIRECTIONS = [[1.0, 0.0], [0.0, 1.0]]
COSINES: dict[str, Any] = {
    "geometry": files.cosine(0.0),
    "similarity": {"kind": "identity"},
    "domain": files.domain(0.0, 1.0),
}
OF_COSINES = files.head(OWN_DIRECTIONS, [[1.0, 1.0], [1.0, 0.0]], **COSINES)
ONE_IMAGE = files.latents([[[0.5, 0.5]]])
"""In the direction of the first prototype: the cosine is 1, through square roots of 2."""
DIGEST = files.digest([[0.5, 0.5]])


@pytest.fixture(params=["proved-or-arb", "arb", "mpmath", "both", "all", "proved"])
def kernel(request: pytest.FixtureRequest, proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    return str(request.param)


def at(kernel: str, *stated: dict[str, Any], paradigm: str = "projection", **options: Any) -> tuple[StatementAt, ...]:
    latents = options.pop("latents", DIGEST)
    document = files.document(options.pop("head", OF_COSINES), list(stated), paradigm=paradigm, **options)
    return Auditor(OF_COSINES, ONE_IMAGE, kernel).at_image(files.encode(document), latents)


TRUE = files.patch_statement(0, 0, 0.9, 1.5), files.patch_statement(0, 1, 0.5, 0.75)


def test_what_all_prove_is_true(kernel: str) -> None:
    """Statements of another head are about this one's prototypes; other latents, and other prototypes, are named."""
    assert at(kernel, *TRUE) == (StatementAt(True),) * 2
    other = files.head([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]], **COSINES)
    assert at(kernel, TRUE[1], head=other) == (StatementAt(True),)
    with pytest.raises(UnprovedError, match="no image of the latents file has the digest 00000") as raised:
        at(kernel, latents="0" * 64)
    assert raised.value.reason == "subject"
    with pytest.raises(FormatError, match="expected a prototype less than the head's 2"):
        at(kernel, files.patch_statement(0, 2, 0.0, 1.0))


def test_each_is_decided_by_the_reading(kernel: str) -> None:
    """Where not all are true the program decides none."""
    answers = at(kernel, TRUE[0], files.patch_statement(0, 1, 0.75, 1.0))
    if kernel in ("proved", "all"):
        assert answers == (StatementAt(None),) * 2
        return
    first, second = answers
    assert first == StatementAt(True) and second.true is False and second.value is not None
    assert second.value.low is not None and second.value.high is not None
    assert 2 * second.value.low**2 <= 1 <= 2 * second.value.high**2
    assert second.value.high - second.value.low < 2**-100


def test_what_is_not_decided_is_neither(kernel: str) -> None:
    (answer,) = at(kernel, files.patch_statement(0, 0, 1.0, 1.5))
    assert answer.true is None, "it is true; enclosures never say so"


@every(
    ("stated", "true"),
    [(files.order_clause([0], 0.75), True), (files.order_clause([0], 0.5), False),
     (files.floor([0], 0.5), True), (files.floor([0], 0.75), False),
     (files.activation_statement(1, 0.5, 0.75), True), (files.activation_statement(1, 0.75, 1.0), False)],
)  # fmt: skip
def test_clauses_and_activations_too(stated: dict[str, Any], true: bool) -> None:
    (answer,) = at("arb", stated, paradigm="mixed")
    assert answer.true is true
    if not true:
        assert answer.value is not None and answer.value.low is not None and answer.value.high is not None
        assert 2 * answer.value.low**2 <= 1 <= 2 * answer.value.high**2


def test_other_patches_are_no_answer() -> None:
    with pytest.raises(UnprovedError, match="have 1 patches, expected the certificate's 2") as raised:
        at("proved-or-arb", files.patch_statement(1, 0, 0.9, 1.5), patches=2)
    assert raised.value.reason == "instance"


# An auditor that threads, forks and copies share: each gets the verdict on what it asked about.


IMAGES = [[[0.0, 0.0]], [[1.0, 1.0]]]
SHARED_HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
NEAR = files.patch_statement(0, 0, 0.0, 2.0**-40)
GOOD = files.certificate(SHARED_HEAD, [NEAR], image=IMAGES[0])
OPEN = files.certificate(SHARED_HEAD, [], image=IMAGES[0])
SHARED_LATENTS = files.latents(IMAGES)
SHARED_KERNELS = ("proved-or-arb", "mpmath")
"""The first asks the program, and arb for what it does not prove."""


@pytest.fixture(params=["executable", "script"])
def auditor_of(request, monkeypatch, tmp_path) -> Callable[[str], Auditor]:
    """Makes auditors, whose program is the executable, or the script."""
    if request.param == "executable":
        monkeypatch.setenv("VERALE_PROVED", request.getfixturevalue("proved_checker"))
    else:
        pytest.importorskip("py_mini_racer", reason="the script is not run here, which takes mini-racer")
        monkeypatch.delenv("VERALE_PROVED", raising=False)
        for name in ("_BUILT", "_BROUGHT"):
            monkeypatch.setattr(f"verale.checker.proved.program.{name}", tmp_path / "none")
    return lambda kernel: Auditor(SHARED_HEAD, SHARED_LATENTS, kernel)


of_every_kernel = pytest.mark.parametrize(
    ("auditor_of", "kernel"),
    [*(("executable", name) for name in SHARED_KERNELS), ("script", "proved")],
    indirect=["auditor_of"],
)


def said(auditor: Auditor, certificate: bytes) -> str:
    return auditor.check(certificate).status.value


EXPECTED = [(GOOD, "PROVED"), (OPEN, "NOT_PROVED")] * 4


@of_every_kernel
def test_threads(kernel, auditor_of) -> None:
    auditor, meeting = auditor_of(kernel), threading.Barrier(len(EXPECTED))

    def ask(certificate: bytes) -> set[str]:
        meeting.wait()
        return {said(auditor, certificate) for _ in range(4)}

    with ThreadPoolExecutor(len(EXPECTED)) as pool:
        found = list(pool.map(ask, [certificate for certificate, _ in EXPECTED]))
    assert found == [{status} for _, status in EXPECTED]


_IN_CHILD: list[Auditor] = []
"""What a pool's processes find when they are forked."""


def _in_child(certificate: bytes) -> str:
    return said(_IN_CHILD[0], certificate)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
@of_every_kernel
def test_a_pool_that_is_forked_after_it_was_used(kernel, auditor_of) -> None:
    _IN_CHILD[:] = [auditor_of(kernel)]
    assert said(_IN_CHILD[0], GOOD) == "PROVED"
    certificates = [certificate for certificate, _ in EXPECTED]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(_in_child, certificates, chunksize=1)
    assert found == [status for _, status in EXPECTED]
    assert said(_IN_CHILD.pop(), OPEN) == "NOT_PROVED", "its parent goes on with its own"


FORKS = """
import os, sys
from pathlib import Path
from verale.checker import Auditor
head, certificate = Path("head").read_bytes(), Path("certificate").read_bytes()
auditor = Auditor(head, None, "proved")
def asked():
    assert auditor.check(certificate, entailment_only=True).status.value == "PROVED"
asked()
for does in ("pass", "del auditor", "asked()", "asked(); os._exit(0)"):
    if not (child := os.fork()):
        exec(does)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0, does
    asked()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_child_ends_whatever_it_does(auditor_of, tmp_path) -> None:
    (tmp_path / "head").write_bytes(SHARED_HEAD)
    (tmp_path / "certificate").write_bytes(files.certificate(SHARED_HEAD, [NEAR]))
    hidden = "from verale.checker.proved import program; program._BUILT = program._BROUGHT = '/none'\n"
    if not auditor_of("proved").executable.modules:
        hidden = ""
    (tmp_path / "forks.py").write_text(hidden + FORKS)
    done = subprocess.run([sys.executable, "forks.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_child_need_not_wait_for_a_thread_of_its_parent() -> None:
    exclusive, entered, leave = Exclusive(), threading.Event(), threading.Event()

    def stay() -> None:
        with exclusive.alone():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    entered.wait()
    child = os.fork()
    if child == 0:
        with exclusive.alone():
            os._exit(0)
    leave.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@of_every_kernel
def test_a_copy_is_another_auditor(kernel, auditor_of) -> None:
    auditor = auditor_of(kernel)
    assert said(auditor, GOOD) == "PROVED"
    for other in (copy.deepcopy(auditor), pickle.loads(pickle.dumps(auditor))):
        assert [said(other, GOOD), said(other, OPEN), said(auditor, GOOD)] == ["PROVED", "NOT_PROVED", "PROVED"]
        assert other.kernel == auditor.kernel and other._exclusive is not auditor._exclusive
