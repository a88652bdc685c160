"""help(hlsgen): what it shows, and that its examples are true."""

from __future__ import annotations

import doctest
import importlib.util
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import hlsgen

FRAMEWORKS = {
    "load": (),
    "from_torch": ("torch",),
    "from_qkeras": ("qkeras", "tf_keras"),
    "from_onnx": ("onnx",),
}


def test_it_shows_how_designs_are_made() -> None:
    shown = pydoc.render_doc(hlsgen, renderer=pydoc.plaintext)
    for name in FRAMEWORKS:
        assert f"    {name}(" in shown, f"{name} is listed with its arguments"
        assert f"hlsgen.{name}(" in shown
    assert shown.count(">>> import") + shown.count(">>> from") >= len(FRAMEWORKS)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_example_is_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for framework in FRAMEWORKS[name]:
        if importlib.util.find_spec(framework) is None:
            pytest.skip(f"{framework} is not installed")
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(hlsgen, name), name, globs={})
    assert len(example.examples) >= 4
    monkeypatch.chdir(tmp_path)
    if name != "from_qkeras":
        assert doctest.DocTestRunner().run(example).failed == 0
        return
    # in a process of its own: QKeras wants a setting before TensorFlow is imported
    code = (
        "import doctest, sys, hlsgen\n"
        "(one,) = doctest.DocTestFinder(recurse=False).find(hlsgen.from_qkeras, 'example', globs={})\n"
        "sys.exit(doctest.DocTestRunner().run(one).failed)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
