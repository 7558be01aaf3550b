"""Files: names of certificate files, reading with a clear error, writing so that nobody sees half a file.

Only regular files are read and replaced: a pipe can keep a reader waiting for ever, and a device has no end. A link is
followed to read, never to write or to remove; of a folder that somebody may have sent (`SentFile`) only within it. All
that verale changes on a disk it changes by the functions here.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path, PurePosixPath

from verale.errors import InputError

_CERTIFICATES = "certificates"
_MOST_LINKS = 8  # how often a path is looked up anew in a folder in which links are replaced meanwhile
_HAS_DESCRIPTORS = os.open in os.supports_dir_fd
"""Whether files of a folder are opened by its descriptor; not on Windows."""
_IRREGULAR = "it is a pipe, socket or device; write its content to a regular file"

LARGEST = 128 * 2**20
"""Bytes of a file that is read whole: a head, as certificates/v1.md has it, a picture, a description of a run."""
LARGEST_LATENTS = 16 * 2**30
"""The same of latents, checkpoints and tables, which may be large. A file can claim any size and take no space."""

CERTIFICATE_SUFFIX = ".ale.json"
"""How the names of certificate files end."""
_DEVICE = re.compile(r"CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9\u00b9\u00b2\u00b3]", re.IGNORECASE)
"""Names of Windows for devices, with whatever comes after a dot."""
_LONGEST_NAME = 200
"""Bytes of a name that a stranger chose: file systems allow some 255, of which temporary files need a few more."""


def in_one_line(name: bytes) -> bytes:
    """A name without ends of lines, as `sha256sum` of coreutils 9 escapes it: other names stay other names."""
    return name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")


def certificate_name(index: int) -> str:
    """The name of the certificate of image number `index`."""
    return f"{index:06d}{CERTIFICATE_SUFFIX}"


def certificate_index(name: str) -> int | None:
    """The image of a certificate's file name, where the name is a number as `certificate_name` writes it."""
    text = name.removesuffix(CERTIFICATE_SUFFIX)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def certificates_in(folder: Path) -> list[Path]:
    """The certificate files of a folder, sorted by name. Whatever else has such a name is there too, to be refused."""
    return sorted(folder.glob(f"*{CERTIFICATE_SUFFIX}"))


def certificates_folder(folder: Path) -> Path:
    """Where the certificates of a folder lie: there, or in its subfolder `certificates`, as `verale demo` has them.

    Whoever opens a file of the subfolder finds it in the folder (`SentFile`). A link of that name that is the folder
    itself is meant: then the folder is where it leads.
    """
    if certificates_in(inside := folder / _CERTIFICATES) and not certificates_in(folder):
        return inside
    return followed(folder) or folder if folder.name == _CERTIFICATES and folder.is_symlink() else folder


def folder_of(given: str | Path) -> Path:
    """The folder in which what belongs to certificates lies: a folder's own, or that of a file or of Parquet."""
    path = Path(given)
    return certificates_folder(path) if path.is_dir() and path.suffix != ".parquet" else path.parent


def is_certificate_name(name: str) -> bool:
    """Whether a name that a stranger chose may be given to a certificate file, in any folder.

    It is plain, printable and short, and ends in `.ale.json`, so that no other program takes the file for one of its
    own. It does not begin with `.`, which hides a file, nor with `-`, which makes an option of it in `verale audit *`.
    What stands before its first dot is no device of Windows, where such a file would be written to the device.
    """
    return (
        name.endswith(CERTIFICATE_SUFFIX)
        and name.isprintable()
        and not name.startswith((".", "-"))
        and not set(name) & set('/\\:*?"<>|')
        and not _DEVICE.fullmatch(name.partition(".")[0].rstrip(" "))
        and len(name.encode("utf-8", "surrogatepass")) <= _LONGEST_NAME
    )


def followed(path: Path) -> Path | None:
    """The path without links; None where they lead in a circle, or nowhere that can be looked at."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return None


def lies_in(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path lies in one of these folders, wherever links lead."""
    real = followed(path)
    return real is not None and any(real.is_relative_to(each) for each in filter(None, map(followed, folders)))


class SentFile(str):
    """The path of a file in a folder that may be a stranger's: whoever opens it, opens it there, wherever links lead.

    Folder by folder is opened by its descriptor, so no other file can be opened than the one that was checked, whatever
    is renamed meanwhile. Links within the folder are followed. It stays a `SentFile` as an argument, and in a pickle.

    Args:
        path: of the file.
        folder: that it has to lie in; by default the one that the path names. One called `certificates` has to lie in
            its parent in the same way (`certificates_folder`).
    """

    folder: Path

    def __new__(cls, path: str | Path, folder: Path | None = None) -> SentFile:
        file = super().__new__(cls, path)
        file.folder = Path(path).parent if folder is None else folder
        return file

    def __reduce__(self) -> tuple[type[SentFile], tuple[str, Path]]:
        return SentFile, (str(self), self.folder)

    def beside(self, path: str | Path) -> SentFile:
        """Another path that has to lie in the same folder."""
        return SentFile(path, self.folder)


