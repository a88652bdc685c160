"""The languages of sources, as Clang is called for them: a file whose name ends in .c is C, as it is to the
vendor's tool, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hlsgen.schedule.unnamed_types import REFUSED

INCLUDE = Path(__file__).resolve().parent / "include"
"""Headers of ours in place of the vendor's."""
CODE = (".c", ".cc", ".cpp", ".cxx", ".c++")
"""How names of files end that are compiled."""
CPP_STANDARD = "c++17"
"""Also in place of older ones: a reference to a static constant would be one to another module before it."""
NEWER = re.compile(r"(?:c|gnu)\+\+(?:17|1z|2\w)")
C_STANDARD = "gnu17"
NOT_OURS = ("-std=", "-O", "-g", "-m", "-W", "-w", "-l", "-L", "-c", "-S", "-E", "-o", "-x", "-fopenmp")
"""Arguments of projects that are not for us: what is compiled, and for what, is said here."""
# what Clang refuses since its release 16, and the vendor's, an older one, warns of
_WARNINGS_OF_C = (
    *("implicit-function-declaration", "implicit-int", "int-conversion", "incompatible-pointer-types"),
    *("incompatible-function-pointer-types", "return-type", "return-mismatch"),
)
# what C++ had before its release of 2017, which is older than the one that kernels are written in
_OLDER_CPP = (
    *("-Wno-register", "-Wno-increment-bool", "-Wno-dynamic-exception-spec"),
    *(
        f"-D_LIBCPP_ENABLE_CXX17_REMOVED_{name}"
        for name in ("AUTO_PTR", "BINDERS", "RANDOM_SHUFFLE", "UNARY_BINARY_FUNCTION", "UNEXPECTED_FUNCTIONS")
    ),
)
# of the C library that the vendor's compiler comes with, whose headers all bring them
_NAMES = tuple(
    f"-D__{sign}int{bits}_t={'un' if sign else ''}signed {name}"
    for sign in ("", "u")
    for bits, name in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))
)
_IS_CPP = re.compile(rf"file not found|{re.escape(str(INCLUDE))}")
_REDEFINED = re.compile(r"typedef redefinition with different types|redefinition of '\w+' as different kind")
_MARKS, _MARKS_OF_C = "hlsgen_marks.h", "hlsgen_marks_of_c.h"
_MORE, _OWN = "hlsgen_more_headers.h", "hlsgen_own_names.h"


HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".tpp", ".ipp")


def is_code(name: str | Path) -> bool:
    """Whether a file that a project names is compiled."""
    return Path(name).suffix.lower() in CODE


@dataclass(frozen=True, kw_only=True)
class Language:
    """How Clang is called.

    driver: of the compiler's programs. arguments: the language, its standard, a project's own flags. before:
    headers of ours that come before all else of a file when it is preprocessed; beside: when it is compiled.
    named: whether unnamed types are given names. remedies: what the first try was refused for, where this one
    may not be.
    """

    driver: str
    arguments: tuple[str, ...]
    before: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    named: bool = False
    remedies: re.Pattern[str] = re.compile("")

    @property
    def is_c(self) -> bool:
        return self.driver == "cc"


def languages_of(path: Path, standard: str, flags: Sequence[str]) -> list[Language]:
    """Those that a file is tried as, the likeliest first.

    standard: of C++. flags: of the project. What the vendor's library brings unasked, and what it does not
    bring, is tried where a file does not compile without; C that includes headers which are C++ is that.
    """
    own = (*_NAMES, *(flag for flag in flags if not flag.startswith(NOT_OURS)))
    newer = standard if NEWER.fullmatch(standard) else CPP_STANDARD
    cpp = (f"-std={newer}", "-x", "c++", *_OLDER_CPP, *own)
    tried = [
        Language(driver="c++", arguments=cpp, before=(_MARKS,), remedies=_IS_CPP),
        Language(driver="c++", arguments=cpp, before=(_MORE, _MARKS)),
        Language(driver="c++", arguments=cpp, before=(_MORE, _MARKS, _OWN), remedies=_REDEFINED),
        Language(driver="c++", arguments=cpp, before=(_MORE, _MARKS), named=True, remedies=REFUSED),
    ]
    if path.suffix != ".c":
        return tried
    warnings = (f"-Wno-error={name}" for name in _WARNINGS_OF_C)
    c = (f"-std={C_STANDARD}", "-x", "c", *warnings, *own)
    as_c = [Language(driver="cc", arguments=c, before=more, beside=(_MARKS_OF_C,)) for more in ((), (_MORE,))]
    return [*as_c, tried[0]]
