"""The sources that are built from trees with other layouts than the kit's."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kneepoint.entries.build_files import read_cmake
from kneepoint.entries.collect import find_submissions, submission_at
from kneepoint.entries.entries import EntryBuilder, Sender
from tests.entries.trees import edit, git, kit, repository, write_member

MAIN = '#include "law.hh"\nint main() { return window(); }\n'
LAW = '#include "law.hh"\nint window() { return WINDOW; }\n'
HEADER = '#pragma once\n#ifdef __cplusplus\nextern "C"\n#endif\nint window(void);\n'


def write(tree: Path, **files: str) -> Path:
    """Writes files; their names have __ for a slash and _dot_ for a dot."""
    for name, text in files.items():
        path = tree / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
    return tree


def made(tree: Path, builder: EntryBuilder) -> Sender:
    return builder.make(submission_at(tree))


def windows_lines(tree: Path) -> Path:
    kit(tree)
    text = "sender_SOURCES = sender.cc \\\r\n\tcontroller.cc contest_message.cc\r\n"
    return write(tree, datagrump__Makefile_dot_am=text)


def library_elsewhere(tree: Path) -> Path:
    kit(tree)
    edit(tree / "datagrump/controller.cc", "return WINDOW;", "return window();")
    edit(
        tree / "datagrump/controller.cc",
        "#include <iostream>",
        '#include "law.hh"\n#include <iostream>',
    )
    return write(
        tree,
        lib__law_dot_cc=LAW.replace("WINDOW", "7"),
        lib__unused_dot_cc="broken",
        lib__law_dot_hh=HEADER,
        lib__Makefile_dot_am="noinst_LIBRARIES = liblaw.a\nliblaw_a_SOURCES = law.cc law.hh\n",
        datagrump__Makefile_dot_am="AM_CPPFLAGS = -I$(top_srcdir)/lib -I$(srcdir)/../src\n"
        "sender_SOURCES = sender.cc controller.cc contest_message.cc\n"
        "sender_LDADD = ../lib/liblaw.a -lpthread\n",
    )


def macros(tree: Path) -> Path:
    return write(
        tree,
        Makefile="override CXXFLAGS += -DWINDOW=5 -I include\nx: sender.o law.o\n",
        sender_dot_cc=MAIN,
        law_dot_cc=LAW,
        other_dot_cc="broken",
        include__law_dot_hh=HEADER,
    )


def sources_in_folders(tree: Path) -> Path:
    return write(
        tree,
        Makefile="SRC = $(wildcard app/*.cc lib/*.cc)\nCPPFLAGS = -Iinclude -DWINDOW=3\n"
        "sender: $(patsubst %.cc,obj/%.o,$(SRC))\n",
        app__sender_dot_cc=MAIN,
        lib__law_dot_cc=LAW,
        include__law_dot_hh=HEADER,
        test__main_dot_cc="int main() {}",
    )


def makefile_beside_its_headers(tree: Path) -> Path:
    return write(
        tree,
        src__Makefile="CXXFLAGS = -I../include -DWINDOW=3\nsender: sender.o law.o\n",
        src__sender_dot_cc=MAIN,
        src__law_dot_cc=LAW,
        include__law_dot_hh=HEADER,
    )


def of_cmake(tree: Path) -> Path:
    return write(
        tree,
        CMakeLists_dot_txt="""\
