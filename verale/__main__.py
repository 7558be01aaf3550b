"""`python -m verale` is the command `verale`."""

from verale.cli import main

main()