def require_inside(path: Path, folder: Path) -> None:
    """Raise InputError for a link that leads out of a folder. This is for a clear message: `SentFile` sees to it."""
    if not lies_in(path, [folder]):
        raise InputError(path, _leads_out(str(path)))


def _leads_out(path: str) -> str:
    try:
        where = followed(Path(path)) or os.readlink(path)
    except OSError:
        where = "nowhere"
    return (
        f"is a link that leads out of its folder, to {where}, and who made it chose that; put the file itself there, or"
        " name that file as an argument or option"
    )


def open_regular(path: str | Path) -> BufferedReader:
    """A regular file, opened for reading; it never waits. Raises OSError for anything else, with the reason."""
    return open(path, "rb", opener=_opened)


def opener_of(*paths: str | None) -> Callable[[str, int], int]:
    """What opens regular files for the checker: these paths, and what lies in those that are folders, as a `SentFile`
    where they are one."""
    sent = [path for path in paths if isinstance(path, SentFile)]

    def opener(path: str, flags: int) -> int:
        around = [one for one in sent if path == one or path.startswith(f"{one}{os.sep}")]
        return _opened(around[0].beside(path) if around else path, flags)

    return opener


def _opened(path: str, flags: int) -> int:
    flags |= getattr(os, "O_NONBLOCK", 0)  # opening a pipe waits for a writer otherwise
    descriptor = _opened_in(path.folder, path, flags) if isinstance(path, SentFile) else os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # of a folder, `open` itself says so
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, _IRREGULAR, path)


def _opened_in(folder: Path, path: str, flags: int) -> int:
    """The descriptor of a file in a folder. Raises OSError: there is none, or a link leads out of the folder.

    No link is followed here: where one is met, the path without links is looked up, and if it lies in the folder it is
    opened in the same way. Where a system has no such calls (Windows), links are looked at before, not while opening.
    """
    if not _HAS_DESCRIPTORS:
        if not lies_in(Path(path), [folder]):
            raise OSError(errno.ELOOP, f"it {_leads_out(path)}", path)
        return os.open(path, flags)
    steps = _steps(Path(path), folder)
    for _ in range(_MOST_LINKS):
        try:
            return _descended(folder, steps, flags)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
                raise OSError(error.errno, error.strerror, path) from None
            real, around = followed(Path(path)), followed(folder)
            if real is None or around is None or not real.is_relative_to(around):
                raise OSError(errno.ELOOP, f"it {_leads_out(path)}", path) from None
            if (again := real.relative_to(around).parts) == steps:
                raise OSError(error.errno, error.strerror, path) from None
            steps = again
    raise OSError(errno.ELOOP, "its links change while it is read", path)


def _steps(path: Path, folder: Path) -> tuple[str, ...]:
    """The names that lead from a folder to a path. Raises OSError: none do."""
    if path.is_relative_to(folder) and ".." not in (steps := path.relative_to(folder).parts):
        return steps
    real, around = followed(path), followed(folder)
    if real is None or around is None or not real.is_relative_to(around):
        raise OSError(errno.ELOOP, f"it {_leads_out(str(path))}", str(path))
    return real.relative_to(around).parts


def _descended(folder: Path, steps: tuple[str, ...], flags: int) -> int:
    """The descriptor at the end of some names, none of them a link. Raises OSError, which has no path."""
    inner = os.O_RDONLY | os.O_DIRECTORY
    is_subfolder = folder.name == _CERTIFICATES
    descriptor = _opened_in(folder.parent, str(folder), inner) if is_subfolder else os.open(folder, inner)
    for number, step in enumerate(steps, 1):
        at = descriptor
        try:
            descriptor = os.open(step, os.O_NOFOLLOW | (flags if number == len(steps) else inner), dir_fd=at)
        finally:
            os.close(at)
    return descriptor


def read(path: str | Path, kind: str, limit: int = -1, most: int | None = None) -> bytes:
    """The bytes of a regular file of at most so many (`LARGEST`), or the first `limit` of them. Raises InputError: the
    file cannot be read, or is larger; the message names it and says which `kind` of file was expected."""
    with reading(path, kind) as stream:
        if limit < 0:
            require_size(path, os.fstat(stream.fileno()).st_size, kind, most)
        return stream.read(limit)


def read_buffer(path: str | Path, kind: str, most: int) -> bytearray:
    """The bytes of a regular file, in memory that tensors may share. Arguments and errors are those of `read`."""
    with reading(path, kind) as stream:
        size = os.fstat(stream.fileno()).st_size
        require_size(path, size, kind, most)
        data = bytearray(size)
        del data[stream.readinto(data) :]
        return data


@contextmanager
def reading(path: str | Path, kind: str) -> Iterator[BufferedReader]:
    """A regular file; what goes wrong with it is an InputError, which names it."""
    try:
        with open_regular(path) as stream:
            yield stream
    except MemoryError:
        raise InputError(path, f"takes more memory than there is; expected {kind}") from None
    except FileNotFoundError:
        raise InputError(path, f"there is no such file; expected {kind}") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror}); expected {kind}") from error


