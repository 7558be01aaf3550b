"""Small files that ask for much: each is made in a folder, and named with the command that reads it."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from support.reporting import folder_of, report_head
from support.small import small_head

from benchmarks.demands_of_pictures import DEMANDS
from verale.head import Head, Identity, InnerProduct, save_latents

Arguments = tuple[object, ...]
Attack = Callable[[Path], Arguments]

ATTACKS: dict[str, Attack] = {}


def attack(function: Attack) -> Attack:
    ATTACKS[function.__name__.replace("_", " ")] = function
    return function


def certificate(
    head: Head, statements: list[Any], patches: int = 1, paradigm: str = "projection", **more: Any
) -> bytes:
    """A certificate of a head that claims entailment only, and class 0."""
    margins = [None] + [(2.0**-20).hex()] * (head.classes - 1)
    predicate = {
        "predicted": 0, "paradigm": paradigm, "patches": patches, "statements": statements, "margins": margins,
        "claims": ["entailment"], "hints": {}, "generator": {"name": "verale", "version": "0"},
    }  # fmt: skip
    subject = [{"name": "head", "digest": {"sha256": head.digest}}]
    return json.dumps(
        {"_type": "urn:verale:certificate:v1", "subject": subject, "predicate": predicate | more}
    ).encode()


def about(patch: int, prototype: int, lower: float = 0.0, upper: float = 2.0) -> dict[str, Any]:
    return {"patch": patch, "prototype": prototype, "interval": [lower.hex(), upper.hex()]}


def refutation(folder: Path, head: Head, data: bytes, *more: object) -> Arguments:
    head.save(folder / "h")
    (folder / "c.ale.json").write_bytes(data)
    return ("refute", "c.ale.json", "--head", "h", "--seconds", 1, *more)


# Files that are no regular files.


def _folder(folder: Path) -> Path:
    return folder_of(folder / "out")


@attack
def audit_of_a_folder_with_a_pipe(folder: Path) -> Arguments:
    out = _folder(folder)
    os.mkfifo(out / "x.ale.json")
    return ("audit", out, "--head", out / "head.safetensors")


@attack
def audit_of_a_folder_with_a_socket(folder: Path) -> Arguments:
    out = _folder(folder)
    here = os.getcwd()
    os.chdir(out)
    with socket.socket(socket.AF_UNIX) as served:
        served.bind("x.ale.json")  # by its short name: paths of sockets have at most 108 bytes
    os.chdir(here)
    return ("audit", out, "--head", out / "head.safetensors")


def _given(out: Path) -> Arguments:
    """Head and latents as options: what is found in a folder is told on a line of its own."""
    return ("--head", out / "head.safetensors", "--latents", out / "latents.safetensors")


@attack
def audit_with_a_log_that_is_a_pipe(folder: Path) -> Arguments:
    out = _folder(folder)
    os.mkfifo(folder / "log")
    return ("audit", out, *_given(out), "--log", folder / "log")


@attack
def audit_of_a_device(folder: Path) -> Arguments:
    out = _folder(folder)
    (out / "x.ale.json").symlink_to("/dev/zero")
    return ("audit", out, *_given(out))


@attack
def audit_with_a_head_that_is_a_pipe(folder: Path) -> Arguments:
    os.mkfifo(folder / "h")
    return ("audit", __file__, "--head", "h")


@attack
def audit_with_latents_that_are_a_device(folder: Path) -> Arguments:
    out = _folder(folder)
    return ("audit", out, "--head", out / "head.safetensors", "--latents", "/dev/zero")


@attack
def checker_of_a_pipe(folder: Path) -> Arguments:
    out = _folder(folder)
    os.mkfifo(folder / "x")
    return ("checker", "x", "--head", out / "head.safetensors")


@attack
def checker_with_latents_that_are_a_device(folder: Path) -> Arguments:
    out = _folder(folder)
    return ("checker", out / "000000.ale.json", "--head", out / "head.safetensors", "--latents", "/dev/zero")


@attack
def pack_of_a_folder_with_a_pipe(folder: Path) -> Arguments:
    out = _folder(folder)
    os.mkfifo(out / "x.ale.json")
    return ("certificates", "pack", out, "--out", "p.parquet")


@attack
def unpack_of_a_pipe(folder: Path) -> Arguments:
    os.mkfifo(folder / "p.parquet")
    return ("certificates", "unpack", "p.parquet", "--out", "d")


@attack
def unpack_of_a_folder_with_a_pipe(folder: Path) -> Arguments:
    (folder / "d").mkdir()
    os.mkfifo(folder / "d" / "p.parquet")
    return ("certificates", "unpack", "d", "--out", "e")


@attack
def summary_of_a_pipe(folder: Path) -> Arguments:
    os.mkfifo(folder / "explanations.csv")
    return ("summary", folder)


@attack
def summary_of_a_device(folder: Path) -> Arguments:
    return ("summary", "/dev/zero")


@attack
def explain_into_a_folder_whose_run_is_a_pipe(folder: Path) -> Arguments:
    out = _folder(folder)
    (folder / "d").mkdir()
    os.mkfifo(folder / "d" / "run.json")
    return ("explain", "--head", out / "head.safetensors", "--latents", out / "latents.safetensors", "--out", "d")


@attack
def explain_with_latents_that_are_a_pipe(folder: Path) -> Arguments:
    out = _folder(folder)
    os.mkfifo(folder / "z")
    return ("explain", "--head", out / "head.safetensors", "--latents", "z", "--out", "d")


@attack
def show_of_a_head_that_is_a_device(folder: Path) -> Arguments:
    return ("head", "show", "/dev/zero")


@attack
def refute_with_latents_that_are_a_device(folder: Path) -> Arguments:
    out = _folder(folder)
    return ("refute", out / "000000.ale.json", "--head", out / "head.safetensors", "--latents", "/dev/zero")


@attack
def report_of_a_folder_with_a_pipe(folder: Path) -> Arguments:
    out = _folder(folder)
    os.mkfifo(out / "x.ale.json")
    return ("report", out, "-o", "r.html", "--no-audit")


@attack
def report_with_a_source_that_is_a_pipe(folder: Path) -> Arguments:
    out = _folder(folder)
    (out / "source.json").unlink()
    os.mkfifo(out / "source.json")
    return ("report", out, "-o", "r.html", "--no-audit")


@attack
def report_with_an_image_that_is_a_pipe(folder: Path) -> Arguments:
    out = _folder(folder)
    (out / "images" / "0.png").unlink()
    os.mkfifo(out / "images" / "0.png")
    return ("report", out, "-o", "r.html", "--no-audit")


@attack
def report_with_verdicts_from_a_device(folder: Path) -> Arguments:
    out = _folder(folder)
    return ("report", out, "-o", "r.html", "--log", "/dev/zero")


# Certificates that make the search for counterexamples large.


@attack
def refute_58000_patches(folder: Path) -> Arguments:
    """Just within the limit."""
    head = small_head("euclidean")
    return refutation(folder, head, certificate(head, [about(0, 0)], 58_000))


@attack
def refute_58000_patches_near_a_prototype(folder: Path) -> Arguments:
    """Likewise; one patch in ten is asked for something."""
    head = small_head("euclidean")
    return refutation(folder, head, certificate(head, [about(patch, 0, 0.0, 4.0) for patch in range(5800)], 58_000))


@attack
def refute_100000_patches(folder: Path) -> Arguments:
    head = small_head("euclidean")
    return refutation(folder, head, certificate(head, [about(0, 0)], 10**5))


@attack
def refute_1000000_patches(folder: Path) -> Arguments:
    head = small_head("euclidean")
    return refutation(folder, head, certificate(head, [about(0, 0)], 10**6))


@attack
def refute_as_many_patches_as_integers(folder: Path) -> Arguments:
    head = small_head("euclidean")
    return refutation(folder, head, certificate(head, [about(10**17, 0)], 10**18 - 1))


@attack
def refute_100000_patches_with_activations(folder: Path) -> Arguments:
    head = small_head("euclidean")
    stated = [{"prototype": 0, "interval": [(1.0).hex(), (5.0).hex()]}, {"except": [0], "upper": (4.0).hex()}]
    return refutation(folder, head, certificate(head, stated, 10**5, "top_k"))


@attack
def refute_10000_patches_with_activations(folder: Path) -> Arguments:
    head = small_head("euclidean")
    stated = [{"prototype": 0, "interval": [(1.0).hex(), (5.0).hex()]}, {"except": [0], "upper": (4.0).hex()}]
    return refutation(folder, head, certificate(head, stated, 10**4, "top_k"))


@attack
def refute_many_stated_patches(folder: Path) -> Arguments:
    head = small_head("euclidean")
    return refutation(folder, head, certificate(head, [about(patch, 0) for patch in range(10**4)], 10**4))


@attack
def refute_a_patch_with_2000_statements(folder: Path) -> Arguments:
    head = small_head("euclidean", prototypes=2000, depth=64)
    return refutation(folder, head, certificate(head, [about(0, j, 0.0, 64.0) for j in range(2000)]))


@attack
def refute_patches_with_200_statements(folder: Path) -> Arguments:
    head = small_head("euclidean", prototypes=200, depth=64)
    stated = [about(patch, j, 0.0, 64.0) for patch in range(40) for j in range(200)]
    return refutation(folder, head, certificate(head, stated, 40))


@attack
def refute_under_triangle(folder: Path) -> Arguments:
    head = small_head("euclidean", prototypes=200, depth=64)
    stated = [about(patch, j, 0.0, 64.0) for patch in range(40) for j in range(200)]
    return refutation(folder, head, certificate(head, stated, 40, "triangle"))


@attack
def refute_many_classes(folder: Path) -> Arguments:
    head = small_head("euclidean", classes=10**4)
    return refutation(folder, head, certificate(head, [about(0, 0)], 100))


@attack
def refute_a_softmax_of_many_channels(folder: Path) -> Arguments:
    head = small_head("softmax", prototypes=10**4, classes=2)
    return refutation(folder, head, certificate(head, [about(0, 0, 0.0, 1.0)], 200, "simplex"))


@attack
def refute_a_deep_patch(folder: Path) -> Arguments:
    head = small_head("euclidean", prototypes=2, depth=10**5, classes=2)
    return refutation(folder, head, certificate(head, [about(0, 0, 0.0, 9e9), about(0, 1, 0.0, 9e9)], 1))


@attack
def refute_many_deep_patches(folder: Path) -> Arguments:
    head = small_head("euclidean", prototypes=2, depth=10**5, classes=2)
    return refutation(folder, head, certificate(head, [about(0, 0, 0.0, 9e9)], 160))


@attack
def refute_with_many_multiplications(folder: Path) -> Arguments:
    head = small_head("euclidean", prototypes=480, depth=480)
    return refutation(folder, head, certificate(head, [about(0, 0, 0.0, 480.0)], 1085))


@attack
def refute_with_too_many_multiplications(folder: Path) -> Arguments:
    head = small_head("euclidean", prototypes=800, depth=800)
    return refutation(folder, head, certificate(head, [about(0, 0, 0.0, 800.0)], 650))


@attack
def refute_with_many_latents(folder: Path) -> Arguments:
    head = small_head("euclidean", depth=2)
    save_latents(folder / "z", torch.rand(1, 70_000, 2))
    return refutation(folder, head, certificate(head, [about(0, 0)], 70_000), "--latents", "z")


# Descriptions of sources that make a report large.


def _report(folder: Path, *more: object, form: str = "html", **changes: Any) -> Arguments:
    out = folder_of(folder / "out", **changes)
    return ("report", out, "-o", f"r.{form}", "--no-audit", *more)


def _origin(**changes: Any) -> list[dict[str, Any]]:
    return [{"prototype": 0, "image": 7, "file": None, "row": 1, "column": 2} | changes]


def _without_head(folder: Path, form: str = "html", **changes: Any) -> Arguments:
    arguments = _report(folder, form=form, **changes)
    (folder / "out" / "head.safetensors").unlink()
    return arguments


@attack
def report_on_prototype_100000000(folder: Path) -> Arguments:
    return _without_head(folder, prototypes=_origin(prototype=10**8))


@attack
def report_on_prototype_10_to_the_4000(folder: Path) -> Arguments:
    return _without_head(folder, prototypes=_origin(prototype=10**4000))


@attack
def report_on_an_image_row_and_column_of_10_to_the_18(folder: Path) -> Arguments:
    return _report(folder, prototypes=_origin(image=10**18, row=10**18, column=10**18))


@attack
def report_on_a_row_of_10_to_the_4000(folder: Path) -> Arguments:
    return _report(folder, prototypes=_origin(row=10**4000))


@attack
def report_on_a_label_of_10_to_the_18(folder: Path) -> Arguments:
    return _report(folder, images=[{"file": f"{n}.png", "label": 10**18} for n in range(4)])


@attack
def table_with_a_label_of_10_to_the_30(folder: Path) -> Arguments:
    return _report(folder, form="csv", images=[{"file": f"{n}.png", "label": 10**30} for n in range(4)])


@attack
def report_on_a_class_name_of_a_megabyte(folder: Path) -> Arguments:
    return _report(folder, classes=["x" * 10**6, "b", "c"])


@attack
def report_on_100000_classes(folder: Path) -> Arguments:
    return _report(folder, classes=["x"] * 10**5)


@attack
def report_on_10000_prototypes_of_one_image_each(folder: Path) -> Arguments:
    origins = [_origin(prototype=j, file=f"/nowhere/{j}.png")[0] for j in range(10**4)]
    return _report(folder, prototypes=origins)


@attack
def report_on_500_names_of_four_images(folder: Path) -> Arguments:
    name = str(folder / "out" / "images")
    origins = [
        _origin(prototype=j, file=f"{name}/{'../images/' * (j % 100)}{'./' * (j // 100)}{j % 4}.png")[0]
        for j in range(500)
    ]
    return _report(folder, prototypes=origins)


@attack
def report_on_an_image_name_of_a_megabyte(folder: Path) -> Arguments:
    return _report(folder, images=[{"file": "x" * 10**6, "label": 0}] * 4)


@attack
def report_on_huge_preprocessing(folder: Path) -> Arguments:
    steps = [
        {"type": "Resize", "params": {"size": 10**18}},
        {"type": "CenterCrop", "params": {"size": 1}},
        {"type": "Resize", "params": {"size": [10**15, 10**15]}},
    ]
    return _report(folder, preprocessing=steps)


@attack
def report_on_preprocessing_of_10_to_the_400(folder: Path) -> Arguments:
    return _report(folder, preprocessing=[{"type": "Resize", "params": {"size": 10**400}}])


@attack
def report_on_10000_steps_of_preprocessing(folder: Path) -> Arguments:
    return _report(folder, preprocessing=[{"type": "CenterCrop", "params": {"size": 1 + n % 7}} for n in range(10**4)])


@attack
def report_on_unknown_preprocessing_of_a_megabyte(folder: Path) -> Arguments:
    return _report(folder, preprocessing=[{"type": "x" * 10**6}])


@attack
def picture_of_more_margins_than_classes(folder: Path) -> Arguments:
    out = _folder(folder)
    record = json.loads((out / "000000.ale.json").read_text())
    record["predicate"]["margins"] += [(2.0**-30).hex()] * 10
    (out / "000000.ale.json").write_text(json.dumps(record))
    return ("report", out / "000000.ale.json", "-o", "r.png", "--no-audit")


@attack
def report_on_verdicts_of_10_to_the_400_seconds(folder: Path) -> Arguments:
    arguments = _report(folder)
    run = {"kernel": "arb", "head": "x", "checker": {"sha256": "x"}}
    record = {"_type": "urn:verale:report:v1", "sha256": "x", "status": "PROVED", "reason": "", "message": ""}
    record |= {"seconds": 10**400, "claims": {}, "run": run}
    (folder / "log").write_text(json.dumps(record) + "\n")
    return (*arguments[:-1], "--log", "log")


@attack
def report_on_a_source_nested_deeply(folder: Path) -> Arguments:
    arguments = _report(folder)
    (folder / "out" / "source.json").write_text("[" * 10**5)
    return arguments


@attack
def report_on_a_source_with_an_integer_of_a_megabyte(folder: Path) -> Arguments:
    arguments = _report(folder)
    (folder / "out" / "source.json").write_text('{"x": ' + "9" * 10**6 + "}")
    return arguments


@attack
def report_on_a_certificate_of_many_patches(folder: Path) -> Arguments:
    arguments = _without_head(folder)
    head = report_head()
    (folder / "out" / "000009.ale.json").write_bytes(certificate(head, [about(10**17, 0)], 10**18 - 1))
    return arguments


@attack
def picture_of_a_certificate_of_many_patches(folder: Path) -> Arguments:
    head = report_head()
    head.save(folder / "head.safetensors")
    (folder / "999999999999999.ale.json").write_bytes(certificate(head, [about(10**17, 0)], 10**18 - 1))
    return ("report", "999999999999999.ale.json", "-o", "r.png", "--no-audit")


@attack
def picture_of_a_certificate_of_many_statements(folder: Path) -> Arguments:
    head = report_head()
    head.save(folder / "head.safetensors")
    stated = [about(patch, 0) for patch in range(4096)]
    (folder / "0.ale.json").write_bytes(certificate(head, stated, 4096))
    return ("report", "0.ale.json", "-o", "r.png", "--no-audit")


@attack
def picture_of_a_certificate_without_its_head(folder: Path) -> Arguments:
    (folder / "0.ale.json").write_bytes(
        certificate(report_head(), [about(patch, 10**17) for patch in range(9000)], 9000, predicted=10**17)
    )
    return ("report", "0.ale.json", "-o", "r.pdf", "--no-audit")


@attack
def report_on_many_certificates(folder: Path) -> Arguments:
    head = report_head()
    data = certificate(head, [], 10**18 - 1)
    for n in range(1000):
        (folder / f"{n:015d}.ale.json").write_bytes(data)
    return ("report", folder, "-o", folder / "r.html", "--no-audit")


@attack
def report_on_huge_numbers_in_the_table(folder: Path) -> Arguments:
    arguments = _report(folder, form="csv")
    big = "9" * 30
    table = f"Idx,Pred Label,Exp Size,Runtime (s),Certificate,Reason\n{big},{big},{big},1e308,,none\n"
    (folder / "out" / "explanations.csv").write_text(table)
    return arguments


@attack
def report_on_a_class_of_10_to_the_30(folder: Path) -> Arguments:
    arguments = _report(folder)
    big = "9" * 30
    table = f"Idx,Pred Label,Exp Size,Runtime (s),Certificate,Reason\n{big},{big},{big},1e308,,none\n"
    (folder / "out" / "explanations.csv").write_text(table)
    return arguments


# Tables.


@attack
def summary_of_huge_numbers(folder: Path) -> Arguments:
    row = f"{'9' * 4000},1,{'9' * 4000},1e308,1e308\n"
    (folder / "explanations.csv").write_text("Idx,Pred Label,Exp Size,Runtime (s),Relative Size\n" + row * 100)
    return ("summary", folder)


@attack
def summary_of_an_integer_of_a_megabyte(folder: Path) -> Arguments:
    (folder / "explanations.csv").write_text(f"Idx,Pred Label,Exp Size,Runtime (s)\n{'9' * 10**6},1,1,1\n")
    return ("summary", folder)


@attack
def summary_of_a_megabyte_of_rows(folder: Path) -> Arguments:
    (folder / "explanations.csv").write_text("Idx,Pred Label,Exp Size,Runtime (s)\n" + "0,0,1,0.1\n" * 10**5)
    return ("summary", folder)


@attack
def summary_of_a_megabyte_of_columns(folder: Path) -> Arguments:
    (folder / "explanations.csv").write_text("Idx,Pred Label,Exp Size,Runtime (s)" + "," * 10**6 + "\n")
    return ("summary", folder)


@attack
def summary_of_tiny_numbers(folder: Path) -> Arguments:
    rows = "".join(f"0,0,1,{5e-324 if n % 2 else 9.9e99}\n" for n in range(5 * 10**4))
    (folder / "explanations.csv").write_text("Idx,Pred Label,Exp Size,Runtime (s)\n" + rows)
    return ("summary", folder)


@attack
def compare_a_megabyte_of_rows(folder: Path) -> Arguments:
    out = _folder(folder)
    (out / "source.json").unlink()
    rows = "".join(f"{n},0,1,0.1,none\n" for n in range(5 * 10**4))
    (out / "explanations.csv").write_text("Idx,Pred Label,Exp Size,Runtime (s),Reason\n" + rows)
    return ("compare", out, out, "-o", folder / "page.html")


@attack
def summary_of_a_run_nested_deeply(folder: Path) -> Arguments:
    (folder / "explanations.csv").write_text("Idx,Pred Label,Exp Size,Runtime (s)\n0,0,1,1\n")
    (folder / "run.json").write_text("[" * 10**5)
    return ("summary", folder)


# Heads and latents that claim much.


def safetensors(tensors: dict[str, tuple[str, list[int], bytes]]) -> bytes:
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values())


def _explain(folder: Path, head: Head, latents: bytes | torch.Tensor, *more: object) -> Arguments:
    head.save(folder / "h")
    if isinstance(latents, torch.Tensor):
        save_latents(folder / "z", latents)
    else:
        (folder / "z").write_bytes(latents)
    return ("explain", "--head", "h", "--latents", "z", "--out", "o", *more)


def _seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@attack
def explain_latents_of_no_bytes(folder: Path) -> Arguments:
    return _explain(folder, small_head("euclidean"), safetensors({"latents": ("F32", [10**9, 0, 6], b"")}))


@attack
def explain_latents_of_no_images(folder: Path) -> Arguments:
    return _explain(folder, small_head("euclidean"), safetensors({"latents": ("F32", [0, 10**12, 6], b"")}))


@attack
def audit_with_latents_of_no_images(folder: Path) -> Arguments:
    out = _folder(folder)
    (folder / "z").write_bytes(safetensors({"latents": ("F32", [0, 10**12, 6], b"")}))
    return ("audit", out, "--head", out / "head.safetensors", "--latents", "z")


@attack
def report_with_latents_of_no_images(folder: Path) -> Arguments:
    out = _folder(folder)
    (out / "source.json").unlink()
    (out / "latents.safetensors").write_bytes(safetensors({"latents": ("F32", [0, 10**9, 10**9, 6], b"")}))
    return ("report", out, "-o", "r.html", "--no-audit")


@attack
def explain_latents_that_claim_a_terabyte(folder: Path) -> Arguments:
    return _explain(folder, small_head("euclidean"), safetensors({"latents": ("F32", [10**6, 10**6, 6], bytes(24))}))


@attack
def explain_an_image_of_40000_patches(folder: Path) -> Arguments:
    return _explain(folder, small_head("euclidean"), torch.rand(1, 40000, 6, generator=_seeded()))


@attack
def explain_with_10000_classes(folder: Path) -> Arguments:
    return _explain(folder, small_head("euclidean", classes=10**4), torch.rand(4, 5, 6, generator=_seeded()))


@attack
def explain_with_100000_classes(folder: Path) -> Arguments:
    parts = small_head("euclidean").domain, small_head("cosine").similarity
    head = Head(torch.eye(2).repeat(50000, 1), InnerProduct(), parts[1], prototypes=torch.eye(2), domain=parts[0])
    return _explain(folder, head, torch.rand(4, 5, 2, generator=_seeded()))


@attack
def explain_with_80000_prototypes(folder: Path) -> Arguments:
    head = small_head("euclidean", prototypes=80000, depth=1, classes=2)
    return _explain(folder, head, torch.rand(1, 2, 1, generator=_seeded()))


@attack
def doctor(folder: Path) -> Arguments:
    return ("doctor",)


# Parquet.


def _parquet(folder: Path, table: Any, **options: Any) -> str:
    import pyarrow.parquet as pq

    pq.write_table(table, folder / "p.parquet", **options)
    assert (folder / "p.parquet").stat().st_size < 10**6
    return "p.parquet"


def _unpack(folder: Path, table: Any, **options: Any) -> Arguments:
    return ("certificates", "unpack", _parquet(folder, table, **options), "--out", "d")


@attack
def unpack_100000000_rows_of_nothing(folder: Path) -> Arguments:
    import pyarrow as pa

    table = pa.table({"certificate": pa.nulls(10**8, pa.binary())})
    return _unpack(folder, table, row_group_size=10**8, compression="zstd")


@attack
def unpack_3000000_rows_of_nothing_in_groups(folder: Path) -> Arguments:
    import pyarrow as pa

    table = pa.table({"certificate": pa.nulls(3 * 10**6, pa.binary())})
    return _unpack(folder, table, row_group_size=10**6, compression="zstd")


@attack
def unpack_a_certificate_of_140_megabytes(folder: Path) -> Arguments:
    import pyarrow as pa

    return _unpack(
        folder,
        pa.table({"name": ["a.ale.json"], "certificate": pa.array([bytes(14 * 10**7)], pa.binary())}),
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
    )


@attack
def unpack_one_certificate_of_a_megabyte_5000_times(folder: Path) -> Arguments:
    import pyarrow as pa

    indices = pa.array([0] * 5 * 10**3, pa.int32())
    column = pa.DictionaryArray.from_arrays(indices, pa.array([bytes(10**6)], pa.binary()))
    names = [f"{n}.ale.json" for n in range(len(indices))]
    return _unpack(folder, pa.table({"name": names, "certificate": column}), compression="zstd", write_statistics=False)


@attack
def unpack_one_name_of_a_megabyte_many_times(folder: Path) -> Arguments:
    import pyarrow as pa

    indices = pa.array([0] * 5 * 10**3, pa.int32())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 10**6]))
    return _unpack(
        folder,
        pa.table({"name": column, "certificate": pa.array([b"{}"] * len(indices))}),
        compression="zstd",
        write_statistics=False,
    )


@attack
def unpack_latents_of_200_megabytes(folder: Path) -> Arguments:
    import numpy as np
    import pyarrow as pa

    flat = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(5 * 10**7, "f4")), 5 * 10**7)
    return _unpack(
        folder, pa.table({"name": ["a.ale.json"], "certificate": [b"{}"], "latents": flat}), compression="zstd"
    )


@attack
def unpack_4000_columns(folder: Path) -> Arguments:
    import pyarrow as pa

    return _unpack(
        folder,
        pa.table({"certificate": [b"{}"]} | {f"{n}": pa.nulls(1) for n in range(4000)}),
        compression="zstd",
        write_statistics=False,
    )


@attack
def unpack_6000_row_groups(folder: Path) -> Arguments:
    import pyarrow as pa

    return _unpack(
        folder, pa.table({"certificate": pa.nulls(6 * 10**3, pa.binary())}), row_group_size=1, write_statistics=False
    )


@attack
def audit_of_one_certificate_of_a_megabyte_many_times(folder: Path) -> Arguments:
    import pyarrow as pa

    small_head("euclidean").save(folder / "h")
    indices = pa.array([0] * 2000, pa.int32())
    column = pa.DictionaryArray.from_arrays(indices, pa.array([b"{" + bytes(10**6)], pa.binary()))
    path = _parquet(folder, pa.table({"certificate": column}), compression="zstd", write_statistics=False)
    return ("audit", path, "--head", "h")


# Networks and pictures.


def _demanding(folder: Path, name: str, pictures: int = 1) -> Path:
    """A run's folder with a certificate of a picture, and so many files of that picture."""
    demand = DEMANDS[name]()
    out = folder / "out"
    (out / "pictures").mkdir(parents=True)
    (out / "head.safetensors").write_bytes(demand.head)
    (out / "network.safetensors").write_bytes(demand.network)
    (out / "000000.ale.json").write_bytes(demand.certificate)
    for number in range(pictures):
        (out / "pictures" / f"{number}.png").write_bytes(demand.picture)
    return out


