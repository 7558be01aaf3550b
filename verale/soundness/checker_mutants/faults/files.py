"""Faults of what reads certificates, heads and latents, and of the steps of an audit."""

from __future__ import annotations

__all__ = ["FAULTS"]

FAULTS: dict[str, list[tuple[str, str, str]]] = {
    "certificate.py": [
        ("a patch may be one too far", "if statement.patch >= self.patches:", "if statement.patch > self.patches:"),
        ("a prototype may be one too far", "if statement.prototype >= head.count:", "if statement.prototype > head.count:"),
        ("a margin may be 0", "if margin is not None and margin <= 0:", "if margin is not None and margin < 0:"),
        ("statements may repeat", "if subject in subjects:", "if subject in ():"),
        ("intervals may be empty", "statement.lower > statement.upper:", "statement.lower > statement.upper + 99:"),
        ("an interval may say nothing", "if lower is None and upper is None:", "if False:"),
        ("a clause may have two ends", 'fields(value, where, ("except", side))', 'fields(value, where, ("except", side), ("lower", "upper"))'),
        ("a clause may end nowhere", "end = _number(value[side], f\"{where}.{side}\")", "end = Fraction(0) if value[side] is None else _number(value[side], f\"{where}.{side}\")"),
        ("a floor is a ceiling", 'if side == "upper" else FloorStatement(exempt, end)', 'if side else FloorStatement(exempt, end)'),
        ("the ends of an interval are exchanged", "lower, upper = (None if end", "upper, lower = (None if end"),
        ("a missing end is 0", "(None if end is None else _number", "(Fraction(0) if end is None else _number"),
        ("clauses may repeat", "            return type(statement)\n", "            return id(statement)\n"),
        ("there is one clause", "            return type(statement)\n", '            return "clause"\n'),
        ("a list is not looked at", "if isinstance(statement, OrderStatement | FloorStatement):\n            if any(j", "if isinstance(statement, OrderStatement | FloorStatement):\n            if isinstance(statement, OrderStatement) and any(j"),
        ("prices may be 0", "any(price <= 0 for", "any(price < 0 for"),
        ("a class may be one too far", "if self.predicted >= head.classes:", "if self.predicted > head.classes:"),
        ("margins may be fewer", "if len(self.margins) != head.classes:", "if len(self.margins) > head.classes:"),
        ("an instance needs no latents", 'if ("instance" in self.claims) != (self.latents is not None):', "if False:"),
        ("a list may repeat", "any(first >= second for first, second in zip(statement.exempt", "any(first > second for first, second in zip(statement.exempt"),
        ("patches may be fewer than columns", "if self.patches < head.columns:", "if self.patches < 1:"),
        ("there may not be one patch a column", "if self.patches < head.columns:", "if self.patches <= head.columns - (head.columns == 1):"),
        ("a digest may have anything after it", "_DIGEST.fullmatch(digest)", "_DIGEST.match(digest)"),
    ],
    "head.py": [
        ("a domain may be reversed", "self.lower >= self.upper", "self.lower == self.upper"),
        ("a domain may be empty", "self.depth * nearest**2 > self.radius**2", "nearest**2 > self.radius**2"),
        ("a domain may not be one point", "self.depth * nearest**2 > self.radius**2", "self.depth * nearest**2 >= self.radius**2"),
        ("an upper end below 0 is looked over", "-(self.upper or Fraction(0)), ", ""),
        ("a prototype may be 0", "if not any(row):", "if row is None:"),
        ("a tree may have a cycle", "node < child < count or", "0 <= child < count or"),
        ("a tree may be none", "!= 2 * count:", "> 2 * count:"),
        ("classes may have any weights", "entry not in (0, one)", "entry is None"),
    ],
    "latents.py": [
        ("the digest leaves out the shape", 'f"verale.latents.v1 {self._patches} {self._depth}\\n".encode("ascii")', 'b"verale.latents.v1\\n"'),
        ("the first image is taken", "self._values(self._index_of[digest])", "self._values(0)"),
        ("channels are taken for patches", "self._channels_first = len(shape) == 4", "self._channels_first = False"),
    ],
    "auditor.py": [
        ("no instance need be claimed", '"not claimed" not in verdict.claims.values()', "True"),
        ("every instance counts as unclaimed", '"not claimed" not in verdict.claims.values()', "False"),
        ("statements are not looked at", "        require_true(self._certificate, evaluation)\n", ""),
        ("the domain is not looked at", "        require_domain(self._space.head, image.exact, self._certificate.patches)\n", ""),
        ("margins are not looked at", "        require(self.margins, certificate.margins)\n", ""),
        ("minimality is not looked at", 'asked = minimality and "minimality"', 'asked = not minimality and "minimality"'),
        ("what fails is not refuted", 'error.reason == "entailment"', 'error.reason == "margin"'),
        ("nothing is checked against the head", "certificate.check_against(head)  # 4. Statements\n        asked", "asked"),
        ("prices are not looked at", 'case "assignment":', 'case "prices":'),
        ("no margin is one target", 'case "joint":', 'case "one":'),
    ],
}  # fmt: skip
"""For each file of the checker: what is wrong, the source text, and what takes its place."""
