"""Run the tests marked `numeric` under every instruction set below the processor's own.

Which kernel computes a product depends on the processor, and with it the last digits.
What these tests claim must hold for all of them. `make test` runs them as they are, and
then this.
"""

import os
import subprocess
import sys
from pathlib import Path

import torch

# What PyTorch (ATen, oneDNN, MKL), NumPy and OpenBLAS are told to leave alone.
SETTINGS = {
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    },
    "DEFAULT": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    },
}
# Of an x86 processor, the sets below its own. Others have one set, or are not known.
BELOW = {"AVX512": ("AVX2", "DEFAULT"), "AVX2": ("DEFAULT",)}


def numeric_files() -> list[str]:
    """Return the files with numeric tests: collecting the others takes long."""
    files = Path(__file__).parent.rglob("test_*.py")
    return sorted(str(f) for f in files if "mark.numeric" in f.read_text("utf-8"))


def main(options: list[str]) -> int:
    """Run pytest for all sets at once; return the first exit status that is not 0."""
    own = torch.backends.cpu.get_cpu_capability()
    command = [sys.executable, "-m", "pytest", "-m", "numeric and not gpu", "-q"]
    command += ["-p", "no:cacheprovider", *numeric_files(), *options]
    runs = {
        name: subprocess.Popen(
            command,
            env=os.environ | SETTINGS[name],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name in BELOW.get(own, ())
    }
    for name, run in runs.items():
        output, _ = run.communicate()
        print(f"instruction set {name} (the processor has {own})\n{output}")  # noqa: T201
    return next((run.returncode for run in runs.values() if run.returncode), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