@attack
def audit_a_network_of_long_numbers(folder: Path) -> Arguments:
    return ("audit", _demanding(folder, "150 convolutions by 2^1022, then 150 sigmoids"), "--kernel", "arb")


@attack
def audit_a_network_of_long_numbers_by_mpmath(folder: Path) -> Arguments:
    return ("audit", _demanding(folder, "50 convolutions by 2^1022, then 300 sigmoids"), "--kernel", "mpmath")


@attack
def audit_a_picture_of_2364_rows(folder: Path) -> Arguments:
    return ("audit", _demanding(folder, "a picture of 2364 x 2364 in 21 kB"), "--kernel", "arb")


@attack
def audit_forty_pictures_of_2364_rows(folder: Path) -> Arguments:
    """None of them is the one that the certificate names."""
    out = _demanding(folder, "a picture of 2364 x 2364 in 21 kB", pictures=40)
    path = out / "000000.ale.json"
    document = json.loads(path.read_bytes())
    document["subject"][2]["digest"]["sha256"] = "0" * 64
    path.write_text(json.dumps(document))
    return ("audit", out, "--kernel", "arb")


@attack
def audit_a_picture_of_eight_million_rows(folder: Path) -> Arguments:
    return ("audit", _demanding(folder, "a picture of 8,388,608 rows"), "--kernel", "arb")


