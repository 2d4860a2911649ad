"""The compiled module, in one build or two: `v3` for processors with AVX2 and FMA, `baseline` for all others.

ARTICULA_BUILD=baseline or v3 chooses by hand.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from types import ModuleType

# What x86-64-v3 adds, as Linux spells it.
_v3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}


def _processor_has_v3() -> bool:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return set(line.split()) >= _v3
    except OSError:
        pass
    return False


def _present(name: str) -> bool:
    return importlib.util.find_spec(f"{__name__}.{name}") is not None


def load() -> ModuleType:
    chosen = os.environ.get("ARTICULA_BUILD", "")
    if chosen not in ("", "baseline", "v3"):
        raise ImportError(f"ARTICULA_BUILD must be 'baseline' or 'v3', not '{chosen}'")
    if not chosen:
        chosen = "v3" if _present("v3") and _processor_has_v3() else "baseline"
    if not _present(chosen):
        if chosen == "baseline" and _present("v3"):
            raise ImportError("this processor lacks AVX2 or FMA, and the package was built for x86-64-v3 only: install "
                              "with --config-settings=cmake.define.ARTICULA_MARCH= or a wheel made by `make wheel`")
        raise ImportError(f"articula was installed without its compiled module '{chosen}'")
    return importlib.import_module(f"{__name__}.{chosen}")
