"""Files read again, and claims that contradict them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flint
import pytest

from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import PRECISION, balls
from verale.soundness.independent.claim import Claim, Evaluations
from verale.soundness.independent.readers import WrongError, read_json, read_latents, read_tensors

IMAGE = [[0.5, 0.25], [0.75, 0.5]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.25], [1.0, 1.0]], [1.0, 0.0])
STATED = [files.patch_statement(1, 0, 0.125, 0.125)]


def claim(statements: list[Any] = STATED, latents: bytes | None = None, **options: Any) -> Claim:
    """The claim of a certificate about IMAGE."""
    document = files.document(HEAD, statements, **({"patches": 2, "image": IMAGE} | options))
    return Claim.read(files.encode(document), HEAD, files.latents([IMAGE]) if latents is None else latents)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": 0.5}', '{"a": NaN}', '{"a": 1e3}'])
def test_json_with_a_repeated_key_or_another_number_is_refused(text: str) -> None:
    with pytest.raises(WrongError):
        read_json(text.encode())


def test_both_layouts_of_latents_read_alike() -> None:
    assert read_latents(files.latents([IMAGE, IMAGE])) == [IMAGE, IMAGE]
    assert read_latents(files.latents_nchw([IMAGE], 1, 2)) == [IMAGE]
    with pytest.raises(WrongError, match="not finite"):
        read_tensors(files.latents([[[float("inf")]]]))


def test_a_true_claim_is_true_of_its_image() -> None:
    with flint.ctx.workprec(PRECISION):
        claim().require_instance()


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("another head", lambda: Claim.read(files.certificate(HEAD + b"x", STATED), HEAD, None)),
        ("another image", lambda: claim(latents=files.latents([IMAGE[::-1]]))),
        ("number of patches", lambda: claim(patches=3)),
        ("one margin for each rival", lambda: claim(margins=[None, None])),
        ("not positive", lambda: claim(margins=[None, 0.0])),
        ("the same thing", lambda: claim(STATED * 2)),
        ("does not exist", lambda: claim([files.patch_statement(2, 0, 0.0, 1.0)])),
        ("not true", lambda: claim([files.patch_statement(1, 0, 0.0, 0.0625)]).require_instance()),
        ("not true", lambda: claim([files.activation_statement(0, 0.0, 0.5)]).require_instance()),
        ("not true", lambda: claim([files.order_clause([0], 0.0)]).require_instance()),
    ],
)
def test_a_contradiction_is_an_error(message: str, wrong: Callable[[], object]) -> None:
    with flint.ctx.workprec(PRECISION), pytest.raises(WrongError, match=message):
        wrong()


def test_a_counterexample_satisfies_the_statements_and_falls_short() -> None:
    near, far = balls(IMAGE), balls([[1.0, 1.0], [0.75, 0.5]])
    with flint.ctx.workprec(PRECISION):
        one = claim(margins=[None, 1.0])
        evaluations = Evaluations(one.head)
        assert one.counterexample(evaluations, [near]) is None
        assert one.counterexample(evaluations, [near, far]) is far
        assert one.counterexample(evaluations, [balls([[1.0, 1.0], [1.0, 1.0]])]) is None  # breaks the statement
