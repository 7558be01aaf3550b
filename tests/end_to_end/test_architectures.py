"""Every published architecture: its head is explained under its best paradigm and top_k, and the checker proves all.

By one kernel: tests/contract/test_capabilities.py has each part and paradigm by each.
"""

from __future__ import annotations

import pytest

from benchmarks.architectures import heads
from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import save_latents
from verale.search import best_paradigm
from verale.search.explain import explain

HEADS = heads()


@pytest.mark.parametrize("name", sorted(HEADS))
@pytest.mark.parametrize("paradigm", ["best", pytest.param("top_k", marks=pytest.mark.long)])
def test_every_certificate_is_proved(name, paradigm, tmp_path):
    head, latents = HEADS[name]
    latents = latents[:1]
    save_latents(tmp_path / "latents.safetensors", latents)
    auditor = Auditor(head.to_bytes(), (tmp_path / "latents.safetensors").read_bytes(), "arb")
    results = explain(head, latents, best_paradigm(head) if paradigm == "best" else paradigm)
    emitted = [result for result in results if isinstance(result, Certificate)]
    assert emitted
    for certificate in emitted:
        verdict = auditor.check(certificate.to_bytes(), minimality=True)
        assert verdict.status is Status.PROVED, verdict.message
