"""Reading YAML with positions: what is accepted, where it stands, and what is refused before it does harm."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError, Problem
from hlsgen.designfile.document import MAX_BYTES, MAX_NODES, Document
from hlsgen.designfile.validation import shown


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "design.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def problem_of(path: Path) -> Problem:
    with pytest.raises(DesignError) as caught:
        Document.read(path)
    (problem,) = caught.value.problems
    assert problem.fix
    return problem


TEXT = """\
name: conv
layers:
  - {name: first, kernel: [3, 5]}
  - name: second
    kernel: 7   # seven
"""


@pytest.fixture
def document(tmp_path: Path) -> Document:
    return Document.read(written(tmp_path, TEXT))


def test_data_is_plain(document: Document) -> None:
    layers = [{"name": "first", "kernel": [3, 5]}, {"name": "second", "kernel": 7}]
    assert document.data == {"name": "conv", "layers": layers}
    assert document.text == TEXT


@pytest.mark.parametrize(
    ("loc", "key", "line", "column", "width"),
    [
        (("name",), False, 1, 7, 4),
        (("name",), True, 1, 1, 4),
        (("layers", 0), False, 3, 5, 1),
        (("layers", 0, "kernel"), False, 3, 27, 1),
        (("layers", 0, "kernel"), True, 3, 19, 6),
        (("layers", 0, "kernel", 1), False, 3, 31, 1),
        (("layers", 1, "kernel"), False, 5, 13, 1),
        (("layers", 1, "kernel"), True, 5, 5, 6),
        # What is not there is placed at its nearest parent.
        (("layers", 1, "stride"), False, 4, 5, 1),
        (("layers", 9, "kernel"), False, 3, 3, 1),
        (("layers", "kernel"), False, 3, 3, 1),
        (("name", "x"), True, 1, 1, 4),
        ((), False, 1, 1, 1),
    ],
)
def test_place(
    document: Document, loc: tuple[str | int, ...], key: bool, line: int, column: int, width: int
) -> None:
    place = document.place(loc, key=key)
    assert (place.line, place.column, place.width) == (line, column, width)
    assert place.excerpt == TEXT.splitlines()[line - 1]
    assert place.file == str(document.path)


def test_beside_is_relative_to_the_file(document: Document) -> None:
    assert document.beside("w.npz") == document.path.parent / "w.npz"
    assert document.beside("/w.npz") == Path("/w.npz")


def test_scalars_are_those_of_yaml_1_1(tmp_path: Path) -> None:
    text = "{a: 1, b: 1.5, c: yes, d: off, e: null, f: ~, g: 0x10, h: '3', i: 1e3, j: 2020-01-02, k: 1_000}"
    data = Document.read(written(tmp_path, text)).data
    assert list(data.values()) == [1, 1.5, True, False, None, None, 16, "3", "1e3", "2020-01-02", 1000]
    assert type(data["c"]) is bool


def test_byte_order_mark_and_windows_lines_do_not_shift_columns(tmp_path: Path) -> None:
    document = Document.read(written(tmp_path, b"\xef\xbb\xbfname: x\r\nboard: y\r\n"))
    assert document.place(("name",)).column == 7
    assert document.place(("board",)).excerpt == "board: y"


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029"])
def test_lines_are_those_that_yaml_counts(tmp_path: Path, separator: str) -> None:
    document = Document.read(written(tmp_path, f"# a{separator}# b\nname: x\n"))
    assert document.place(("name",)).excerpt == "name: x"


def test_aliases_repeat_values(tmp_path: Path) -> None:
    document = Document.read(written(tmp_path, "a: &a [1]\nb: *a\n"))
    assert document.data == {"a": [1], "b": [1]}
    assert document.place(("b", 0)).line == 1


def test_missing_file(tmp_path: Path) -> None:
    assert problem_of(tmp_path / "none.yaml").message.endswith("none.yaml does not exist")


def test_folder(tmp_path: Path) -> None:
    assert problem_of(tmp_path).message.endswith("is a folder")


def test_parent_that_is_a_file(tmp_path: Path) -> None:
    assert "cannot be read" in problem_of(written(tmp_path, "a: b") / "x.yaml").message


def test_device() -> None:
    assert problem_of(Path("/dev/zero")).message == "/dev/zero is not a regular file"


def test_name_with_nul() -> None:
    assert "NUL" in problem_of(Path("a\0b.yaml")).message


def test_name_too_long() -> None:
    assert "file name too long" in problem_of(Path("a" * 5000)).message


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, "a: b")
    monkeypatch.setattr(Path, "open", refuse)
    assert problem_of(path).message == f"{path} cannot be read: permission denied"


def test_file_at_and_over_the_limit(tmp_path: Path) -> None:
    assert Document.read(written(tmp_path, "a: b\n" + "#" * (MAX_BYTES - 5))).data == {"a": "b"}
    problem = problem_of(written(tmp_path, "a: b\n" + "#" * (MAX_BYTES - 4)))
    assert "larger than 1,048,576 bytes" in problem.message


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"\x93NUMPY\x01\x00v\x00", "byte 0 is 0x93"),
        (b"PK\x03\x04\x14\x00", "U+0003 at byte 2"),
        (b"a: b\nc: \x00", "U+0000 at byte 8"),
        ("é: \x1b[31m".encode(), "U+001B at byte 4"),
        (b"a: caf\xe9\n", "byte 6 is 0xe9"),
        ("a: b".encode("utf-16"), "byte 0 is 0xff"),
    ],
)
def test_binary_files_name_the_byte(tmp_path: Path, content: bytes, where: str) -> None:
    assert where in problem_of(written(tmp_path, content)).message


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    text = str(problem_of(written(tmp_path, "a: b\nc: \x1b[31m\n")))
    assert "\x1b" not in text and ":2:4: error" in text
    assert "\x1b" not in str(problem_of(tmp_path / "a\x1b[31m.yaml"))


@pytest.mark.parametrize("text", ["", "   \n", "# only\n", "---\n", "null\n", "---\n...\n"])
def test_empty_files(tmp_path: Path, text: str) -> None:
    assert problem_of(written(tmp_path, text)).message.endswith("is empty")


@pytest.mark.parametrize(
    "text",
    [
        'a: "\\UFFFFFFFF"',
        f"%YAML 1.{'9' * 5000}\n---\na: b",
        'a: "\\ud800"',
        f"a: {'9' * 5000}",
        "a: !!int x",
        "a: !!float x",
        "a: !!bool maybe",
        'a: !!int ""',
        "a: 0x_",
        "a: !!binary aGk=",
        "a: !!set {x}",
        "a: !!map [x]",
        "a: !!seq {x: y}",
        "a: !!str [x]",
        "!!omap [a: b]",
        "a: !!python/name:os.system ''",
        "a: 1:30:30.5",
        "<<: {a: b}",
        "a: b\n<<: [c]",
        "? {a: b}\n: c",
        "~: c",
        "%YAML 3.0\n---\na: b",
        "a: *b",
        "a: b\n---\nc: d",
        "a: b\n...\ngarbage: [",
        "a: b\nc",
        "@",
        "a: |\n\tb\n c: [",
    ],
)
def test_beyond_plain_data(tmp_path: Path, text: str) -> None:
    place = problem_of(written(tmp_path, text)).place
    assert place is not None and place.line <= text.count("\n") + 1


def test_quoted_words_are_text(tmp_path: Path) -> None:
    data = Document.read(written(tmp_path, "{'<<': a, \"on\": b, '3': c, =: d}")).data
    assert data == {"<<": "a", "on": "b", "3": "c", "=": "d"}


def test_duplicate_key_names_both_lines(tmp_path: Path) -> None:
    problem = problem_of(written(tmp_path, "a: 1\nb: 2\n'a': 3\n"))
    assert problem.message == "`a` is already set in line 1"
    assert problem.place is not None and problem.place.line == 3


def test_open_bracket_is_shown_where_it_opened(tmp_path: Path) -> None:
    place = problem_of(written(tmp_path, "a: 1\nb: [1, 2\n\n\n")).place
    assert place is not None and (place.line, place.column) == (2, 4)


def test_nesting_limit(tmp_path: Path) -> None:
    Document.read(written(tmp_path, "a: " + "[" * 49 + "]" * 49))
    problem = problem_of(written(tmp_path, "a: " + "[" * 50 + "]" * 50))
    assert "nest deeper than 50" in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 500_000,
        "- " * 500_000,
        "a: [" + "1," * 500_000 + "]",
        "? " * 500_000,
        "x0: &x0 [1]\n" + "".join(f"x{n}: &x{n} [*x{n - 1}, *x{n - 1}]\n" for n in range(1, 60)),
        "x0: &x0 {k: 1}\n" + "".join(f"x{n}: &x{n} {{a: *x{n - 1}}}\n" for n in range(1, 60)),
        "a: &a [*a]",
        "a: &a {b: &b {c: *a, d: *b}}",
        f"a: &a [{'1,' * 400}]\nb: [{'*a,' * 400}]",
    ],
    ids=["flow", "block", "wide", "keys", "bomb", "chain", "loop", "loops", "square"],
)
def test_explosive_files_end_soon(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    start = time.perf_counter()
    assert problem_of(path).place is not None
    # Unbounded, the worst of these takes hours; the limit only has to tell that from a busy machine.
    assert time.perf_counter() - start < 60


def test_node_limit_is_exact_enough(tmp_path: Path) -> None:
    Document.read(written(tmp_path, f"a: &a [{'1,' * 300}]\nb: [{'*a,' * (MAX_NODES // 302)}]"))


@given(st.binary(max_size=60))
def test_any_bytes_give_data_or_an_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = written(tmp_path_factory.getbasetemp(), content)
    try:
        assert isinstance(Document.read(path).data, dict)
    except DesignError as error:
        assert all(problem.fix for problem in error.problems)


YAML_PIECES = st.sampled_from(
    [*"{}[]:,&*!|>-?#%@`'\"\n\t <~=", "a", ": ", "- ", "&a ", "*a", "1", "0o7", "!!int ", "---"]
)


@given(st.lists(YAML_PIECES, max_size=25).map("".join))
def test_any_yaml_gives_data_or_a_placed_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = written(tmp_path_factory.getbasetemp(), text)
    try:
        assert isinstance(Document.read(path).data, dict)
    except DesignError as error:
        (problem,) = error.problems
        assert problem.place is not None or problem.message.endswith("is empty")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "empty"),
        (True, "true"),
        ("a\nb", '"a\ufffdb"'),
        ("x" * 50, '"' + "x" * 37 + '..."'),
        ([1, 2], "a list of 2"),
        ([], "an empty list"),
        ({}, "a mapping"),
        (10**50, "1" + "0" * 36 + "..."),
        (float("nan"), "nan"),
    ],
)
def test_shown(value: object, text: str) -> None:
    assert shown(value) == text