def require_size(path: str | Path, size: int, kind: str, most: int | None = None) -> None:
    """Raise InputError if a file of `kind` has more than `most` bytes; None for `LARGEST`. Call this before reading."""
    most = LARGEST if most is None else most
    if size > most:
        raise InputError(path, f"has {size} bytes, more than the {most} that are read; expected {kind}: give another")


def require_writable(path: str | Path) -> None:
    """Raise InputError unless a file can be written at `path`. Call this before long work, not after it."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _require_replaceable(path)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise _unwritable(path, error) from error


def write_atomically(
    path: str | Path, data: bytes | Iterable[bytes], temporary: str | None = None, within: tuple[int, str] | None = None
) -> os.stat_result:
    """Write a file so that nobody ever sees half of it, not even after a crash: write its bytes, or pieces of them, to
    a temporary file, then rename it. Returns what the system says of the file. Raises InputError: the file cannot be
    written, or something other than a regular file has its name.

    Args:
        temporary: the name of the temporary file, for whoever has to know it after a crash; one that is there is the
            beginning of the same data, or in the way. By default one that no file has.
        within: the descriptor of a folder, and the file's name in it: the file is written there, wherever the folder
            was moved. Then `temporary` is needed, and `path` is what messages say.
    """
    path = Path(path)
    at, name = within or (None, str(path))
    try:
        if within is None:
            path.parent.mkdir(parents=True, exist_ok=True)
        for folder in [] if within is None else reversed(PurePosixPath(within[1]).parents[:-1]):
            with suppress(FileExistsError):
                os.mkdir(str(folder), dir_fd=at)
        _require_replaceable(path)
        handle, begun = _temporary_file(path, data, temporary, within)
        try:
            try:
                for piece in [data] if isinstance(data, bytes) else data:
                    _write_all(handle, piece)
                written = os.fstat(handle)
            finally:
                os.close(handle)
            os.chmod(begun, 0o644, dir_fd=at)
            os.replace(begun, name, src_dir_fd=at, dst_dir_fd=at)
            return written
        except BaseException:
            os.unlink(begun, dir_fd=at)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


def append_bytes(path: Path, data: bytes, within: tuple[int, str] | None = None) -> None:
    """Add to the end of a file that is there and is no link; `within` is as for `write_atomically`. Raises OSError:
    perhaps a part of the data is written."""
    at, name = within or (None, str(path))
    handle = os.open(name, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), dir_fd=at)
    try:
        _write_all(handle, data)
    finally:
        os.close(handle)


def remove_file(path: Path, within: tuple[int, str] | None = None) -> None:
    """Remove a file, of a link the link; `within` is as for `write_atomically`. Raises InputError."""
    at, name = within or (None, str(path))
    try:
        os.unlink(name, dir_fd=at)
    except OSError as error:
        raise InputError(path, f"cannot be removed ({error.strerror})") from error


def remove_empty_folder(path: Path, within: tuple[int, str] | None = None) -> bool:
    """Remove a folder if nothing is in it; whether it was removed. `within` is as for `write_atomically`."""
    at, name = within or (None, str(path))
    try:
        os.rmdir(name, dir_fd=at)
    except OSError:
        return False
    return True


def _temporary_file(
    path: Path, data: bytes | Iterable[bytes], name: str | None, within: tuple[int, str] | None
) -> tuple[int, str]:
    """A new file beside `path`, opened for writing, and its path, or its path in the folder."""
    if name is None:
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = path.parent / name
    at, partial = (None, str(temporary)) if within is None else (within[0], str(PurePosixPath(within[1]).parent / name))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(partial, flags, 0o600, dir_fd=at), partial
    except FileExistsError:
        begun = data if isinstance(data, bytes) else b""
        if temporary.is_symlink() or not begun.startswith(read(temporary, "a temporary file", most=LARGEST_LATENTS)):
            raise InputError(temporary, f"is in the way of {path.name}; move it away") from None
    os.unlink(partial, dir_fd=at)
    return os.open(partial, flags, 0o600, dir_fd=at), partial


def _write_all(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _require_replaceable(path: Path) -> None:
    """Raise InputError for what a rename would replace by a regular file, such as /dev/null, or a link."""
    if path.is_dir():
        raise InputError(path, "is a folder, expected the name of a file to write")
    if path.exists() and not path.is_file():
        raise InputError(path, "is a pipe, socket or device, expected the name of a file to write")
    if path.is_symlink():
        raise InputError(path, f"is a link to {os.readlink(path)}; name that file itself, or remove the link")


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(path, f"cannot be written ({error.strerror}); choose another folder")


def is_dataset(path: str) -> bool:
    """Whether a path given by a user is Parquet rather than a certificate, or a folder of certificates."""
    if path.endswith(".parquet") or "://" in path:
        return True
    folder = Path(path)
    return folder.is_dir() and not certificates_in(certificates_folder(folder)) and any(folder.rglob("*.parquet"))
