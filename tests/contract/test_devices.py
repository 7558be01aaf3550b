"""The search on another device than the CPU: a stand-in whose arithmetic is as bad as the bounds allow."""

from __future__ import annotations

import pytest
import safetensors.torch
import torch
from support.small import FOCAL, GEOMETRIES, VARIED, focal_head, small_head, small_latents, varied_head
from support.stand_in import DEVICE, StandIn

from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.paradigms import paradigms_of
from verale.search.explain import explain

_HEADS = {
    **{geometry: small_head(geometry, 4) for geometry in GEOMETRIES},
    **{f"{geometry} {kind}": focal_head(geometry, kind, 4) for geometry, kind in FOCAL},
    **{name: varied_head(name, 4) for name in VARIED},
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in (*GEOMETRIES, "top mean") else pytest.mark.long) for name in _HEADS]
)
def test_what_is_found_on_a_bad_device_is_proved(name: str) -> None:
    head = _HEADS[name]
    latents = small_latents(head, images=2, seed=4)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents.contiguous()}))
    found = 0
    for paradigm in paradigms_of(head.geometry.kind):
        with StandIn(ulps=8, seed=found) as device:
            try:
                explained = explain(head, latents, paradigm, device=DEVICE)
            except UsageError:  # not defined for this head
                continue
        assert device.launched > 100
        for certificate in explained:
            if isinstance(certificate, Certificate):
                verdict = auditor.check(certificate.to_bytes(), minimality=True)
                assert (verdict.status, verdict.message) == (Status.PROVED, "every claim that was checked is proved")
                found += 1
    assert found


@pytest.mark.parametrize(
    "words",
    [
        "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "HIP error: out of memory",
        "hipErrorOutOfMemory",
        "cusolver error: CUSOLVER_STATUS_ALLOC_FAILED",
    ],
)
def test_a_device_without_memory_gets_fewer_images(words: str) -> None:
    head = small_head("cosine", 4)
    latents = small_latents(head, images=3, seed=4)
    one, all_three = latents.shape[1], 3 * latents.shape[1]
    with StandIn(out_of_memory=words, rows=[all_three]) as device:
        explained = explain(head, latents, "projection", device=DEVICE, batch=3)
    assert device.failed == 1
    assert [type(each) for each in explained] == [Certificate] * 3
    with StandIn(out_of_memory=words, rows=[one]), pytest.raises(UsageError, match="memory ran out on a single image"):
        explain(head, latents, "projection", device=DEVICE, batch=1)


def test_another_failure_of_a_device_is_not_hidden() -> None:
    head = small_head("cosine", 4)
    latents = small_latents(head, images=3, seed=4)
    words, rows = "CUDA error: misaligned address", [3 * latents.shape[1]]
    with StandIn(out_of_memory=words, rows=rows), pytest.raises(RuntimeError, match=words):
        explain(head, latents, "projection", device=DEVICE, batch=3)


def test_the_stand_in_is_as_strict_as_a_device_and_as_inexact() -> None:
    values = torch.rand(64, 3, dtype=torch.float64)
    with StandIn(ulps=8):
        there = values.to(DEVICE)
        with pytest.raises(RuntimeError, match="expected all tensors on one device"):
            there + values
        with pytest.raises(TypeError, match="copy it to the host first"):
            there.numpy()
        exponentials = there.exp().cpu()
        quotients, products = (there / 3.0).cpu(), (there @ there.T).cpu()
    units = (exponentials - values.exp()).abs() / (values.exp() * 2.0**-53)
    assert 4 < units.max() < 17
    assert not torch.equal(quotients, values / 3.0)
    assert not torch.equal(products, values @ values.T)


def test_a_device_without_numbers_is_refused_before_the_search() -> None:
    head = small_head("cosine", 4)
    with pytest.raises(UsageError, match="device 'meta' cannot be used here"):
        explain(head, small_latents(head, images=1, seed=4), "top_k", device="meta")
