"""C++ that tests compile: once what is alike, and at -O1.

Builds compile at -O2 and -O3, which pays for the millions of operations of a user's frames; tests have few
frames, and many compile the same sources. The fixture `as_users_compile` has the compiler itself: warnings
and results at the levels of users are tested on the shipped designs.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.support.once_compiler import COMPILED, COMPILER, NOTES, PYTHON

FOLDER = Path(__file__).with_name("compiler")


def install() -> bool:
    """Puts it before g++ in PATH, for this process and all that it starts; whether this process did so."""
    real = shutil.which("g++")
    if COMPILER in os.environ or real is None:
        return False
    os.environ[COMPILER] = real
    os.environ[COMPILED] = tempfile.mkdtemp(prefix="hlsgen-tests-")
    os.environ[PYTHON] = sys.executable
    os.environ["PATH"] = os.pathsep.join([str(FOLDER), os.environ["PATH"]])
    return True


def path_of_users() -> str:
    """PATH without it."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(one for one in folders if one != str(FOLDER))


def remove() -> str:
    """Removes what is kept; what was done, in words."""
    kept = Path(os.environ[COMPILED])
    notes = kept / NOTES
    done = Counter(notes.read_text().split()) if notes.is_file() else Counter[str]()
    shutil.rmtree(kept, ignore_errors=True)
    return f"C++: {done['compiled']} executables compiled, {done['reused']} of the same sources reused"
