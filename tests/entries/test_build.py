"""The build of an entry: its resources, its remains, and its message."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from kneepoint.common.code import ROOT
from kneepoint.common.errors import KneepointError, MachineError
from kneepoint.entries.build import Budget, BuildError, Compiler
from kneepoint.entries.collect import submission_at
from kneepoint.entries.compiler_messages import own_part
from kneepoint.entries.confine import CommandResult, Confined
from kneepoint.entries.entries import EntryBuilder
from kneepoint.entries.tree import recognize

CONFINED = Confined(ROOT / "build/confine")


def flat(folder: Path, **sources: str) -> Path:
    """Writes a tree of these sources, and a sender if there is none."""
    folder.mkdir(parents=True)
    for name, text in {"sender": "int main() {}\n", **sources}.items():
        (folder / f"{name}.cc").write_text(text)
    return folder


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(cpu_s=0.01), r"within 0\.01 s of CPU time"),
        (Budget(object_bytes=1_000_000), "objects of more than 1 MB"),
        (Budget(commands=1), "within 1 commands"),
    ],
)
def test_what_a_build_may_use_is_limited_and_nothing_is_left(
    tmp_path: Path, budget: Budget, reason: str
) -> None:
    tree = recognize(flat(tmp_path / "anna", a='asm(".data; .fill 4000000");'))
    compiler = Compiler(tmp_path / "kept", CONFINED, budget=budget)
    with pytest.raises(BuildError, match=reason):
        compiler.build(tree, {})
    assert files_in(tmp_path / "kept") == []


def test_a_build_that_fails_leaves_nothing_but_what_others_made(tmp_path: Path) -> None:
    compiler = Compiler(tmp_path / "kept", CONFINED)
    compiler.build(recognize(flat(tmp_path / "anna")), {})
    before = files_in(tmp_path / "kept")
    with pytest.raises(BuildError, match=r"z\.cc:1:1: error: 'mistake'"):
        compiler.build(recognize(flat(tmp_path / "bob", b="int b;", z="mistake;")), {})
    assert files_in(tmp_path / "kept") == before and len(before) == 2


def test_an_object_does_not_tell_when_it_was_built(tmp_path: Path) -> None:
    macros = "const char *when = __TIMESTAMP__ __DATE__ __TIME__;"
    built: list[Path] = []
    for name in ("a", "b"):
        folder = flat(tmp_path / name, a='#include "b.hh"\n' + macros)
        (folder / "b.hh").write_text(macros.replace("when", "and_when"))
        for path in folder.iterdir():
            os.utime(path, (len(built), 1e9 + len(built)))
        built.append(Compiler(tmp_path / f"{name}.kept", CONFINED).build(recognize(folder), {}))
    one, other = (path.read_bytes() for path in built)
    assert one == other
    assert b"Thu Jan  1 00:00:00 1970Jan  1 197000:00:00" in one


def test_the_cache_forgets_what_was_not_used_for_longest(tmp_path: Path) -> None:
    trees = {name: recognize(flat(tmp_path / name, a=f"int {name};")) for name in ("a", "b", "c")}
    for number, tree in enumerate(trees.values()):
        Compiler(tmp_path / "kept", CONFINED).build(tree, {})
        for path in (tmp_path / "kept").rglob("*.*"):
            if path.stat().st_mtime > 10:
                os.utime(path, (number, number))
    size = sum(path.stat().st_size for path in (tmp_path / "kept").rglob("*.*"))
    kept = set(files_in(tmp_path / "kept"))
    compiler = Compiler(tmp_path / "kept", CONFINED, max_bytes=size - 1)
    built = compiler.build(trees["a"], {})
    left = set(files_in(tmp_path / "kept"))
    assert left < kept and built.name in left
    small = replace(compiler, max_bytes=1)
    assert small.build(trees["a"], {}) == built
    assert files_in(tmp_path / "kept") == [built.name], "what may still run is kept"


@pytest.mark.parametrize(
    ("code", "output"),
    [
        (-9, ""),
        (137, "confine: stopped: ended by signal 9"),
        (1, "c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated."),
        (137, "confine: stopped: more than 240 s"),
    ],
)
def test_a_compiler_that_was_killed_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, output: str
) -> None:
    run = Confined.run
    kills = [CommandResult(code, "", output, 1)] * 2

    def kill_twice(*words: object) -> CommandResult:
        return kills.pop() if kills else run(*words)  # type: ignore[arg-type]

    tree = recognize(flat(tmp_path / "anna"))
    monkeypatch.setattr(Confined, "run", kill_twice)
    assert Compiler(tmp_path / "kept", CONFINED).build(tree, {}).is_file()
    monkeypatch.setattr(Confined, "run", lambda *_: CommandResult(code, "", output, 1))
    with pytest.raises(KneepointError, match="3 times"):
        Compiler(tmp_path / "other", CONFINED).build(tree, {})


@pytest.mark.parametrize(
    ("code", "output"),
    [(152, "confine: stopped: more than 2 s of CPU time"), (1, "./a.cc:1:1: error: mistake")],
)
def test_limits_and_mistakes_are_no_kills(code: int, output: str) -> None:
    assert not CommandResult(code, "", output, 1).killed_for


def test_a_message_quotes_no_other_file_and_moves_no_cursor(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the secret\n" * 9)
    source = (
        '#error "\x1b[31mred\x9b"\n'
        "int right = wrong;\n"
        f'#line 3 "{tmp_path}/secret"\n'
        "int left = gone;\n"
        '#line 9 "../secret"\n'
        "int far = away;\n"
    )
    tree = recognize(flat(tmp_path / "anna", controller=source))
    for confined in (CONFINED, Confined(None)):
        with pytest.raises(BuildError, match=r"controller\.cc:1:2: error: #error") as refused:
            Compiler(tmp_path / "kept", confined).build(tree, {})
        message = refused.value.message
        assert "int right = wrong;" in message, "the entry's own line is quoted"
        assert "secret" not in message and str(tmp_path) not in message
        assert "\\x1b[31m" in message and message.replace("\n", "").isprintable()
        assert str(refused.value).isprintable()


def test_errors_in_headers_of_the_system_keep_their_text_only() -> None:
    message = """\