cmake_minimum_required(VERSION 3.10) # (old)
project(mine CXX)
set(HEADERS ${PROJECT_SOURCE_DIR}/include)
add_compile_definitions(WINDOW=4 "NAME=\\"a b\\"")
add_subdirectory(lib)
file(GLOB APP app/*.cc)
add_executable(receiver receiver.cc)
add_executable(${PROJECT_NAME}-sender
  ${APP})
target_include_directories(mine-sender PRIVATE ${HEADERS})
target_link_libraries(mine-sender PRIVATE law pthread)
""",
        lib__CMakeLists_dot_txt="add_library(law STATIC law.cc)\n",
        lib__law_dot_cc=LAW,
        lib__broken_dot_cc="broken",
        app__main_dot_cc=MAIN,
        receiver_dot_cc="int main() {}",
        include__law_dot_hh=HEADER,
    )


def kit_of_cmake(tree: Path) -> Path:
    kit(tree)
    (tree / "Makefile").unlink()
    return write(
        tree,
        datagrump__broken_dot_cc="broken",
        CMakeLists_dot_txt="include_directories(src)\nfile(GLOB SRC src/*.cc)\n"
        "add_library(sourdough ${SRC})\nset(MSG datagrump/contest_message.cc)\n"
        "add_executable(sender datagrump/sender.cc datagrump/controller.cc ${MSG})\n"
        "target_link_libraries(sender sourdough)\n",
    )


def nested_cmake(tree: Path) -> Path:
    return write(
        tree,
        CMakeLists_dot_txt="""\
cmake_minimum_required(VERSION 3.10)
project(mine CXX)
set(WINDOW 4 CACHE STRING "packets")
add_compile_definitions(WINDOW=${WINDOW})
add_subdirectory(law)
add_subdirectory(app)
""",
        law__CMakeLists_dot_txt="""\
file(GLOB LAWS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/laws/*.cc)
add_library(law STATIC EXCLUDE_FROM_ALL ${LAWS})
add_library(mine::law ALIAS law)
target_include_directories(law PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/../include>)
set(LAW_OF_MINE mine::law PARENT_SCOPE)
""",
        app__CMakeLists_dot_txt="""\
set(APP ${CMAKE_SOURCE_DIR}/main.cc ${CMAKE_SOURCE_DIR}/laws/broken.c)
list(REMOVE_ITEM APP ${CMAKE_CURRENT_SOURCE_DIR}/../laws/broken.c)
add_executable(sender ${APP})
target_link_libraries(sender PRIVATE ${LAW_OF_MINE})
""",
        main_dot_cc=MAIN,
        laws__law_dot_cc=LAW,
        laws__broken_dot_c="broken",
        include__law_dot_hh=HEADER,
    )


def automake_in_a_folder(tree: Path) -> Path:
    return write(
        tree,
        configure_dot_ac="AC_INIT\n",
        Makefile_dot_am="SUBDIRS = src\n",
        src__Makefile_dot_am="AM_CPPFLAGS = -I$(top_srcdir)/include -DWINDOW=4\n"
        "bin_PROGRAMS = mine receiver\nmine_SOURCES = main.cc law.cc\n"
        "receiver_SOURCES = receiver.cc\n",
        src__main_dot_cc=MAIN,
        src__law_dot_cc=LAW,
        src__receiver_dot_cc="int main() {}",
        include__law_dot_hh=HEADER,
    )


def headers_above(tree: Path) -> Path:
    return write(
        tree,
        a__b__c__sender_dot_cc=MAIN.replace("law.hh", "../../law.hh"),
        a__b__c__law_dot_cc=LAW.replace("law.hh", "../../law.hh").replace("WINDOW", "4"),
        a__law_dot_hh=HEADER,
    )


def sources_of_c(tree: Path) -> Path:
    return write(
        tree,
        sender_dot_cc=MAIN,
        law_dot_c='#include "law.hh"\nint window(void) { int class = 3; return class; }\n',
        law_dot_hh=HEADER,
    )


def endings(tree: Path) -> Path:
    for number, ending in enumerate(("C", "CC", "cpp", "cxx", "c++", "CPP")):
        write(tree, **{f"part{number}_dot_{ending}": f"int part{number}() {{ return 1; }}"})
    return write(
        tree, sender_dot_CC="int part0(); int part1(); int main() { return part0() + part1(); }"
    )


def deep(tree: Path) -> Path:
    kit(tree.with_name("made"))
    shutil.move(tree.with_name("made"), tree / "a/b/c/d/e")
    return tree


def of_macos(tree: Path) -> Path:
    kit(tree)
    for name in ("datagrump/._sender.cc", "src/._socket.cc", "__MACOSX/datagrump/sender.cc"):
        write_member(tree, name, "\0\5\26\7")
    return tree


def worktree(tree: Path) -> Path:
    repository(kit(tree.with_name("origin")))
    git(tree.with_name("origin"), "worktree", "add", "--quiet", str(tree))
    assert (tree / ".git").is_file()
    return tree


def submodule(tree: Path) -> Path:
    repository(write(tree.with_name("law"), law_dot_cc=LAW, law_dot_hh=HEADER))
    write(tree, sender_dot_cc=MAIN, Makefile="CPPFLAGS=-DWINDOW=2\nx: sender.o law/law.o\n")
    repository(tree)
    file = ("-c", "protocol.file.allow=always")
    git(tree, *file, "submodule", "--quiet", "add", str(tree.with_name("law")), "law")
    assert (tree / "law/.git").is_file()
    return tree


def many(tree: Path) -> Path:
    names = [f"part_{number:03}" for number in range(500)]
    write(tree, **{f"{name}_dot_cc": f"int {name}() {{ return 1; }}" for name in names})
    declared = " ".join(f"int {name}();" for name in names)
    total = " + ".join(f"{name}()" for name in names)
    sources = " ".join(f"{name}.cc" for name in names)
    return write(
        tree,
        sender_dot_cc=f"{declared}\nint main() {{ return {total}; }}",
        Makefile_dot_am=f"sender_SOURCES = sender.cc {sources}\n",
    )


@pytest.mark.parametrize(
    "layout",
    [
        *(windows_lines, library_elsewhere, macros, sources_in_folders, of_cmake, kit_of_cmake),
        nested_cmake,
        automake_in_a_folder,
        headers_above,
        *(makefile_beside_its_headers, sources_of_c, endings, deep, of_macos, worktree, submodule),
        pytest.param(many, marks=pytest.mark.slow),
    ],
)
def test_an_honest_layout_is_built(
    tmp_path: Path, builder: EntryBuilder, layout: Callable[[Path], Path]
) -> None:
    entry = made(layout(tmp_path / "anna"), builder)
    assert entry.built and not entry.reason, entry.reason + entry.message


@pytest.mark.parametrize("layout", [of_cmake, nested_cmake])
def test_cmake_names_the_same_sources(tmp_path: Path, layout: Callable[[Path], Path]) -> None:
    tree, build = layout(tmp_path / "anna"), tmp_path / "build"
    subprocess.run(
        ["cmake", "-S", tree, "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
        check=True,
        capture_output=True,
    )
    commands = json.loads((build / "compile_commands.json").read_text())
    read = read_cmake(tree)
    expected = {
        path for target in (*read.programs.values(), *read.libraries.values()) for path in target
    }
    assert {os.path.relpath(each["file"], tree) for each in commands} == expected


@pytest.mark.parametrize("folder", ["..", "../private", "${CMAKE_SOURCE_DIR}/../private"])
def test_cmake_reads_no_folder_outside_the_tree(tmp_path: Path, folder: str) -> None:
    for place in (tmp_path, tmp_path / "private"):
        write(place, CMakeLists_dot_txt="add_definitions(-DSECRET=1)\nadd_library(law law.cc)\n")
    text = f"add_subdirectory({folder})\nadd_executable(sender sender.cc)\n"
    read = read_cmake(write(tmp_path / "tree", CMakeLists_dot_txt=text))
    assert (read.programs, read.libraries, read.defines) == ({"sender": ["sender.cc"]}, {}, [])


def test_macros_of_the_makefile_arrive(tmp_path: Path, builder: EntryBuilder) -> None:
    objects = []
    for window in (5, 6):
        tree = macros(tmp_path / f"tree{window}")
        edit(tree / "Makefile", "WINDOW=5", f"WINDOW={window}")
        built = made(tree, builder).built
        assert built
        objects.append(built.sha256)
    assert len(set(objects)) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sender_SOURCES = sender.cc gone.cc\n", ["gone.cc, which is missing", "add it"]),
        ("sender_SOURCES = sender.cc ../law/law.cc\n", ["law.cc", "submodule", "commit its files"]),
        ("sender_SOURCES = sender.cc ../../x.cc\n", ["x.cc", "outside the tree", "move it there"]),
    ],
)
def test_what_cannot_be_built_says_what_to_do(
    tmp_path: Path, builder: EntryBuilder, text: str, words: list[str]
) -> None:
    tree = write(kit(tmp_path / "anna"), datagrump__Makefile_dot_am=text)
    (tree / ".gitmodules").write_text('[submodule "law"]\n')
    reason = made(tree, builder).reason
    assert [word for word in words if word not in reason] == []


def test_flags_of_a_makefile_lead_nowhere_else(tmp_path: Path, builder: EntryBuilder) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/law.hh").write_text(HEADER)
    tree = macros(tmp_path / "anna")
    shutil.rmtree(tree / "include")
    edit(tree / "Makefile", "-I include", f"-I {tmp_path}/secret -I../secret -DX=-include -Wl,-x")
    assert "law.hh" in made(tree, builder).reason


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("anna (1).tar.gz", "anna (1)"),
        ("Tom & Jerry.tar.gz", "Tom & Jerry"),
        ("\u0926\u0940\u092a\u094d\u0924\u093f.tar.gz", "\u0926\u0940\u092a\u094d\u0924\u093f"),
        ("\u0e2a\u0e21\u0e0a\u0e31\u0e22.tar.gz", None),
    ],
)
def test_names_of_people_and_of_downloads(
    tmp_path: Path, builder: EntryBuilder, file: str, name: str | None
) -> None:
    tree = write(tmp_path / "tree", sender_dot_cc="int main() {}", _dot__sender_dot_cc="\0")
    (tmp_path / "entries").mkdir()
    command: list[str | Path] = ["tar", "-czf", tmp_path / "entries" / file, "-C", tree, "."]
    subprocess.run(command, check=True, env={**os.environ, "COPYFILE_DISABLE": "1"})
    (submission,) = find_submissions(tmp_path / "entries")
    assert submission.name == (name or file.removesuffix(".tar.gz"))
    assert builder.make(submission).reason == ""


@pytest.mark.parametrize("name", ["a;b", "a<b", "a|b", "a`b", "a[b](c)", "a\u0007b", "&amp;"])
def test_other_names_are_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, sender_dot_cc="int main() {}")
    assert "rename it" in submission_at(tmp_path / name).problem


def test_archives_of_macos_and_windows(tmp_path: Path, builder: EntryBuilder) -> None:
    path = tmp_path / "anna.zip"
    write_member(path, "anna/sender.cc", "int main() {}\r\n")
    write_member(path, "__MACOSX/anna/._sender.cc", "\0\5\26\7")
    write_member(path, "anna/._sender.cc", "\0\5\26\7")
    assert builder.make(submission_at(path)).reason == ""


@pytest.mark.parametrize("ending", [".cc", ".cpp", ".c", ".C"])
def test_a_source_is_an_entry(tmp_path: Path, builder: EntryBuilder, ending: str) -> None:
    (tmp_path / f"anna@2{ending}").write_text("int main(void) { return 0; }\n")
    (found,) = find_submissions(tmp_path)
    assert (found.author, found.name) == ("anna", "anna@2")
    assert made(found.path, builder).built is not None
