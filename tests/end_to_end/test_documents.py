"""The pages of the documentation: every command and program on them runs, and prints what stands there."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import click
import pytest
import torch
from PIL import Image
from support.cases import every
from support.commands import in_process, program
from support.prototypedl import SIDE, random_digits, save_whole, small, write_idx
from support.small import small_head, small_latents

import verale
from verale.cli import cli
from verale.files import write_atomically
from verale.runs.explain import open_run
from verale.runs.table import Explained, csv_lines
from verale.search import SearchOptions
from verale.soundness import suite
from verale.soundness.corpus import cases

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    str(page.relative_to(ROOT))
    for pattern in ("*.md", "docs/**/*.md", "certificates/*.md", "proofs/*.md")
    for page in ROOT.glob(pattern)
)
CLONE = ("README.md", "TRUSTED.md", "certificates", "examples", "proofs", "pyproject.toml", "tests", "verale")

ELSEWHERE = {
    "make demo": ".ci/run",
    "make test": ".ci/run",
    "make test-all": ".ci/run",
    "make proved": ".ci/run",
    "make -C proofs/rocq theories": "tests/soundness/test_rocq.py",
    "make -C proofs/rocq extract": "tests/soundness/test_rocq.py",
    "verale soundness": "tests/soundness runs its sections",
    "cd PICTURES && find . -iname '*.png' -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum -- | sha256sum": (
        "tests/unit/checker/test_file_auditor.py"
    ),
    "python3 -m venv .venv": "make demo",
    "pip install .": "tests/packaging installs the core",
    "pip install '.[cabrnet,report]'": "make test",
}
"""Commands that these tests do not run, and what does."""

COMMAND = re.compile(r"^ *(?:\$ )?((?:verale|python3?|pip|make|mkdocs|cabrnet|jq|cd) \S.*)$", re.MULTILINE)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[tuple[str, str]]:
    """(language, text) of every fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text_of(page), re.DOTALL | re.MULTILINE)


def steps(page: str) -> Iterator[tuple[str, str]]:
    """What a page runs, in order, each with what stands there as printed: `$` lines, and Python programs."""
    found = blocks(page)
    for number, (language, text) in enumerate(found):
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, printed = re.findall(r"\A((?:[^\n]*\\\n)*[^\n]*\n)(.*)\Z", part, re.DOTALL)[0]
                yield command, printed
        elif language == "python":
            following = found[number + 1] if number + 1 < len(found) else ("", "")
            yield f"python -c {shlex.quote(text)}", following[1] if following[0] == "text" else ""


def told(printed: str) -> re.Pattern[str]:
    """`...` stands for anything."""
    return re.compile(re.escape(printed).replace(re.escape("..."), ".*"), re.DOTALL)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A file or folder of the repository by its name, copied once: clones share its files."""
    copies = tmp_path_factory.mktemp("pristine")

    @cache
    def copied(name: str) -> Path:
        source, to = ROOT / name, copies / name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, to, ignore=ignored) if source.is_dir() else shutil.copy(source, to)
        return to

    return copied


def stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    """The size of each file, and when it was written."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in [folder, *folder.rglob("*")]}


