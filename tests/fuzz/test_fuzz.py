"""A short run over every target, and the fuzzing script itself: what it finds, it finds again.

Campaigns fork, so each runs in a fresh process: this one may have threads.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.campaign import input_of, shared_out
from tests.fuzz.damage import damaged_bytes, damaged_json, damaged_lines, damaged_text, damaged_words
from tests.fuzz.target import generator
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parents[2]

DEADLY = """
import os, signal, sys
from tests.fuzz import __main__ as script
from tests.fuzz.target import Broken, Refused, Target
from tests.fuzz.targets import TARGETS

def check(value, folder):
    if value == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if value == 2:
        while True:
            pass
    if value == 3:
        raise KeyError(value)
    if value == 4:
        raise Broken("four is four")
    if value == 5:
        bytearray(1 << 40)
    if value == 6:
        raise Refused

TARGETS.clear()
TARGETS["deadly"] = Target("deadly", 1, lambda: [0], lambda rng: rng.randrange(9), check)
sys.exit(script.main())
"""
KINDS = {1: "SIGSEGV", 2: "hang of more than 0.3 s", 3: "KeyError", 4: "law: four is four", 5: "MemoryError"}


def campaign(*words, code=None):
    command = [sys.executable, *(["-m", "tests.fuzz"] if code is None else ["-c", code]), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.slow
def test_a_short_run_over_every_target_finds_nothing():
    done = campaign("--inputs", "500", "--seed", "7", "--workers", "1")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_deaths_hangs_and_exceptions_are_found_and_the_rest_goes_on(tmp_path):
    done = campaign("--each", "24", "--limit", "0.3", "--keep", str(tmp_path), code=DEADLY)
    drawn = [generator("deadly", 0, number).randrange(9) for number in range(24)]
    wrong = {number: KINDS[value] for number, value in enumerate(drawn) if value in KINDS}
    assert set(wrong.values()) == set(KINDS.values()), "every kind is drawn"
    accepted, refused = sum(value in (0, 7, 8) for value in drawn), drawn.count(6)
    assert done.stdout.splitlines()[1].split()[1:5] == [str(n) for n in (24, accepted, refused, len(wrong))]
    found = {int(path.stem.rpartition("-")[2]): path.read_text() for path in tmp_path.glob("*.txt")}
    assert found.keys() == wrong.keys()
    assert all(text.startswith(wrong[number]) for number, text in found.items())
    assert all((tmp_path / f"deadly-0-{n}.input").read_text() == str(drawn[n]) for n in wrong)
    assert done.returncode == 1


def test_one_input_can_be_run_again():
    done = campaign("modelstring", "--seed", "3", "--only", "12")
    assert done.returncode == 0, done.stdout + done.stderr
    assert repr(input_of("modelstring", 3, 12)) in done.stdout


@pytest.mark.parametrize("name", ["bif", "json", "jkl", "query", "csv", "knowledge", "objects", "commands"])
def test_an_input_is_a_function_of_target_seed_and_number(name):
    target = TARGETS[name]
    drawn = [
        [target.kept(target.draw(generator(name, seed, number))) for number in range(5)] for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_inputs_are_shared_out_by_weight():
    counts = shared_out(1_000_000, list(TARGETS))
    assert abs(sum(counts.values()) - 1_000_000) < len(TARGETS)
    assert counts["bif"] > counts["commands"] > 1_000


def test_damage_leaves_what_it_is_given_and_takes_anything():
    rng = generator("damage", 0, 0)
    for data in (b"", b"\n", b"{}\n[1, {}]\n", b'{"a": [1, 2.5, null, "x"]}', bytes(range(256))):
        for _ in range(200):
            assert isinstance(damaged_bytes(rng, data, [b"x"], [b"w"]), bytes)
            assert isinstance(damaged_lines(rng, data, [data, b"other\n"]), bytes)
    for _ in range(500):
        assert isinstance(damaged_words(rng, "a b, 1.5"), str)
        assert isinstance(damaged_json(rng, '{"a": [1, 2.5, null, "x"], "b": {}}'), str)
        assert isinstance(damaged_text(rng, ("[a][b|a]", '{"x": 1}'), as_json=True), bytes)
