"""Names of layers and ports from a framework's own: valid in C++ and in file names, and unique."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hlsgen.base.cpp_names import (
    C_HEADERS,
    C_LIBRARY,
    CPP_KEYWORDS,
    EMITTED_NAMES,
    EMITTED_PREFIXES,
    VENDOR_PREFIXES,
)
from hlsgen.designfile.model_schema import MAPPING_KEYS

LONGEST = 63
"""Letters of a name, as in a design file."""
_TAKEN = CPP_KEYWORDS | EMITTED_NAMES | C_LIBRARY | C_HEADERS | MAPPING_KEYS


def valid_name(wish: str) -> str:
    """The valid name closest to `wish`: layer1.0.conv1 -> layer1_0_conv1, 0.weight -> n0_weight, int -> int1.

    Letters, digits and single underscores, a letter first, at most 63; in small letters if all were capitals;
    no keyword of C++, no name of the C library, of the emitted code or of the vendor's headers.
    """
    name = re.sub("[^A-Za-z0-9]+", "_", wish).strip("_")
    if not name or not name[0].isalpha():
        name = f"n{name}"
    if name.upper() == name:
        name = name.lower()
    if name.startswith(VENDOR_PREFIXES + EMITTED_PREFIXES):
        name = f"n_{name}"
    name = name[:LONGEST].rstrip("_")
    if name in _TAKEN or name.endswith("_t"):
        name = f"{name[: LONGEST - 1]}1"
    return name


class Names:
    """Gives every name once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        # C++ tells conv1 from Conv1, some file systems do not
        self._taken = {name.lower() for name in taken}
        self._counts: dict[str, int] = {}
        """How far the numbers after a name have come."""

    def unique(self, wish: str) -> str:
        """`valid_name(wish)`, or where that is taken, name_2, name_3 and so on; taken from now on."""
        base = valid_name(wish)
        name, count = base, self._counts.get(base.lower(), 1)
        while name.lower() in self._taken:
            count += 1
            end = f"_{count}"
            name = base[: LONGEST - len(end)].rstrip("_") + end
        self._counts[base.lower()] = count
        self._taken.add(name.lower())
        return name
