"""The version of the installed distribution."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("verale")
except PackageNotFoundError:
    __version__ = "0+uninstalled"
