"""Every published architecture: its head is explained under top_k and its best paradigm, and the checker proves all.

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
def test_every_certificate_is_proved(name, tmp_path):
    head, latents = HEADS[name]
    latents = latents[:1]
    save_latents(tmp_path / "latents.safetensors", latents)
    auditor = Auditor(head.to_bytes(), (tmp_path / "latents.safetensors").read_bytes(), "arb")
    for paradigm in ("top_k", best_paradigm(head)):
        emitted = [result for result in explain(head, latents, paradigm) if isinstance(result, Certificate)]
        assert emitted
        for certificate in emitted:
            verdict = auditor.check(certificate.to_bytes(), minimality=True)
            assert verdict.status is Status.PROVED, verdict.message
