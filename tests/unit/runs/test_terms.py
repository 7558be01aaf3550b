"""The terms of Rocq: what a file holds, and nothing that a text from elsewhere would rather say."""

from __future__ import annotations

from array import array
from fractions import Fraction
from pathlib import Path

import pytest
from support import files
from support.cases import every

from verale.checker import Auditor
from verale.checker.certificate import read_certificate
from verale.checker.errors import ExecutableError, FormatError, RefutedError, UnprovedError
from verale.checker.head import read_head
from verale.checker.read.latents import Image
from verale.checker.verdict import Status
from verale.paradigms import PARADIGMS
from verale.runs import terms
from verale.runs.arguments import HeadFile
from verale.runs.terms import certificate_term, head_term, hints_terms, image_term, settings_term
from verale.runs.theorem import Theorems
from verale.soundness.corpus.cases import Case, stored
from verale.soundness.paths import CERTIFICATES

POINTS = [[0.5, -0.75], [3.0, 2.0**-3]]
WEIGHT = [[1.0, 0.0], [0.0, 1.5]]
ACCEPT = CERTIFICATES / "accept"


def of_head(*arguments: object, **changes: object) -> str:
    return " ".join(head_term(read_head(files.head(*arguments, **changes))).split())


def test_a_head() -> None:
    """The fields of the record `head` of Semantics.v, in their order."""
    assert of_head(WEIGHT, POINTS, [0.5, -1.0]) == (
        "(Head 2%nat 2%nat 2%nat Euclidean (LogRatio (Fraction 1 1024%positive)) MaxPool Linear 8%positive"
        " [[4; (-6)]; [24; 1]] (Some 0) (Some 8) 2%positive [[2; 0]; [0; 3]] [1; (-2)] 1%positive [] 1%positive [])"
    )


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"domain": files.domain(-(2.0**-5), None)}, "(Some (-1)) None"),
        ({"geometry": files.cosine(0.0), "similarity": files.IDENTITY}, "(Cosine (Fraction 0 1%positive)) Identity"),
        (
            {"geometry": {"kind": "rooted_cosine", "epsilon": "0x1.8p-1"}, "similarity": {"kind": "rectified"}},
            "(RootedCosine (Fraction 3 4%positive)) Rectified",
        ),
        (
            {"geometry": {"kind": "inner_product", "radius": "0x1.8p+4"}, "similarity": {"kind": "quadratic"}},
            "(InnerProduct (Some (Fraction 24 1%positive))) Quadratic",
        ),
        (
            {"geometry": {"kind": "inner_product", "radius": None}, "similarity": files.IDENTITY},
            "(InnerProduct None) Identity",
        ),
        ({"similarity": {"kind": "exp_distance", "epsilon": "0x0p+0"}}, "(ExpDistance (Fraction 0 1%positive))"),
        ({"similarity": {"kind": "negated"}}, "Euclidean Negated"),
        ({"similarity": {"kind": "exponential"}}, "Euclidean Exponential"),
        ({"pooling": {"kind": "banks", "class_token": 1}}, "(MaskedMax [[1; 0]; [0; 1]]) Linear"),
        ({"pooling": {"kind": "top_mean", "k": 26}}, "(TopMean 26%nat) Linear"),
        ({"pooling": {"kind": "max_minus_mean"}}, " MaxMinusMean Linear"),
        ({"pooling": {"kind": "max_minus_mean_distance"}}, " MaxMinusMeanDistance Linear"),
    ],
)
def test_parts_of_heads(changes, part) -> None:
    assert part in of_head(WEIGHT, POINTS, **changes)


def test_a_softmax_a_tree_and_maxima() -> None:
    threshold = {"kind": "threshold", "threshold": "0x1p-2"}
    softmax = of_head(WEIGHT, geometry=files.SOFTMAX, similarity=threshold)
    assert " Softmax (Threshold (Fraction 1 4%positive)) MaxPool Linear 1%positive [] (Some 0) " in softmax
    tree = {"kind": "soft_tree", "absent": [1, -1], "present": [-2, -3]}
    leaves = [[1.0, 0.0, 2.0], [0.0, 1.0, 4.0]]
    assert "(SoftTree [1; (-1)] [(-2); (-3)])" in of_head(
        leaves, POINTS, similarity={"kind": "exponential"}, readout=tree
    )
    assert " MaxPool Maximum " in of_head([[1.0, 0.0], [1.0, 1.0]], POINTS, [0.0, 0.25], readout={"kind": "maximum"})


def test_a_certificate() -> None:
    certificate = read_certificate((ACCEPT / "floor-and-ceiling.ale.json").read_bytes())
    term = " ".join(certificate_term(certificate).split())
    assert term.startswith(f"(Certificate {certificate.predicted}%nat {certificate.patches}%nat ")
    assert term.count("(AboutOthers [") == 2 and term.count("(AboutActivation ") + 2 == len(certificate.statements)
    assert " None (Some " in term and ") None)" in term  # a ceiling, a floor
    margins = [0 if margin is None else margin for margin in certificate.margins]
    unit = max(Fraction(margin).denominator for margin in margins)
    assert term.endswith(f"] {unit}%positive [{'; '.join(str(int(margin * unit)) for margin in margins)}])")


def test_an_image_is_its_rows() -> None:
    assert image_term(Image(array("d", [0.5, -0.25, 3.0, 0.0]), 2)) == "(Image 4%positive\n [[2; (-1)];\n [12; 0]])"