In file included from /usr/include/c++/12/algorithm:61,
                 from ./datagrump/controller.cc:4:
/usr/include/c++/12/bits/stl_algo.h: In instantiation of 'void std::sort(int)':
./datagrump/controller.cc:20:12:   required from here
   20 |   sort(a);
/usr/include/c++/12/bits/stl_algo.h:1938:50: error: no match for 'operator-'
 1938 |     std::__lg(__last - __first) * 2,
/tmp/work/ccAbc123.s:12: Error: no such instruction: `frobnicate'
/srv/anna/x.h:3:1: error: 'root' does not name a type
    3 | root:x:0:0
/usr/bin/ld: /kept/0a1b.o: in function `main':
controller.cc:(.text+0x5): undefined reference to `missing()'
collect2: error: ld returned 1 exit status
"""
    own = {"datagrump/controller.cc", "controller.cc"}
    assert own_part(message, own, {"/kept/0a1b.o": "datagrump/controller.cc"}).splitlines() == [
        "datagrump/controller.cc:20:12:   required from here",
        "   20 |   sort(a);",
        "stl_algo.h: error: no match for 'operator-'",
        "as: Error: no such instruction: `frobnicate'",
        "ld: datagrump/controller.cc: in function `main':",
        "controller.cc:(.text+0x5): undefined reference to `missing()'",
        "collect2: error: ld returned 1 exit status",
    ]


def test_the_cache_and_the_compiler_are_no_fault_of_an_entry(tmp_path: Path) -> None:
    submission = submission_at(flat(tmp_path / "anna"))
    in_the_way = tmp_path / "kept"
    in_the_way.touch()
    with pytest.raises(MachineError, match="kept"):
        EntryBuilder(Compiler(in_the_way, CONFINED)).make(submission)
    without = Compiler(tmp_path / "other", CONFINED, command="no-such-compiler")
    with pytest.raises(MachineError, match="no-such-compiler"):
        EntryBuilder(without).make(submission)
    with pytest.raises(MachineError, match="nowhere"):
        EntryBuilder(Compiler(tmp_path / "other", Confined(Path("nowhere")))).make(submission)


def test_names_are_no_options_of_the_compiler(tmp_path: Path) -> None:
    builder = EntryBuilder(Compiler(tmp_path / "kept", CONFINED))
    for name in ("@inject.cc", "-wrapper,x.cc"):
        tree = flat(tmp_path / "anna")
        (tree / name).write_text("-DX")
        made = builder.make(submission_at(tree))
        assert made.built is None and repr(name) in made.reason and "rename it" in made.reason
        tree.rename(tmp_path / f"done{name}")
    spaced = flat(tmp_path / "bob", **{"a b": "int a;", "c;$(d)": "int c;", "e,-x": "int e;"})
    assert builder.make(submission_at(spaced)).reason == ""


def test_a_contest_gives_all_entries_what_they_do_not_declare(tmp_path: Path) -> None:
    builder = replace(
        EntryBuilder(Compiler(tmp_path / "kept", CONFINED)),
        arguments=("debug",),
        environment={"SIZE": "100", "MODE": "b"},
    )
    plain = builder.make(submission_at(flat(tmp_path / "anna"))).built
    assert plain and (plain.arguments, plain.environment["SIZE"]) == (("debug",), "100")
    tree = flat(tmp_path / "bob")
    parameter = "{environment: SIZE, default: 7, range: [1, 9], integer: true}"
    (tree / "kneepoint.yaml").write_text(f"arguments: [own]\nparameters: {{size: {parameter}}}\n")
    own = builder.make(submission_at(tree)).built
    assert own and own.arguments == ("own",) and own.environment == {"SIZE": "7", "MODE": "b"}


def test_names_of_ones_own_clash_with_no_header_of_ours(tmp_path: Path) -> None:
    names = ("gamma", "y1", "index", "rand", "count", "hash", "left", "div", "signal", "time")
    own = {
        f"of_{name}": f"namespace {{ int {name} = 3; }}\nint used_{name}() {{ return {name}; }}\n"
        for name in names
    }
    similar = "".join(f"const float {name}x = 1;\n" for name in names)
    similar = f"#include <iostream>\nusing namespace std;\n{similar}"
    old = "#include <iostream>\nint least(int a) { return std::min(a, INT_MAX); }\n"
    tree = flat(tmp_path / "anna", **own, similar=similar, old=old)
    assert Compiler(tmp_path / "kept", CONFINED).build(recognize(tree), {}).is_file()


@pytest.mark.parametrize(
    ("source", "shown", "hidden"),
    [
        ("int gamma = 3;\nint two = gone;\n", "gone", "gamma"),
        ("int a = INT_MAX;\nint b = strlen(one);\n", "one", "INT_MAX"),
    ],
)
def test_the_message_is_that_of_the_try_with_the_fewest_errors(
    tmp_path: Path, source: str, shown: str, hidden: str
) -> None:
    with pytest.raises(BuildError) as refused:
        Compiler(tmp_path / "kept", CONFINED).build(
            recognize(flat(tmp_path / "anna", a=source)), {}
        )
    assert shown in str(refused.value) and hidden not in str(refused.value)
