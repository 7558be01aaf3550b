"""`python -m proofs.errata`: published statements with the models that Z3 finds against them, corrected ones proved.

The exit code is 1 if a statement is not refuted, or a corrected one not proved.
"""

from __future__ import annotations

import sys

import z3

from ..lemma import Case, Lemma, LemmaError
from . import cap_upper, caps, negative_activations, raw_prototypes, unstated_mean, wide_angles

LEMMAS: dict[str, Lemma] = {
    module.__name__.split(".")[-1]: module.LEMMA
    for module in (caps, cap_upper, wide_angles, negative_activations, unstated_mean, raw_prototypes)
}


def main() -> None:
    failed = False
    for name, lemma in LEMMAS.items():
        print(f"\n{name}")
        for case, twin in (*((each, True) for each in lemma.twins), *((each, False) for each in lemma.cases)):
            try:
                print(f"  {answer(case, twin)}")
            except LemmaError as failure:
                failed = True
                print(f"  FAILED   {failure}")
    sys.exit(failed)


def answer(case: Case, twin: bool) -> str:
    """What Z3 says of a case, or of a twin. Raises LemmaError."""
    if not twin:
        case.prove(z3.Context())
        return f"proved   {case.says}"
    model = case.refute(z3.Context())
    values = ", ".join(sorted(f"{symbol} = {model[symbol]}" for symbol in model if symbol.arity() == 0))
    return f"refuted  {case.says}\n             {values}"


if __name__ == "__main__":
    main()
