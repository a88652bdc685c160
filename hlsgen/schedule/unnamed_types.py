"""`typedef struct { ... } word;` where its functions are called before it is over: named.

Standard C++ has such a type named by its typedef, behind the bracket, and Clang refuses what would need the
name before (in a member, a template that is given one); the vendor's library asks for it later than ours.
"""

from __future__ import annotations

import itertools
import re

REFUSED = re.compile(r"given name for linkage purposes|typedef changes linkage")
"""What Clang says of it."""
_UNNAMED = re.compile(r"\btypedef\s+(?:struct|class|union)(?=\s*\{)")


def with_names(text: str) -> str:
    """The same C++, line by line, whose unnamed types have names."""
    numbers = itertools.count()
    return _UNNAMED.sub(lambda found: f"{found[0]} hlsgen_unnamed_{next(numbers)}", text)
