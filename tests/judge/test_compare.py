"""Our controllers agree with controllers of QUIC stacks, except for differences with known
reasons."""

import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.judge.build import BUILT, AbsentError, build, controllers
from tests.judge.compare import CASES, PAIRS, Pair, rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    try:
        build()
    except AbsentError as error:
        pytest.skip(f"NOT TESTED: {error}")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.theirs)
def test_ours_and_theirs_agree_as_far_as_is_explained(pair: Pair) -> None:
    found = list(rows(pair))
    assert [row.case for row in found] == list(CASES)
    assert [str(row) for row in found if not row.is_expected] == []


def test_all_are_compared() -> None:
    assert {pair.theirs for pair in PAIRS} == set(controllers())


PANIC = """
#include <dlfcn.h>
#include <cstdio>
#include "algorithms/interface.h"
int main(int, char** words) {
  const auto entry = dlsym(dlopen(words[1], RTLD_NOW), KNEEPOINT_ENTRY);
  const auto& calls = *reinterpret_cast<const kneepoint_interface* (*)()>(entry)();
  void* const controller = calls.create(nullptr, 0);
  const kneepoint_sent sent{.sequence_number = 0, .now_ms = 0};
  kneepoint_ack ack{.sequence_number = 0, .sent_ms = 0, .ack_received_ms = 40, .now_us = 40000};
  ack.acknowledged = 10'000'000;  // of 1200 bytes: more than 32 bits
  if (calls.on_sent(controller, &sent) != 0 or calls.on_ack(controller, &ack) == 0) return 1;
  std::puts(calls.failure()->text);
  calls.destroy(controller);
}
"""


def test_a_panic_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    """A program in C++ makes a controller, and passes it an acknowledgment at which it panics."""
    (tmp_path / "panic.cc").write_text(PANIC)
    options = ["-std=c++20", f"-I{ROOT / 'controllers'}", "-o", str(tmp_path / "panic"), "-ldl"]
    subprocess.run(["c++", str(tmp_path / "panic.cc"), *options], check=True)
    command = [tmp_path / "panic", BUILT / "s2n_cubic.so"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "bytes_acknowledged should not exceed u32::MAX" in told