@attack
def report_on_a_network_of_long_numbers(folder: Path) -> Arguments:
    out = _demanding(folder, "150 convolutions by 2^1022, then 150 sigmoids")
    return ("report", out, "-o", "r.html", "--kernel", "arb", "--provable")


@attack
def explain_a_picture_of_eight_million_rows(folder: Path) -> Arguments:
    out = _demanding(folder, "a picture of 8,388,608 rows")
    files = ("--head", out / "head.safetensors", "--network", out / "network.safetensors")
    return ("explain", *files, "--images", out / "pictures", "--out", "new")


@attack
def explain_a_network_of_long_numbers(folder: Path) -> Arguments:
    out = _demanding(folder, "150 convolutions by 2^1022, then 150 sigmoids")
    files = ("--head", out / "head.safetensors", "--network", out / "network.safetensors")
    return ("explain", *files, "--images", out / "pictures", "--out", "new", "--paradigm", "projection")


@attack
def network_show_4000_layers(folder: Path) -> Arguments:
    return ("network", "show", _demanding(folder, "4000 relus of 40 entries") / "network.safetensors")


@attack
def head_show_a_megabyte_of_labels(folder: Path) -> Arguments:
    count = 4 * 10**4
    labels = tuple(f"{n} {'x' * 18}" for n in range(count))
    Head(torch.ones(count, 1), InnerProduct(1.0), Identity(), prototypes=torch.ones(1, 1), labels=labels).save(
        folder / "h"
    )
    return ("head", "show", "h")
