"""Certificates: a frozen record, its statements, its encoding, and its words for people."""

from verale.certificate.record import TYPE, Certificate
from verale.certificate.statements import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Prices,
    Statement,
    SumStatement,
    statement_in_words,
)

__all__ = [
    "TYPE",
    "ActivationStatement",
    "Certificate",
    "FloorStatement",
    "OrderStatement",
    "PatchStatement",
    "Prices",
    "Statement",
    "SumStatement",
    "statement_in_words",
]