@pytest.fixture
def clone(page: str, pristine: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What a reader has: a clone, of its folders those that a page names; `verale` and `python` are those here.

    Its files are hard links, for thousands take seconds to copy: so no page may write into one that is there.
    """
    tmp_path = tmp_path_factory.getbasetemp() / "clone"
    shutil.rmtree(tmp_path, ignore_errors=True)
    tmp_path.mkdir()
    named = "".join(command for command, _ in steps(page))
    copies = [pristine(name) for name in CLONE if (ROOT / name).is_file() or re.search(rf"\b{name}\b", named)]
    before = list(map(stamps, copies))
    for copy in copies:
        to = tmp_path / copy.name
        shutil.copytree(copy, to, copy_function=os.link) if copy.is_dir() else os.link(copy, to)
    for name, module in ((".bin/python", ""), (".venv/bin/python", ""), (".bin/verale", "-P -m verale")):
        script = tmp_path / name
        write_atomically(script, f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n'.encode())
        script.chmod(0o755)
    yield tmp_path
    assert list(map(stamps, copies)) == before


def a_run(folder: Path) -> None:
    fixtures = ROOT / "tests" / "fixtures" / "cabrnet"
    shutil.copytree(fixtures / "protopnet", folder / "RUN")
    shutil.copytree(fixtures / "images", folder / "DIR")


def published_states(folder: Path) -> None:
    drawn = torch.Generator().manual_seed(0)
    protopnet = {"prototype_vectors": torch.rand(6, 4, 1, 1, generator=drawn), "last_layer.weight": torch.rand(3, 6)}
    torch.save(protopnet, folder / "state.pth")
    hyperpg = {
        "prototype_module.prototypes": torch.rand(3, 2, 4, 1, 1, generator=drawn),
        "prototype_module.sigmas": torch.rand(3, 2, 1, generator=drawn) + 0.5,
        "clf.2.weight": torch.rand(3, 6, generator=drawn),
    }
    torch.save({"state_dict": hyperpg}, folder / "last.ckpt")
    save_whole(small(), folder / "model.pth")
    write_idx(folder, "images.idx3", "labels.idx1", random_digits(4), [0] * 4)
    digits, photos = folder / "digits", folder / "photos"
    digits.mkdir()
    photos.mkdir()
    for number in range(2):
        picture = torch.randint(256, (SIDE, SIDE), generator=torch.Generator().manual_seed(number), dtype=torch.uint8)
        Image.fromarray(picture.numpy()).save(digits / f"{number}.png")
        Image.fromarray(picture.numpy()).resize((60, 45)).save(photos / f"{number}.jpg")
    folder.joinpath("yours.py").write_text(
        "import torch\n"
        "model = torch.nn.Sequential()\n"
        "model.add_module('add_on_layers', torch.nn.Conv2d(3, 4, 1))\n"
        "images = torch.rand(2, 3, 5, 5)\n"
    )


def accepted(folder: Path, certificate: str, files: str) -> None:
    source = ROOT / "certificates" / "accept" / "projection-euclidean"
    for name in ("head.safetensors", "latents.safetensors"):
        write_atomically(folder / files / name, source.with_name(f"{source.name}.{name}").read_bytes())
    write_atomically(folder / certificate, source.with_name(f"{source.name}.ale.json").read_bytes())


def explained(folder: Path) -> None:
    accepted(folder, "explained/000000.ale.json", ".")


def explained_out(folder: Path) -> None:
    accepted(folder, "OUT/000003.ale.json", "OUT")


def head_latents_and_a_run(folder: Path) -> None:
    a_run(folder)
    for suffix, name in (("head", "H"), ("latents", "Z")):
        shutil.copy(ROOT / "certificates" / "accept" / f"projection-euclidean.{suffix}.safetensors", folder / name)


def runs(folder: Path) -> None:
    head = small_head("euclidean")
    for name, images in (("A", small_latents(head, images=3)), ("B", small_latents(head, images=4)[1:])):
        with open_run(folder / name, head, images, SearchOptions("top_k")) as run:
            assert len(list(run)) == 3


def tables_and_runs(folder: Path) -> None:
    rows = [Explained(index, 1, 0.5, 1, True, size=10 + index, paradigm="projection") for index in range(3)]
    for name in ("OUT1/explanations.csv", "OUT2/explanations.csv", "cosine_explanations.csv"):
        write_atomically(folder / name, csv_lines(rows, heading=True).encode())
    runs(folder)
    explained_out(folder)


GIVEN = {
    "certificates/attestation-v1.md": explained,
    "certificates/audit-log-v1.md": explained,
    "docs/cabrnet.md": a_run,
    "docs/cli.md": tables_and_runs,
    "docs/report.md": explained_out,
    "docs/rules.md": runs,
    "docs/scale.md": head_latents_and_a_run,
    "docs/theorem.md": explained_out,
    "docs/architectures.md": published_states,
}
"""What pages take for granted that a reader has."""


RUNNABLE = sorted(page for page in PAGES if list(steps(page)))
LONG = {
    "docs/tutorial.md": "a network captures 50 images, which are explained twice",
    "docs/scale.md": "three commands start Ray, which tests/unit/ray does once",
    "proofs/errata.md": "60,000 random pairs of caps, and a run of tests that are run anyway",
}
"""Pages that are run as processes only, and why."""
IN_A_SHELL = ("README.md", "docs/cabrnet.md", *LONG)
"""Pages that are run as processes: what people run first, what prints messages of another library, and these."""

SLOW = ("docs/rules.md", "docs/contrast.md")
"""Pages that take some seconds here too: tests/unit has the same commands with smaller heads."""

Run = Callable[[str, int], subprocess.CompletedProcess[str]]
"""How a command is run, given the exit code of the command before."""


def expect_what_stands_there(page: str, run: Run) -> None:
    """One after the other in one clone. What is not shown to fail, has to succeed."""
    before = 0
    for command, printed in steps(page):
        done = run(command, before)
        output = re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)
        assert "Traceback" not in output, f"{command}{output}"
        assert printed or done.returncode == 0, f"{command}{output}"
        assert not printed or told(printed).fullmatch(output), f"{command}{output}"
        before = done.returncode


@pytest.fixture
def shell(clone: Path) -> Run:
    path = f"{clone / '.bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "PYTHONWARNINGS": "ignore"}

    def run(command: str, before: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", f"(exit {before}); {command}"],
            cwd=clone,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )

    return run


STORED = cases.stored


@cache
def one_in_forty(*folders: str) -> list[cases.Case]:
    """Folder by folder, so that each has some."""
    folders = folders or cases.FOLDERS[:4]
    return [case for folder in folders for case in STORED(folder)[15::40]]


@pytest.fixture
def here(clone: Path, shell: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`verale` and Python programs in this process, which has torch already; all else, and `--jobs`, by the shell.

    A section of the soundness suite that is run again gives again what it gave. That of the corpora takes one in
    forty, no large one: tests/corpus judges all.
    """
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(cases, "stored", one_in_forty)
    monkeypatch.setattr(suite, "SECTIONS", tuple(replace(each, try_it=cache(each.try_it)) for each in suite.SECTIONS))

    def run(command: str, before: int) -> subprocess.CompletedProcess[str]:
        words = shlex.split(command.replace("\\\n", " "), comments=True)
        plain = not set("$|<>;&*") & set("".join(words[1:]) if words[0] == "verale" else "")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if words[0] == "verale" and plain and "--jobs" not in words:
                return in_process(*words[1:], cwd=clone, merged=True)
            if words[:2] == ["python", "-c"]:
                return program(words[2], clone)
        return shell(command, before)

    return run


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.long] * (page in SLOW)) for page in RUNNABLE if page not in LONG]
)
def test_commands_and_programs_print_what_stands_there(page: str, clone: Path, here: Run) -> None:
    GIVEN.get(page, lambda folder: None)(clone)
    expect_what_stands_there(page, here)


