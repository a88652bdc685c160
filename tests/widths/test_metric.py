"""What answers are worth: top-1 as scikit-learn counts it, a function of one's own, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.widths.metric import answers, own_metric, top1


@given(st.integers(1, 40), st.integers(2, 7), st.integers(0, 2**32 - 1), st.booleans())
def test_top1_is_counted_frame_by_frame(frames: int, classes: int, seed: int, deep: bool) -> None:
    generator = np.random.default_rng(seed)
    scores = generator.normal(0, 1, (frames, classes))
    labels = generator.integers(0, classes, frames)
    right = sum(max(range(classes), key=lambda k: scores[n][k]) == labels[n] for n in range(frames))
    outputs = scores[..., None, None] if deep else scores
    assert top1(labels)(outputs) == pytest.approx(right / frames)
    assert top1(labels.astype(np.float64)[:, None])(outputs) == pytest.approx(right / frames)


def test_indices_are_answers_themselves() -> None:
    outputs = np.array([[2.0], [0.0], [1.0]])
    assert top1([2, 1, 1])(outputs) == pytest.approx(2 / 3)
    assert answers(np.array([[0.5], [1.0]])) is None
    assert answers([outputs, outputs]) is None


WRONG: list[tuple[Any, Any, str]] = [
    ([0, 1], np.zeros((3, 4)), "there are 2 labels for 3 frames"),
    ([0, 4], np.zeros((2, 4)), "labels are 0 to 4, and the network has 4 classes"),
    ([-1, 0], np.zeros((2, 4)), "labels are -1 to 0"),
    ([0, 1], np.zeros((2, 4, 3, 3)), "are no scores of one class or another"),
    ([0, 1], [np.zeros((2, 4))] * 2, "are no scores of one class or another"),
]


@pytest.mark.parametrize(("labels", "outputs", "words"), WRONG, ids=str)
def test_labels_that_do_not_fit(labels: Any, outputs: Any, words: str) -> None:
    with pytest.raises(DesignError, match=words):
        top1(labels)(outputs)


@pytest.mark.parametrize("labels", [[0.5, 1], ["a", "b"], [], [[0, 1], [1, 0]], 3, [1j, 2]], ids=str)
def test_what_is_no_labels(labels: Any) -> None:
    with pytest.raises(DesignError, match="not a whole number for each frame"):
        top1(labels)


def written(folder: Path, text: str) -> Path:
    path = folder / "metric.py"
    path.write_text(text)
    return path


def test_a_function_of_ones_own_imports_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("FACTOR = 3\n")
    path = written(
        tmp_path,
        "from beside import FACTOR\n\ndef most(outputs, labels):\n    import beside\n"
        "    return beside.FACTOR * float(outputs.max()) + len(labels)\n",
    )
    assert own_metric(path, "most", [1, 2])(np.array([[5.0, 1.0]])) == 17


FAILING = [
    ("def f(outputs, labels):\n    return 'many'\n", "gave 'many', which is no finite number"),
    ("def f(outputs, labels):\n    return float('nan')\n", "gave nan, which is no finite number"),
    ("def f(outputs, labels):\n    return None\n", "gave None, which is no finite number"),
    ("def f(outputs, labels):\n    return outputs[99]\n", r"f\(\) of metric.py fails: IndexError"),
    ("def f(outputs, labels):\n    raise SystemExit(0)\n", r"f\(\) of metric.py fails: SystemExit"),
    ("def f(outputs):\n    return 1\n", r"f\(\) of metric.py fails: TypeError"),
    ("import nothing_there\n", "importing metric.py fails: ModuleNotFoundError"),
    ("def f(:\n", "importing metric.py fails: SyntaxError"),
    ("def g(outputs, labels):\n    return 1\n", "metric.py has no function f"),
]


@pytest.mark.parametrize(("text", "words"), FAILING, ids=[words for _, words in FAILING])
def test_functions_that_fail(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DesignError, match=words) as failure:
        own_metric(written(tmp_path, text), "f", None)(np.zeros((2, 3)))
    assert all(one.fix for one in failure.value.problems)


def test_a_failing_line_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "def f(outputs, labels):\n    return 1 / 0\n")
    with pytest.raises(DesignError) as failure:
        own_metric(path, "f", None)(np.zeros((2, 3)))
    (problem,) = failure.value.problems
    assert problem.place is not None and (problem.place.line, problem.place.file) == (2, str(path))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="there is no file"):
        own_metric(tmp_path / "metric.py", "f", None)
