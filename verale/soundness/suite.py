"""The sections of `verale soundness`: what each tries, how much of it, and what is wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Outcome = tuple[int, str, tuple[str, ...]]
"""How much was tried, the same in words, and what is wrong, a line each."""


@dataclass(frozen=True)
class Section:
    """One kind of attempt.

    Attributes:
        name: as `--only` takes it.
        needs: the extras that it needs.
        try_it: tries it, given whether to try everything (`--long`) and a seed.
    """

    name: str
    needs: tuple[str, ...]
    try_it: Callable[[bool, int], Outcome]


@dataclass(frozen=True)
class Result:
    """What came of the section of that name: how much was tried, the same in words, what is wrong, and the processor
    time that it took. These are the fields of the JSON object of `verale soundness --json`."""

    section: str
    tried: int
    detail: str
    wrong: tuple[str, ...]
    seconds: float


def run(names: tuple[str, ...], long: bool, seed: int) -> Iterator[Result]:
    """The results of some sections, each as soon as it is done. An exception of a section passes through."""
    for section in SECTIONS:
        if section.name in names:
            start = time.process_time()
            outcome = section.try_it(long, seed)
            yield Result(section.name, *outcome, round(time.process_time() - start, 3))


def _lemmas(long: bool, seed: int) -> Outcome:
    from verale.soundness.lemmas import lemmas, run

    outcomes = {name: run(lemma) for name, lemma in lemmas().items()}
    proved, refuted = sum(each.proved for each in outcomes.values()), sum(each.refuted for each in outcomes.values())
    wrong = tuple(f"{name}: {failure}" for name, each in outcomes.items() for failure in each.failures)
    return len(outcomes), f"lemmas: {proved} cases proved, {refuted} false twins refuted", wrong


def _emitted(long: bool, seed: int) -> Outcome:
    import torch

    from verale.soundness.compare import emitted, unproved

    torch.set_num_threads(1)
    heads = 400 if long else 20
    tried, wrong = unproved(emitted(range(heads * seed, heads * (seed + 1)), 6), "arb")
    return tried, f"certificates of {heads} heads", tuple(wrong)


def _corpora(long: bool, seed: int) -> Outcome:
    from verale.checker.options import KERNELS
    from verale.soundness.corpus.cases import FOLDERS, stored

    cases = stored(*FOLDERS)
    wrong = tuple(
        f"{case.name} ({kernel}): expected {' '.join(case.expected)}, found {' '.join(verdict)}"
        for case in cases
        for kernel in KERNELS
        if not case.allows(verdict := case.verdict(kernel))
    )
    counts = Counter(case.name.partition("/")[0] for case in cases)
    detail = f"verdicts by {len(KERNELS)} kernels; {counts['deployment']} cases of deployed heads, "
    detail += f"{counts['least']} of least sizes, {counts['picture']} of pictures, {counts['origins']} of origins"
    return len(cases) * len(KERNELS), detail, wrong


def _agreement(long: bool, seed: int) -> Outcome:
    from itertools import chain

    import torch

    from verale.checker.errors import KernelError
    from verale.checker.proved.program import find_program
    from verale.soundness import compare
    from verale.soundness.corpus.cases import stored

    try:
        find_program()
    except KernelError as error:  # a choice of the installation, as an extra is, and no finding
        return 0, f"certificates compared: {error}", ()
    torch.set_num_threads(1)
    heads, images = (2000, 50) if long else (60, 1)
    emitted = compare.emitted(range(heads * seed, heads * (seed + 1)), 1)
    groups = chain(compare.corpora(long), compare.opened(seed), emitted, compare.demo(images))
    kinds: Counter[str] = Counter()
    wrong: list[str] = []
    for each in compare.compared(groups):
        kinds[each.kind] += 1
        wrong += each.wrong
    detail = f"certificates by all kernels; `proved` proves {kinds['more']} more and {kinds['less']} less"
    detail += f"; {len(stored('deployment'))} of deployed heads, which it does not cover, left out"
    return kinds.total(), detail, tuple(wrong)


SECTIONS = (
    Section("lemmas", ("soundness",), _lemmas),
    Section("emitted", ("explain",), _emitted),
    Section("corpora", (), _corpora),
    Section("agreement", ("explain",), _agreement),
)