def test_large_matrices_are_of_machine_integers_where_they_fit(monkeypatch) -> None:
    monkeypatch.setattr(terms, "MOST_PLAIN", 3)
    image = Image(array("d", [1.0, -2.0, 3.0, 0.0]), 2)
    assert image_term(image) == "(Image 1%positive\n (map (map Sint63.to_Z) [[1; -2];\n [3; 0]]%sint63))"
    assert image_term(Image(array("d", [2.0**62, 1.0]), 2)).endswith("[[0x4000000000000000; 1]])")
    for end in (-(2.0**62), 2.0**62):
        large = image_term(Image(array("d", [end, 1.0, 1.0, 1.0]), 2))
        assert ("Sint63" in large) == (end < 0), end


SETTINGS = "40 100 c"
HINTS = (
    f"{SETTINGS} -5 3 unclaimed at_least -2 at_most 3 1 2 1 -1 9 1 1 7 1 4 1 2 some 5 1 6 none"
    " 1 3 2 a b 1 0 8 1 2 -9 2 none some -1 1 some 3 4 0 0 0 0 0 1 some 1 2 3"
)


def test_settings_and_hints() -> None:
    assert settings_term(SETTINGS) == "(Settings 64%positive 256%positive 12%nat)"
    settings, hints = hints_terms(HINTS)
    assert settings == settings_term(SETTINGS)
    assert hints == (
        "(Hints (-5) [Unclaimed; (AtLeast (-2)); (AtMost 3)]"
        " [(PatchHints [1; (-1)] 9 [[7]] [4%nat] [(2%nat, (Hint (Some (5, [6])) None))])]"
        " [(3%nat, [10; 11])] [(0%nat, (JointHint 8%positive [2] (-9)))]"
        " (Links [None; (Some (-1))] [(Some (3%nat, 4))]) (Links [] []) (Turns [] [])"
        " (Turns [] [(Some (1%nat, (2, 3)))]))"
    )


@every(
    ("old", "new"),
    [
        ("unclaimed", "Unclaimed"),
        ("unclaimed", "unclaimed)."),
        ("unclaimed", "axiom"),
        ("at_most 3", "at_most 03"),
        ("at_most 3", "at_most 0x3"),
        ("at_most 3", "at_most 3%nat"),
        ("at_most 3", "at_most \uff13"),
        ("at_most 3", "at_most"),
        ("at_most 3", "at_most 3).\n"),
        ("at_most 3", "at_most -0"),
        ("40 100 c", "0 100 c"),
        ("40 100 c", "40 -100 c"),
        ("40 100 c", "40 100 -c"),
        ("1 4 1 2 some", "1 -4 1 2 some"),
        ("1 0 8 1 2 -9", "1 0 0 1 2 -9"),
        (" 3 unclaimed", " ffffffffffff unclaimed"),
        (" 3 unclaimed", "  3 unclaimed"),
        ("1 2 3", "1 2 3 4"),
        ("1 2 3", "1 2"),
        ("1 2 3", "1 2 Admitted."),
        ("some 1 2 3", "some " + "f" * 4000 + " 2 3"),
    ],
)
def test_what_is_no_hint_is_written_nowhere(old, new) -> None:
    """The executable need not be believed: whatever it says, a file of theorems holds terms that this module made."""
    text = new.join(HINTS.rsplit(old, 1))
    assert text != HINTS
    with pytest.raises(ExecutableError, match="nothing is written"):
        hints_terms(text)


CASES = [case for case in stored() if case.name.split("/")[0] in ("accept", "reject") and case.head is not None]
_STATUSES = {FormatError: Status.MALFORMED, RefutedError: Status.REFUTED, UnprovedError: Status.NOT_PROVED}


def stated(case: Case, folder: Path) -> Status:
    """PROVED if there is a statement, otherwise what an audit would say instead."""
    if case.latents is not None:
        (folder / "latents").write_bytes(case.latents)
    prover = Theorems(HeadFile("head", case.head), None if case.latents is None else str(folder / "latents"))
    try:
        found = prover.theorem(case.certificate)
    except tuple(_STATUSES) as error:
        return _STATUSES[type(error)]
    assert prover.term.startswith("(Head ") and found.certificate.startswith("(Certificate ")
    assert found.settings.startswith("(Settings ") and found.hints.startswith("(Hints ")
    assert found.certificate.startswith(f"(Certificate {found.predicted}%nat ")
    assert (found.instance is None) == (case.latents is None or b'"instance"' not in case.certificate)
    return Status.PROVED


def drawn(one_in: int) -> list[Case]:
    """One in so many cases of each paradigm, and of those that name none."""
    of: dict[str, list[Case]] = {}
    for case in CASES:
        named = [name for name in PARADIGMS if f'"paradigm": "{name}"'.encode() in case.certificate]
        of.setdefault(",".join(named), []).append(case)
    assert {*PARADIGMS} <= {*of}
    return [case for cases in of.values() for case in cases[::one_in]]


@pytest.mark.parametrize("one_in", [32, pytest.param(4, marks=pytest.mark.long)])
def test_what_is_audited_is_stated(one_in, proved_checker, monkeypatch, tmp_path) -> None:
    """Of what is not proved there is no statement, so no file that does not compile."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    found = []
    for case in drawn(one_in):
        audited = Auditor(case.head, case.latents, "proved").check(case.certificate).status
        assert stated(case, tmp_path) is audited, case.name
        found.append(audited)
    assert len(set(found)) >= 3, "some are proved, some are not, some are refuted or malformed"
