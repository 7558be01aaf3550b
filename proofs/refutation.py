"""One latent refutes: let z lie in the head's domain and satisfy every statement, and let a rival's logit at z be at
least the predicted one's. Then no margin > 0 is entailed. So a certificate that claims one is wrong, and no sound rules
prove it.

An enclosure of the activations at z is enough if the least difference o_rival - o_predicted over it is >= 0: then it is
>= 0 at z. A tie refutes, since margins are greater than 0. A difference that an enclosure does not decide does not
refute.

Proof. Entailment is about every latent of the domain that satisfies E, so about z, where o_predicted - o_rival <= 0.

Z3 covers it with the sort of latents left open, so they may be anything.

Reference: certificates/v1.md, "What is claimed" and "Verification", step 6; docs/design.md, 2.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

LATENT = z3.DeclareSort("Latent")
DOMAIN, STATEMENTS = (z3.Function(name, LATENT, z3.BoolSort()) for name in ("domain", "statements"))
PREDICTED, RIVAL = (z3.Function(name, LATENT, z3.RealSort()) for name in ("predicted", "rival"))
ANY, Z = z3.Consts("any z", LATENT)
LEAST, MARGIN, PROVED = z3.Reals("least margin proved")


def _entailed(margin: z3.ArithRef) -> z3.BoolRef:
    given = z3.And(DOMAIN(ANY), STATEMENTS(ANY))
    return z3.ForAll(ANY, z3.Implies(given, PREDICTED(ANY) - RIVAL(ANY) >= margin))


WITNESS = [DOMAIN(Z), STATEMENTS(Z)]
ENCLOSED = LEAST <= RIVAL(Z) - PREDICTED(Z)
WRONG = z3.Not(_entailed(MARGIN))

LEMMA = Lemma(
    rules=("refutation",),
    code=("verale/checker/reading/evaluation.py", "verale/checker/auditor.py"),
    cases=(
        Case("no margin is entailed", [*WITNESS, ENCLOSED, LEAST >= 0, MARGIN > 0], WRONG),
        Case("what is entailed is not refuted", [_entailed(MARGIN), MARGIN > 0, *WITNESS, ENCLOSED], LEAST < 0),
        Case("sound rules prove no margin of it", [*WITNESS, ENCLOSED, LEAST >= 0, _entailed(PROVED)], PROVED <= 0),
    ),
    twins=(
        Case("a latent that breaks a statement", [DOMAIN(Z), ENCLOSED, LEAST >= 0, MARGIN > 0], WRONG),
        Case("a latent outside the domain", [STATEMENTS(Z), ENCLOSED, LEAST >= 0, MARGIN > 0], WRONG),
        Case("a rival that may be ahead", [*WITNESS, ENCLOSED, LEAST < 0, MARGIN > 0], WRONG),
        Case("a tie, were a margin of 0 claimed", [*WITNESS, ENCLOSED, LEAST >= 0, MARGIN == 0], WRONG),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
