"""Each example runs, in time, and saves its picture; types hold under mypy --strict."""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import sys

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
sanitized = pytest.mark.skipif(bool(os.environ.get("ARTICULA_SANITIZED")), reason="too slow under the sanitizers")


def processor_seconds() -> float:
    """Of finished children: what other processes take from them does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_there_are_five():
    assert len(EXAMPLES) == 5


@sanitized
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_saves_its_picture_within_a_minute(example, tmp_path):
    pytest.importorskip("matplotlib", reason="SKIPPED LOUDLY: matplotlib is not installed (Debian: python3-matplotlib)")
    before = processor_seconds()
    run = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    picture = tmp_path / f"{example.stem}.png"
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and picture.stat().st_size > 5000
    assert processor_seconds() - before < 60.0
    check(example.stem, run.stdout)


def check(name: str, text: str) -> None:
    """What each example claims, from what it prints."""
    words = text.split()
    if name == "drop_a_quadruped":
        carried, weight = (float(words[words.index("carries") + i]) for i in (1, 4))
        assert abs(carried - weight) < 0.05 * weight
    if name == "gradient_of_a_throw":
        assert float(words[words.index("by") + 1]) < 10.0  # mm
    if name == "fit_a_friction_coefficient":
        assert abs(float(words[1]) - 0.35) < 0.005
    if name == "learn_a_swing_up":
        assert float(words[words.index("is") + 1]) < 5.0  # degrees
    if name == "a_thousand_hoppers":
        assert "500000 steps" in text


@sanitized
def test_mypy_strict_is_clean_on_the_examples():
    pytest.importorskip("mypy", reason="SKIPPED LOUDLY: mypy is not installed")
    import articula
    matplotlib = pytest.importorskip("matplotlib")
    if not (pathlib.Path(matplotlib.__file__).parent / "py.typed").exists():
        pytest.skip("SKIPPED LOUDLY: this matplotlib has no types (3.8 and later have)")

    package = pathlib.Path(articula.__file__).resolve().parent.parent
    installed = package.name in ("site-packages", "dist-packages")  # where mypy looks by itself
    # Silent about the package itself, as where it is installed: parts of it need torch, JAX or gymnasium.
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", "--no-incremental",
                          "--cache-dir", os.devnull, *map(str, EXAMPLES)], capture_output=True, text=True,
                         env={**os.environ, **({} if installed else {"MYPYPATH": str(package)})})
    assert run.returncode == 0, run.stdout + run.stderr
