"""The command `verale`, also as `python -m verale`."""

import os
import sys
from contextlib import suppress


def main() -> None:
    """Entry point. It ends by SystemExit, also where it is interrupted while the command line is imported."""
    try:
        from verale.cli import main as run

        run()
    except KeyboardInterrupt:
        with suppress(OSError):  # nobody reads it
            os.write(2, b"interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