@pytest.mark.long  # a process a command, most of which load torch
@pytest.mark.parametrize("page", IN_A_SHELL)
def test_a_shell_prints_what_stands_there(page: str, clone: Path, shell: Run) -> None:
    GIVEN.get(page, lambda folder: None)(clone)
    expect_what_stands_there(page, shell)


def not_run(text: str) -> list[str]:
    """Commands in blocks, fenced or indented, that are not run."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    indented = "\n".join(re.findall(r"^ {4,}.*$", prose, re.MULTILINE))
    unseen = [text for language, text in fenced if language not in ("console", "python")]
    return [command for block in (*unseen, indented) for command in COMMAND.findall(block)]


@every("page", PAGES)
def test_every_command_is_run_here_or_elsewhere(page: str) -> None:
    assert [command for command in not_run(text_of(page)) if command not in ELSEWHERE] == []


def tags(text: str) -> list[str]:
    """What a browser takes for a tag and does not show: `<z, p>` has to stand in a code span."""
    prose = re.sub(r"^ *```.*?^ *```$|^ {4,}.*$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"<[A-Za-z/][^>]*>", re.sub(r"`[^`]*`", "", prose))


@every("page", PAGES)
def test_no_formula_is_taken_for_a_tag(page: str) -> None:
    assert tags(text_of(page)) == []
    assert tags("a product <z, p>\n") == ["<z, p>"] and tags("`<z, p>` and 1 < 2\n") == []


@every("page", PAGES)
def test_commands_within_sentences_exist(page: str) -> None:
    """`verale audit --jobs N`: there is such a command, with such options."""
    for command in re.findall(r"`verale ([a-z][^`]*)`", text_of(page).replace("\n", " ")):
        name, *rest = command.split()
        found = cli.get_command(click.Context(cli), name)
        assert found is not None, command
        options = {"--help", "-h"}
        for one in (found, *getattr(found, "commands", {}).values()):
            options.update(option for parameter in one.params for option in parameter.opts)
        assert {word for word in rest if word.startswith("-")} <= options, command


@every("page", PAGES)
def test_modules_and_targets_within_sentences_exist(page: str) -> None:
    """`python -m proofs.errata`, `make fuzz`."""
    prose = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE).replace("\n", " ")
    for module in re.findall(r"`(?:PYTHONPATH=tests )?python (?:-P )?-m ([a-z_.0-9]+)", prose):
        assert importlib.util.find_spec(module) is not None, module
    for target in re.findall(r"`make ([a-z-]+)", prose):
        assert re.search(rf"^{target}:", text_of("Makefile"), re.MULTILINE), target


SENT = re.compile(r"(?<!-P )-m verale(?:\.checker)?\b(?!\.)")
"""What somebody runs where files lie that others sent, in a way that imports from that folder."""


def test_no_page_imports_the_checker_from_the_current_folder() -> None:
    assert [page for page in PAGES if page != "CHANGELOG.md" and SENT.search(text_of(page))] == []
    assert SENT.search("python -m verale.checker x") and SENT.search("python3 -m verale audit")
    assert not SENT.search("python -P -m verale.checker x") and not SENT.search("python -m verale.cli")


@every("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)\s]*\)", re.sub(r"`[^`]*`", "`", text_of(page)))
    assert [link for link in links if "://" not in link and not (ROOT / page).parent.joinpath(link).is_file()] == []


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as MkDocs makes them."""
    prose = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_sections_that_messages_name_exist() -> None:
    """A message ends with `docs/PAGE.md#SECTION`; MkDocs looks at links between pages alone."""
    files = [path for folder in ("verale", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    texts = [re.sub(r'"\n\s*f?"', "", path.read_text(encoding="utf-8")) for path in files]
    named = {found for text in texts for found in re.findall(r"\b((?:docs|certificates)/[\w/-]+\.md)#([\w-]+)", text)}
    assert len(named) > 1
    assert [name for name in sorted(named) if name[1] not in anchors(name[0])] == []


def test_the_reference_has_every_public_name() -> None:
    pages = "".join(text_of(page) for page in PAGES if page.startswith("docs/api/"))
    documented = {name.split(".")[-1] for name in re.findall(r"^::: (\S+)$", pages, re.MULTILINE)}
    assert set(verale.__all__) - documented == {"VeraleError", "__version__"}, "errors are on the page of their module"
