"""An explanation in words for people who have not met prototypes before: what has to hold, and what follows.

Its numbers are the statements' own. The statements in full, and the claim in the checker's words, are beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from shlex import quote

from verale.certificate.statements import AT_A_GLANCE, bounded, bounds_in_words, counted, statement_in_words, to_read
from verale.certificate.words import (
    about,
    below,
    between,
    class_name,
    enumerated,
    lower_end,
    prototypes_named,
    upper_end,
)
from verale.checker.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
    SumStatement,
    read_certificate,
)
from verale.checker.numbers import Numbers
from verale.report.account import Account, proved_account
from verale.runs.explained_run import HeadOfRun

_COMPARED = 4
"""The most comparisons that are named one by one."""
_NAMED = 3
"""The most prototypes whose activations are told one by one."""
_LISTED = 8
"""The most prototypes that are named together."""
_KINDS = {
    ActivationStatement: (0, "as active as"),
    FloorStatement: (1, "listed below"),
    OrderStatement: (2, "listed below"),
    SumStatement: (3, "listed below"),
    PatchStatement: (4, "as stated"),
}
"""The order in which kinds of statements are told; and what a sentence says that leaves out their prototypes or
bounds."""


@dataclass(frozen=True)
class Narrower:
    """A question that is narrower than an explanation, and the command that asks it. Before it how `long` the
    explanation is, and `why`; and that the `runner_up` is not the class that is closest in the proof. Empty otherwise.
    """

    long: str
    why: str
    runner_up: str
    ask: str
    command: str

    @property
    def line(self) -> str:
        """All of it in one line."""
        return " ".join(filter(None, (self.long, self.why, self.runner_up, self.ask, self.command)))


def narrower(
    certificate: Certificate,
    count: int | None,
    file: str,
    name: Callable[[int], str],
    account: Account | None = None,
    ahead: Sequence[float] = (),
) -> Narrower | None:
    """What to ask where an explanation is too long to be read, or about another class than the runner-up.

    The question is about the runner-up, and where the image is not known about the class that is closest in the proof.
    `count` is how many prototypes the head has, where known; `name` gives that of a class; `ahead` (C,) is about how
    far the class is ahead of each for this image, empty where that is not known.
    """
    margins = {c: margin for c, margin in enumerate(certificate.margins) if margin is not None}
    closest = account.rival if account else min(margins, key=margins.__getitem__, default=None)
    if closest is None:
        return None
    known = len(ahead) == len(certificate.margins) and min(ahead) >= 0
    second = min(margins, key=ahead.__getitem__) if known else closest
    read = 0 if count is None else to_read(certificate.statements, count, certificate.patches)
    if read <= AT_A_GLANCE and second == closest:
        return None
    long = why = runner_up = ""
    if read > AT_A_GLANCE:
        long = f"Too long to read at a glance: {len(certificate.statements)} statements, with {read} numbers and names."
        why = _why_long(certificate, closest, name, account)
    if second != closest:
        runner_up = (
            f"The network's second choice is class {name(second)}, about {about(ahead[second])} points behind on this"
            f" image; class {name(closest)} is only the closest class of this proof."
        )
    return Narrower(
        long,
        why,
        runner_up,
        f"A narrower question, mostly with a shorter answer: why not class {name(second)}?",
        f"verale contrast {quote(file)} --class {second}",
    )


def _why_long(certificate: Certificate, closest: int, name: Callable[[int], str], account: Account | None) -> str:
    """How little is left over the closest class, and what would be missing without the statement that gives least."""
    other = name(closest)
    if account is None:
        left = below(certificate.margins[closest] or 0)
        return f"Why so long: over class {other}, the closest class of this proof, only {left} points are left."
    taken = account.taken
    others = f"all others give {taken[1:]} more" if taken.startswith("-") else f"all others can take back {taken}"
    said = (
        f"Why so long: the prototypes of class {name(certificate.predicted)} give it at least {account.together} points"
        f" more than class {other}, the closest class of this proof, and {others}, so {account.lead} are left after"
        " rounding"
    )
    least = min(account.stated, key=lambda line: Fraction(line.points), default=None)
    if least is None or (missing := Decimal(least.points) - Decimal(account.lead)) <= 0:
        return f"{said}."
    without = f"Without prototype {least.prototype}, which gives least of those stated ({least.points})"
    return f"{said}. {without}, {missing} would be missing."


def named_prototypes(certificate: Certificate, count: int | None = None) -> tuple[int, ...]:
    """The prototypes to show with an explanation: those of statements that are named one by one, and the few that a
    floor speaks of, if the head is known to have so many prototypes."""
    compared = [s for s in certificate.statements if isinstance(s, PatchStatement)]
    named = [s.prototype for s in compared] if _few(compared, certificate.patches) else []
    named += [s.prototype for s in certificate.statements if isinstance(s, ActivationStatement)]
    for statement in certificate.statements:
        if isinstance(statement, FloorStatement) and count is not None and count - len(statement.exempt) <= _COMPARED:
            named += sorted(set(range(count)).difference(statement.exempt))
    return tuple(dict.fromkeys(named))


def in_brief(certificate: Certificate, count: int | None = None) -> str:
    """What has to hold, in a line of a list: `prototype 5 is active at least 2; no other prototype is active above 1`;
    of a head with so many prototypes, if that is known."""
    return "; ".join(conditions(certificate, "", count, "")) or "nothing has to hold"


def conditions(
    certificate: Certificate, observable: str = "comparison", count: int | None = None, listed: str = " (listed below)"
) -> list[str]:
    """What has to hold, as the parts of a sentence that begins "The class is 3 whenever ..."; empty if nothing.

    A number of prototypes stands before "of the" or "prototypes", their names after "prototype" or "prototypes"; so
    none is taken for the other. "Other" prototypes are those that no earlier part names. `observable` is what comparing
    a patch with a prototype gives; `count` how many prototypes the head has, where known; `listed` follows the number
    of prototypes that are not named.
    """
    statements, parts = certificate.statements, list[str]()
    stated = [s for s in statements if isinstance(s, ActivationStatement)]
    if len(stated) <= _NAMED:
        parts += [f"prototype {s.prototype} is active {_ends(s)}" for s in stated]
    else:
        which = _counted(len(stated), count)
        if len(stated) <= _LISTED:
            which = prototypes_named([s.prototype for s in stated])
        parts.append(f"{which} are as active as stated")
    compared = [s for s in statements if isinstance(s, PatchStatement)]
    if _few(compared, certificate.patches):
        to = "to" if "distance" in observable else "with"
        before, is_ = (f"the image's {observable} {to} ", "is ") if observable else ("", "")
        parts += [f"{before}prototype {s.prototype} {is_}{_ends(s)}" for s in compared]
    elif compared:
        what = "comparison with a prototype" if len(compared) == 1 else "comparisons with prototypes"
        comes = "comes" if len(compared) == 1 else "come"
        patches, of = len({s.patch for s in compared}), certificate.patches
        where = "" if of == 1 else f" in all {of} patches" if patches == of else f" in {patches} of the {of} patches"
        parts.append(f"{len(compared)} {what}{where} {comes} out as stated")
    return [*parts, *_clauses(statements, count, listed)]


def _few(compared: Sequence[PatchStatement], patches: int) -> bool:
    """Whether comparisons are named one by one: a few, of an image that is one patch."""
    return patches == 1 and len(compared) <= _COMPARED


def _ends(statement: PatchStatement | ActivationStatement) -> str:
    return between(statement.lower, statement.upper, "from {} to {}")


def _clauses(statements: Sequence[Statement], count: int | None, listed: str) -> Iterator[str]:
    """The clauses in words; for `count` and `listed` see `conditions`.

    Each is told by the prototypes that it speaks of where they are fewer than those that it exempts. Those with a
    statement of their own that says as much are not named: the clause says nothing of them. It is left out if it says
    nothing of any other.
    """
    ends = [(s.prototype, s.lower, s.upper) for s in statements if isinstance(s, ActivationStatement)]
    named: set[int] | None = {j for j, _, _ in ends}  # by earlier parts; None where that is not plain
    for statement in sorted(statements, key=lambda s: _KINDS[type(s)][0]):
        if isinstance(statement, OrderStatement):
            end = upper_end(statement.upper)
            inside, outside = f"active at most {end}", f"active above {end}"
            exempt = {j for j, _, upper in ends if upper is not None and upper <= statement.upper}
        elif isinstance(statement, FloorStatement):
            end = lower_end(statement.lower)
            inside, outside = f"active at least {end}", f"active below {end}"
            exempt = {j for j, lower, _ in ends if lower is not None and lower >= statement.lower}
        else:
            if isinstance(statement, SumStatement):
                rivals = None if statement.rivals is None else ", ".join(map(str, statement.rivals))
                whom = "any other class" if rivals is None else f"any of these classes ({rivals})"
                most = upper_end(statement.upper)
                yield f"all prototypes of other classes together take back at most {most} points for {whom}"
            continue
        exempt.update(statement.exempt)
        stated = len(set(statement.exempt))
        if count is not None and count - len(exempt) < len(exempt):
            meant = [j for j in range(count) if j not in exempt]
            if len(meant) > _COMPARED:
                yield f"{_counted(count - stated, count)}{listed} are {inside}"
                named = None
            elif meant:
                yield f"{prototypes_named(meant)} {'is' if len(meant) == 1 else 'are'} {inside}"
                named = None if named is None else named.union(meant)
        elif not exempt:
            yield f"no prototype is {outside}"
        elif exempt == named:
            others = "no other prototype" if count is None else f"none of the other {count - len(exempt)} prototypes"
            yield f"{others} is {outside}"
        elif len(exempt) <= _LISTED:
            yield f"no prototype except {prototypes_named(sorted(exempt))} is {outside}"
        else:
            yield f"only {_counted(stated, count)}{listed} may be {outside}"
            named = None


def _counted(number: int, of: int | None) -> str:
    noun = "prototype" if number == 1 else "prototypes"
    return f"{number} {noun}" if of is None else f"{number} of the {of} prototypes"


@dataclass(frozen=True)
class Telling:
    """What a certificate says, in words.

    Attributes:
        certificate: the certificate.
        predicted: the class's name, or its number where it has none.
        sentence: what has to hold, and which class follows.
        statements: of each what it is about, and its bounds; those first that the sentence speaks of one by one.
        unsaid: those of them whose prototypes or bounds the sentence leaves out.
        margins: of each rival its name, and how far it stays behind at least; the closest first.
        size: how many statements there are, and how much they bound.
        prototypes: those to show with it.
        digests: of the certificate's file and of all that it names, by what they are.
        account: why the class is ahead, in points; None where that is not known.
        points: the same in words, line by line.
        narrower: what can be asked where it is too long to be read; None where it is not.
    """

    certificate: Certificate
    predicted: str
    sentence: str
    statements: tuple[tuple[str, str], ...]
    unsaid: tuple[tuple[str, str], ...]
    margins: tuple[tuple[str, str], ...]
    size: str
    prototypes: tuple[int, ...]
    digests: Mapping[str, str]
    account: Account | None = None
    points: tuple[tuple[str, str], ...] = ()
    narrower: Narrower | None = None

    @classmethod
    def of(
        cls,
        data: bytes,
        head: HeadOfRun | None = None,
        classes: Sequence[str] | None = None,
        numbers: Callable[[bytes], Numbers] | None = None,
        file: str = "FILE",
    ) -> Telling:
        """Tell a certificate.

        Args:
            data: the bytes of its file.
            head: what is known of a head; it counts if it is the one that the certificate names.
            classes: the names of the classes, where the head has none.
            numbers: what a checker proves from the statements in a certificate's bytes (`Auditor.numbers`).
            file: the certificate's, for commands.

        Raises:
            FormatError: (the checker's) bytes that are not a certificate.
        """
        certificate = read_certificate(data)
        head = None if head is None or head.sha256 != certificate.head else head
        count = None if head is None else head.prototypes
        classes = (None if head is None else head.labels) or classes
        parts = conditions(certificate, "comparison" if head is None else head.observable, count)
        predicted = class_name(certificate.predicted, classes)
        sentence, account = f"The class is {predicted} whenever {enumerated(parts)}.", None
        if not parts:
            sentence = f"The class is {predicted} whatever the image shows: it follows from the network's last layers"
            sentence += " alone."
        if head is not None and numbers is not None:
            account = proved_account(data, certificate, head.head, numbers)
        order = {} if account is None else {j: place for place, j in enumerate(account.adding)}
        ranked = sorted(
            certificate.statements,
            key=lambda each: (_KINDS[type(each)][0], order.get(getattr(each, "prototype", -1), len(order))),
        )  # those first that give most points
        told = [(each, (statement_in_words(each, count)[0], bounds_in_words(each))) for each in ranked]
        proved = sorted((margin, rival) for rival, margin in enumerate(certificate.margins) if margin is not None)
        size = counted(certificate.statements)
        if count is not None and certificate.statements:
            reach, pairs = bounded(certificate.statements, count, certificate.patches), certificate.patches * count
            size += f"; they bound {reach.prototypes} of the head's {count} prototypes"
            size += f", and {reach.pairs} of {pairs} pairs of a patch and a prototype" if reach.pairs else ""
        named = {name: getattr(certificate, name) for name in ("head", "latents", "picture", "network")}
        digests = {f"{name} that it names": digest for name, digest in named.items() if digest is not None}
        return cls(
            certificate,
            predicted,
            sentence,
            tuple(pair for _, pair in told),
            tuple(pair for each, pair in told if _KINDS[type(each)][1] in sentence),
            tuple((class_name(rival, classes), below(margin)) for margin, rival in proved),
            size,
            named_prototypes(certificate, count),
            {"certificate": hashlib.sha256(data).hexdigest(), **digests},
            account,
            () if account is None else tuple(account.in_words(lambda c: class_name(c, classes))),
            narrower(certificate, count, file, lambda c: class_name(c, classes), account),
        )
