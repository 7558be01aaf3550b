"""Small inputs cost little: each hostile file, which asks for much, is answered or refused within the bound that
docs/cli.md states. Each is made in a folder, and named with the command that reads it."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from support.measured import Measurer, measurer
from support.reporting import folder_of, report_head
from support.small import small_head

from benchmarks.demands_of_pictures import DEMANDS
from verale.head import Head, Identity, InnerProduct, save_latents

Arguments = tuple[object, ...]
Attack = Callable[[Path], Arguments]


def certificate(head: Head, statements: list[Any], patches: int = 1, paradigm: str = "projection") -> bytes:
    """A certificate of a head that claims entailment only, and class 0."""
    margins = [None] + [(2.0**-20).hex()] * (head.classes - 1)
    predicate = {
        "predicted": 0, "paradigm": paradigm, "patches": patches, "statements": statements, "margins": margins,
        "claims": ["entailment"], "hints": {}, "generator": {"name": "verale", "version": "0"},
    }  # fmt: skip
    subject = [{"name": "head", "digest": {"sha256": head.digest}}]
    return json.dumps({"_type": "urn:verale:certificate:v1", "subject": subject, "predicate": predicate}).encode()


def about(patch: int, prototype: int, lower: float = 0.0, upper: float = 2.0) -> dict[str, Any]:
    return {"patch": patch, "prototype": prototype, "interval": [lower.hex(), upper.hex()]}


def of_run(
    *arguments: object, change: Callable[[Path], object] = lambda out: None, head: bool = True, **source: Any
) -> Attack:
    """The command on a run in the folder `out`, perhaps without its head, after a change of its files or its source."""

    def attack(folder: Path) -> Arguments:
        out = folder_of(folder / "out", **source)
        if not head:
            (out / "head.safetensors").unlink()
        change(out)
        return arguments

    return attack


HEAD = ("--head", "out/head.safetensors")
BOTH = (*HEAD, "--latents", "out/latents.safetensors")
"""Head and latents as options: what is found in a folder is told on a line of its own."""
REPORT = ("report", "out", "-o", "r.html", "--no-audit")
CSV = ("report", "out", "-o", "r.csv", "--no-audit")


def pipe(*arguments: object, name: str) -> Attack:
    """The command in a folder where a pipe has this name, in a folder of its own perhaps."""

    def attack(folder: Path) -> Arguments:
        (folder / name).parent.mkdir(exist_ok=True)
        os.mkfifo(folder / name)
        return arguments

    return attack


def piped(name: str) -> Callable[[Path], object]:
    """A pipe takes the place of a file of the run, or stands beside its folder."""

    def change(out: Path) -> None:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).unlink(missing_ok=True)
        os.mkfifo(out / name)

    return change


def refutation(
    statements: Callable[[], list[Any]],
    patches: int = 1,
    paradigm: str = "projection",
    kind: str = "euclidean",
    **sizes: int,
) -> Attack:
    """The search for latents that break a certificate of a head with these sizes."""

    def attack(folder: Path) -> Arguments:
        head = small_head(kind, **sizes)
        head.save(folder / "h")
        (folder / "c.ale.json").write_bytes(certificate(head, statements(), patches, paradigm))
        return ("refute", "c.ale.json", "--head", "h", "--seconds", 0.2)

    return attack


def one() -> list[Any]:
    return [about(0, 0)]


def activation() -> list[Any]:
    return [{"prototype": 0, "interval": [(1.0).hex(), (5.0).hex()]}, {"except": [0], "upper": (4.0).hex()}]


_DEEP: dict[str, Any] = {"prototypes": 2, "depth": 10**5, "classes": 2}


def _origin(**changes: Any) -> list[dict[str, Any]]:
    return [{"prototype": 0, "image": 7, "file": None, "row": 1, "column": 2} | changes]


def _labelled(label: int) -> list[dict[str, Any]]:
    return [{"file": f"{n}.png", "label": label} for n in range(4)]


def _step(kind: str, size: object) -> dict[str, Any]:
    return {"type": kind, "params": {"size": size}}


def _report_on_500_names_of_four_images(folder: Path) -> Arguments:
    name = str(folder / "out" / "images")
    origins = [
        _origin(prototype=j, file=f"{name}/{'../images/' * (j % 100)}{'./' * (j // 100)}{j % 4}.png")[0]
        for j in range(500)
    ]
    return of_run(*REPORT, prototypes=origins)(folder)


def _with_more_margins(out: Path) -> None:
    record = json.loads((out / "000000.ale.json").read_text())
    record["predicate"]["margins"] += [(2.0**-30).hex()] * 10
    (out / "000000.ale.json").write_text(json.dumps(record))


def _with_long_verdicts(out: Path) -> None:
    run = {"kernel": "arb", "head": "x", "checker": {"sha256": "x"}}
    record = {"_type": "urn:verale:report:v1", "sha256": "x", "status": "PROVED", "reason": "", "message": ""}
    record |= {"seconds": 10**400, "claims": {}, "run": run}
    (out.parent / "log").write_text(json.dumps(record) + "\n")


def _with_huge_numbers(out: Path) -> None:
    big = "9" * 30
    table = f"Idx,Pred Label,Exp Size,Runtime (s),Certificate,Reason\n{big},{big},{big},1e308,,none\n"
    (out / "explanations.csv").write_text(table)


def _with_many_patches(out: Path) -> None:
    (out / "000009.ale.json").write_bytes(certificate(report_head(), [about(10**17, 0)], 10**18 - 1))


def _report_on_many_certificates(folder: Path) -> Arguments:
    data = certificate(report_head(), [], 10**18 - 1)
    for n in range(1000):
        (folder / f"{n:015d}.ale.json").write_bytes(data)
    return ("report", folder, "-o", folder / "r.html", "--no-audit")


def summary(table: str, run: str | None = None) -> Attack:
    """The summary of a table after these columns, beside what a run says of itself."""

    def attack(folder: Path) -> Arguments:
        (folder / "explanations.csv").write_text("Idx,Pred Label,Exp Size,Runtime (s)" + table)
        if run is not None:
            (folder / "run.json").write_text(run)
        return ("summary", folder)

    return attack


def latents_of(shape: list[int], data: bytes = b"") -> bytes:
    """A file of latents that claims a shape."""
    text = json.dumps({"latents": {"dtype": "F32", "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    return struct.pack("<Q", len(text)) + text + data


def explanation(latents: bytes | tuple[int, ...], **sizes: int) -> Attack:
    """The explanation of latents, or of random ones of a shape."""

    def attack(folder: Path) -> Arguments:
        small_head("euclidean", **sizes).save(folder / "h")
        if isinstance(latents, bytes):
            (folder / "z").write_bytes(latents)
        else:
            save_latents(folder / "z", torch.rand(*latents, generator=torch.Generator().manual_seed(0)))
        return ("explain", "--head", "h", "--latents", "z", "--out", "o")

    return attack


def _explain_with_100000_classes(folder: Path) -> Arguments:
    arguments = explanation((4, 5, 2))(folder)
    parts = small_head("euclidean").domain, small_head("cosine").similarity
    Head(torch.eye(2).repeat(50000, 1), InnerProduct(), parts[1], prototypes=torch.eye(2), domain=parts[0]).save(
        folder / "h"
    )
    return arguments


def _without_images(out: Path) -> None:
    (out / "source.json").unlink()
    (out / "latents.safetensors").write_bytes(latents_of([0, 10**9, 10**9, 6]))


def parquet(*command: object, table: Callable[[], Any], **options: Any) -> Attack:
    """The command on a small file that holds a table, written with these options."""

    def attack(folder: Path) -> Arguments:
        small_head("euclidean").save(folder / "h")
        pq.write_table(table(), folder / "p.parquet", **options)
        assert (folder / "p.parquet").stat().st_size < 10**6
        return command or ("certificates", "unpack", "p.parquet", "--out", "d")

    return attack


def _nulls(count: int) -> Any:
    return pa.table({"certificate": pa.nulls(count, pa.binary())})


def _repeated(value: bytes | str, count: int) -> Any:
    """So many times the same value, which is stored once."""
    values = pa.array([value], pa.binary() if isinstance(value, bytes) else pa.string())
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), values)


_SMALL: dict[str, Any] = {"compression": "zstd", "write_statistics": False}


def demanding(name: str, *arguments: object) -> Attack:
    """The command on a run in the folder `out`: a certificate of a picture."""

    def attack(folder: Path) -> Arguments:
        demand = DEMANDS[name]()
        out = folder / "out"
        (out / "pictures").mkdir(parents=True)
        (out / "head.safetensors").write_bytes(demand.head)
        (out / "network.safetensors").write_bytes(demand.network)
        (out / "000000.ale.json").write_bytes(demand.certificate)
        (out / "pictures" / "0.png").write_bytes(demand.picture)
        return arguments

    return attack


def _head_show_a_megabyte_of_labels(folder: Path) -> Arguments:
    count = 4 * 10**4
    labels = tuple(f"{n} {'x' * 18}" for n in range(count))
    head = Head(torch.ones(count, 1), InnerProduct(1.0), Identity(), prototypes=torch.ones(1, 1), labels=labels)
    head.save(folder / "h")
    return ("head", "show", "h")


_SIGMOIDS = "150 convolutions by 2^1022, then 150 sigmoids"
_SQUARE, _LONG = "a picture of 2364 x 2364 in 21 kB", "a picture of 8,388,608 rows"
_NEW = (*HEAD, "--network", "out/network.safetensors", "--images", "out/pictures", "--out", "new")

REFUSED, DONE, SEARCHED, LIMITED = (9,), (0,), (4, 11), (12,)
"""Exit codes: of what cannot be used, of what is answered, of a refutation, of proofs that take too long."""

ATTACKS: dict[tuple[int, ...], dict[str, Attack]] = {
    REFUSED: {
        "audit of a folder with a pipe": of_run("audit", "out", *HEAD, change=piped("x.ale.json")),
        "audit with a log that is a pipe": of_run("audit", "out", *BOTH, "--log", "log", change=piped("../log")),
        "audit of a device": of_run(
            "audit", "out", *BOTH, change=lambda out: (out / "x.ale.json").symlink_to("/dev/zero")
        ),
        "checker of a pipe": of_run("checker", "x", *HEAD, change=piped("../x")),
        "checker with latents that are a device": of_run(
            "checker", "out/000000.ale.json", *HEAD, "--latents", "/dev/zero"
        ),
        "unpack of a pipe": pipe("certificates", "unpack", "p.parquet", "--out", "d", name="p.parquet"),
        "summary of a pipe": pipe("summary", ".", name="explanations.csv"),
        "explain into a folder whose run is a pipe": of_run(
            "explain", *BOTH, "--out", "d", change=piped("../d/run.json")
        ),
        "refute with latents that are a device": of_run(
            "refute", "out/000000.ale.json", *HEAD, "--latents", "/dev/zero"
        ),
        "report with a source that is a pipe": of_run(*REPORT, change=piped("source.json")),
        "refute 100000 patches": refutation(one, 10**5),
        "refute as many patches as integers": refutation(lambda: [about(10**17, 0)], 10**18 - 1),
        "refute 100000 patches with activations": refutation(activation, 10**5, "top_k"),
        "refute many deep patches": refutation(lambda: [about(0, 0, 0.0, 9e9)], 160, **_DEEP),
        "report on prototype 10 to the 4000": of_run(*REPORT, head=False, prototypes=_origin(prototype=10**4000)),
        "report on an image row and column of 10 to the 18": of_run(
            *REPORT, prototypes=_origin(image=10**18, row=10**18, column=10**18)
        ),
        "table with a label of 10 to the 30": of_run(*CSV, images=_labelled(10**30)),
        "report on a class name of a megabyte": of_run(*REPORT, classes=["x" * 10**6, "b", "c"]),
        "report on verdicts of 10 to the 400 seconds": of_run(*REPORT[:-1], "--log", "log", change=_with_long_verdicts),
        "report on a source nested deeply": of_run(
            *REPORT, change=lambda out: (out / "source.json").write_text("[" * 10**5)
        ),
        "report on a source with an integer of a megabyte": of_run(
            *REPORT, change=lambda out: (out / "source.json").write_text('{"x": ' + "9" * 10**6 + "}")
        ),
        "report on huge numbers in the table": of_run(*CSV, change=_with_huge_numbers),
        "summary of huge numbers": summary(",Relative Size\n" + f"{'9' * 4000},1,{'9' * 4000},1e308,1e308\n" * 100),
        "summary of an integer of a megabyte": summary(f"\n{'9' * 10**6},1,1,1\n"),
        "explain latents of no bytes": explanation(latents_of([10**9, 0, 6])),
        "explain latents of no images": explanation(latents_of([0, 10**12, 6])),
        "unpack 3000000 rows of nothing in groups": parquet(
            table=lambda: _nulls(3 * 10**6), row_group_size=10**6, compression="zstd"
        ),
        "unpack one certificate of a megabyte 5000 times": parquet(
            table=lambda: pa.table(
                {"name": [f"{n}.ale.json" for n in range(5000)], "certificate": _repeated(bytes(10**6), 5000)}
            ),
            **_SMALL,
        ),
        "unpack one name of a megabyte many times": parquet(
            table=lambda: pa.table({"name": _repeated("x" * 10**6, 5000), "certificate": pa.array([b"{}"] * 5000)}),
            **_SMALL,
        ),
        "audit of one certificate of a megabyte many times": parquet(
            *("audit", "p.parquet", "--head", "h"),
            table=lambda: pa.table({"certificate": _repeated(b"{" + bytes(10**6), 2000)}),
            **_SMALL,
        ),
        "explain a picture of eight million rows": demanding(_LONG, "explain", *_NEW),
    },
    DONE: {
        "report with an image that is a pipe": of_run(*REPORT, change=piped("images/0.png")),
        "report on 100000 classes": of_run(*REPORT, classes=["x"] * 10**5),
        "report on 500 names of four images": _report_on_500_names_of_four_images,
        "report on huge preprocessing": of_run(
            *REPORT, preprocessing=[_step("Resize", 10**18), _step("CenterCrop", 1), _step("Resize", [10**15, 10**15])]
        ),
        "picture of more margins than classes": of_run(
            "report", "out/000000.ale.json", "-o", "r.png", "--no-audit", change=_with_more_margins
        ),
        "report on a certificate of many patches": of_run(*REPORT, head=False, change=_with_many_patches),
        "report on many certificates": _report_on_many_certificates,
        "summary of tiny numbers": summary(
            "\n" + "".join(f"0,0,1,{5e-324 if n % 2 else 9.9e99}\n" for n in range(5 * 10**4))
        ),
        "summary of a run nested deeply": summary("\n0,0,1,1\n", "[" * 10**5),
        "report with latents of no images": of_run(*REPORT, change=_without_images),
        "explain an image of 40000 patches": explanation((1, 40000, 6)),
        "unpack 4000 columns": parquet(
            table=lambda: pa.table({"certificate": [b"{}"]} | {f"{n}": pa.nulls(1) for n in range(4000)}), **_SMALL
        ),
        "explain a network of long numbers": demanding(_SIGMOIDS, "explain", *_NEW, "--paradigm", "projection"),
        "head show a megabyte of labels": _head_show_a_megabyte_of_labels,
    },
    SEARCHED: {
        "refute 58000 patches near a prototype": refutation(
            lambda: [about(patch, 0, 0.0, 4.0) for patch in range(5800)], 58_000
        ),
        "refute 10000 patches with activations": refutation(activation, 10**4, "top_k"),
        "refute a patch with 2000 statements": refutation(
            lambda: [about(0, j, 0.0, 64.0) for j in range(2000)], prototypes=2000, depth=64
        ),
        "refute many classes": refutation(one, 100, classes=10**4),
    },
    (6,): {
        "audit with latents of no images": of_run(
            *("audit", "out", *HEAD, "--latents", "z"),
            change=lambda out: (out.parent / "z").write_bytes(latents_of([0, 10**12, 6])),
        ),
    },
    (10,): {
        "explain with 100000 classes": _explain_with_100000_classes,
    },
    LIMITED: {
        "audit a network of long numbers": demanding(_SIGMOIDS, "audit", "out", "--kernel", "arb"),
        "audit a network of long numbers by mpmath": demanding(
            "50 convolutions by 2^1022, then 300 sigmoids", "audit", "out", "--kernel", "mpmath"
        ),
        "audit a picture of 2364 rows": demanding(_SQUARE, "audit", "out", "--kernel", "arb"),
        "report on a network of long numbers": demanding(
            _SIGMOIDS, "report", "out", "-o", "r.html", "--kernel", "arb", "--provable"
        ),
    },
}
"""By the exit codes that an attack may have and its name, what makes its files in a folder and returns the command,
which is run there."""

SECONDS, MEGABYTES = 45, 500  # one proof may take 30; a command that tries three paradigms takes its time
"""The bound of docs/cli.md, "Limits". It is processor time, of which a loaded machine takes hardly more."""

LONG = (
    *("explain a picture of eight million rows", "explain a network of long numbers"),
    *("audit a picture of 2364 rows", "refute a patch with 2000 statements"),
)
"""Left out of a short run, in which the audit or the refutation of such a file takes the same way to the same limit."""


@pytest.fixture(scope="module")
def runner() -> Iterator[Measurer]:
    with measurer() as started:
        yield started


@pytest.mark.parametrize(
    ("codes", "name"),
    [
        pytest.param(codes, name, marks=[pytest.mark.long] * (name in LONG), id=name)
        for codes in ATTACKS
        for name in ATTACKS[codes]
    ],
)
def test_is_answered_or_refused_within_the_bound(codes, name: str, runner: Measurer, tmp_path: Path) -> None:
    arguments = ATTACKS[codes][name](tmp_path)
    cost = runner.run(tmp_path, *arguments, timeout=300, grace=0.2 if codes == SEARCHED else None)
    assert cost.code in codes, cost
    assert cost.seconds < SECONDS and cost.megabytes < MEGABYTES, cost
    assert "Traceback" not in cost.err
    if cost.code == 9 and "folder with" not in name:
        lines = 2 if name == "audit of a device" else 1  # the other certificates are audited, and the folder is told of
        assert cost.err.startswith("error: ") and cost.err.count("\n") == lines and len(cost.err) < 1000
    if any(what in name for what in ("pipe", "device")) and cost.code == 9:
        sent = "it is a link that leads out of its folder" if name == "audit of a device" else None
        assert (sent or "it is a pipe, socket or device; write its content to a regular file") in cost.err


def test_the_measurement_counts_time_memory_and_waiting(runner: Measurer, tmp_path: Path) -> None:
    (tmp_path / "h").write_bytes(bytes(100 * 10**6))
    cost = runner.run(tmp_path, "checker", "h", "--head", "h")
    assert cost.code == 9 and 90 < cost.megabytes < 300 and cost.seconds > 0
