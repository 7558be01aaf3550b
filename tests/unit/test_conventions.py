"""What holds all over the package: tables of the documentation name its files, names are unique, one word stands for
one thing, and paradigms are those of the checker."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import click
import pytest
from support.cases import case, every

import verale
from verale.certificate.words import percent
from verale.checker import certificate as checked
from verale.cli import cli
from verale.paradigms import PARADIGMS, paradigms_of

ROOT = Path(__file__).parents[2]
PACKAGE = Path(verale.__file__).parent


# Bounds and rules mirror each other, as docs/design.md says


FOLDERS = ("verale/bounds", "verale/checker/reading")


@pytest.mark.parametrize("column", range(2), ids=FOLDERS)
def test_every_file_is_in_the_table(column: int) -> None:
    page, root = (ROOT / "docs" / "design.md").read_text(encoding="utf-8"), ROOT / FOLDERS[column]
    heading = "".join(f"| `{folder}/` " for folder in FOLDERS) + "|\n"
    rows = page.split(heading)[1].split("\n\n")[0].splitlines()[1:]
    named = re.findall(r"`([\w/]+\.py)`", " ".join(row.strip("| ").split(" | ")[column] for row in rows))
    files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py") if path.name != "__init__.py")
    assert sorted(named) == files


# Names


def test_no_two_public_classes_share_a_name() -> None:
    """Unless the checker, which reads the specification on its own, reads the same thing apart."""
    homes: defaultdict[tuple[bool, str], list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).as_posix()
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            homes[module.startswith("checker/"), name].append(module)
    assert [(name, modules) for (_, name), modules in homes.items() if len(modules) > 1] == []


def test_no_name_hides_a_module() -> None:
    """`import verale.search.explain as m` gives a module: no room exports a function under the name of its file."""
    hidden = []
    for info in walk_packages(verale.__path__, "verale."):
        if ".plugins" in info.name or info.name.endswith("__main__"):  # CaBRNet's side; what runs when imported
            continue
        import_module(info.name)
        room, _, name = info.name.rpartition(".")
        if not isinstance(getattr(sys.modules[room], name), ModuleType):
            hidden.append(info.name)
    assert hidden == []


# docs/words.md: one word for one thing, in templates, messages, the help of commands and the pages for people

WORDS = (ROOT / "docs" / "words.md").read_text(encoding="utf-8")
FOR_PEOPLE = (
    "README.md",
    *(f"docs/{name}.md" for name in ("tutorial", "report", "contrast", "rules", "faq", "ai-act", "auditing")),
    *(f"examples/{name}/README.md" for name in ("digits", "photographs")),
)
"""The pages that take a reader through verale. Reference keeps the words of its field."""
ROOMS = ("cli", "report", "demo")
"""The rooms of verale whose sentences people read; the texts of `runs` name fields of files, too."""


def table(text: str) -> dict[str, tuple[str, ...]]:
    """What is not said, by the word that is said instead."""
    rows = re.findall(r"^\| (\*\*.+?) \| .+? \| ?(.*?) ?\|$", text, re.MULTILINE)
    return {word.replace("*", ""): tuple(filter(None, words.split(", "))) for word, words in rows}


def forbidden() -> re.Pattern[str]:
    words = [word for several in table(WORDS).values() for word in several]
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})s?\b", re.IGNORECASE)


def prose(page: str) -> str:
    """A page without code, without what commands print, and without where links lead."""
    text = re.sub(r"^ *```.*?^ *```$", "", page, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)


def shown_by(path: Path) -> str:
    """What a template shows, without tags, comments, code and expressions; or the texts of a script that are sentences,
    or the words of a heading."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return re.sub(r"<!--.*?-->|{[{%#].*?[}%#]}|<code>.*?</code>|<[^>]+>", " ", text, flags=re.DOTALL)
    found = re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)
    return "\n".join(text for text in found if re.search(r"^[A-Z]\w+$| ", text))


def messages(source: str) -> Iterator[str]:
    """The texts of a module that are sentences, without docstrings."""
    tree = ast.parse(source)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documented]
    for node in texts:
        if isinstance(node.value, str) and re.search(r"^[A-Z][a-z]+$| ", node.value):
            yield node.value.replace("margin >= ", "")  # the field, as a verdict line has it


def helps(command: click.Command) -> Iterator[str]:
    yield f"{command.help or ''} {command.short_help or ''}"
    for parameter in command.params:
        yield getattr(parameter, "help", None) or ""
    for one in getattr(command, "commands", {}).values():
        yield from helps(one)


def shown() -> Iterator[tuple[str, str]]:
    """Each text that people read, with where it is."""
    for page in FOR_PEOPLE:
        yield page, prose((ROOT / page).read_text(encoding="utf-8"))
    for path in sorted((ROOT / "verale" / "report" / "page_files").glob("*.*")):
        if path.suffix in (".html", ".js"):
            yield path.name, shown_by(path)
    for room in ROOMS:
        for path in sorted((ROOT / "verale" / room).rglob("*.py")):
            for text in messages(path.read_text(encoding="utf-8")):
                yield str(path.relative_to(ROOT)), text
    for text in helps(cli):
        yield "the help of a command", text


def test_one_word_for_one_thing() -> None:
    unsaid = forbidden()
    wrong = [
        (where, found[0], text[max(0, found.start() - 60) : found.end() + 40].replace("\n", " "))
        for where, text in shown()
        for found in unsaid.finditer(text)
    ]
    assert wrong == [], "docs/words.md has the words to be used instead"


def test_no_word_is_both_said_and_not() -> None:
    words = table(WORDS)
    assert len(words) > 25 and len(set(re.findall(r"^\| \*\*", WORDS, re.MULTILINE))) == 1
    assert not {word for several in words.values() for word in several} & set(words)
    assert len(re.findall(r"^\| \*\*", WORDS, re.MULTILINE)) == len(words)


def test_another_word_is_noticed_and_what_is_no_sentence_does_not_count() -> None:
    assert forbidden().search(prose("The backbone gives latents.\n"))
    assert forbidden().search("\n".join(messages('raise E(f"the {name} has no rival")\n')))
    assert not forbidden().search(prose("```\nmargin >= 1\n```\nthe field `margin`, [a](b.md#margin)\n"))
    assert not forbidden().search("\n".join(messages('"""The margin."""\nx = {"margin": 1}\n')))


def test_one_function_writes_shares_so_all_are_rounded_alike() -> None:
    """No other text has a number before a per cent sign."""
    texts = [(path.name, path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]
    assert [name for name, text in texts if re.search(r"\{[^{}]*\} %", text)] == ["words.py"]
    assert percent(999, 1000) == "99.9 %" and percent(56_666, 100_000) == "56.6 %"


# The table of paradigms that search, command line and demo share says what the checker's own says


def test_names_geometries_and_what_statements_are_about_are_the_checkers() -> None:
    assert {*PARADIGMS} == {*checked.PARADIGMS}
    for name, each in PARADIGMS.items():
        forms = checked._FORMS.get(name, (checked.PatchStatement,))
        assert (each.name, {*each.geometries}) == (name, {*checked.PARADIGMS[name]})
        assert each.spatial == (forms == (checked.PatchStatement,)), name


def test_a_geometry_has_the_paradigms_that_are_defined_for_it() -> None:
    for geometry in checked.PARADIGMS["top_k"]:
        expected = {name for name, geometries in checked.PARADIGMS.items() if geometry in geometries}
        assert set(paradigms_of(geometry)) == expected
        assert set(paradigms_of(geometry, patches=2)) == {name for name in expected if not PARADIGMS[name].one_patch}
    assert paradigms_of("unknown") == ()


# Many cases in one test: each is tried, and the one that fails is named.


def test_all_values_are_tried_with_the_same_fixtures(tmp_path) -> None:
    tried = []

    @every("number", range(3))
    @every(("letter", "other"), [("a", 1), ("b", 2)])
    def looped(number, letter, other, folder) -> None:
        tried.append((number, letter, other, folder))

    assert list(inspect.signature(looped).parameters) == ["folder"]
    looped(folder=tmp_path)
    assert tried == [(n, letter, other, tmp_path) for n in range(3) for letter, other in (("a", 1), ("b", 2))]


@pytest.mark.parametrize("failing", [lambda: 1 / 0, lambda: pytest.fail("no")])
def test_the_case_that_fails_is_named(failing) -> None:
    @every("number", range(9))
    def looped(number) -> None:
        if number == 7:
            failing()

    with pytest.raises((ZeroDivisionError, pytest.fail.Exception)) as raised:
        looped()
    assert raised.value.__notes__ == ["in the case 7"]
    with pytest.raises(AssertionError) as raised, case("outer", 1):
        raise AssertionError
    assert raised.value.__notes__ == ["in the case 'outer', 1"]


def test_a_test_without_cases_is_refused() -> None:
    with pytest.raises(ValueError, match="could not fail"):
        every("number", [])(lambda number: None)
    with pytest.raises(ValueError, match="lacks a parameter"):
        every("number", [1])(lambda other: None)
