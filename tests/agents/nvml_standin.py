"""The stand-in for the NVIDIA library: compiled once, loaded under the name by which the real binding asks for it."""

import ctypes
import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("nvml_standin.c")
SONAME = "libnvidia-ml.so.1"


def build(folder: Path, *options: str) -> Path:
    """Compile the stand-in; gcc is what the project's own tests need beside Python."""
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / SONAME
    command = ["gcc", "-shared", "-fPIC", "-O1", f"-Wl,-soname,{SONAME}", *options, "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return library


def environment(library: Path, gpus: int = 8) -> dict[str, str]:
    """The environment of a process that finds the stand-in as its driver, with so many GPUs."""
    return {**os.environ, "LD_LIBRARY_PATH": str(library.parent), "STANDIN_GPUS": str(gpus)}


class Standin:
    """The stand-in in this process."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        self.reset(8)

    def reset(self, gpus: int, *, loaded: bool = True) -> None:
        """Make all GPUs well again."""
        self._library.standin_reset(gpus, int(loaded))

    def set(self, gpu: int, **state: int) -> None:
        """Change the state of a GPU."""
        for name, value in state.items():
            assert self._library.standin_set(gpu, name.encode(), ctypes.c_long(value)) == 0, name

    @property
    def waiting(self) -> int:
        """Calls that hang."""
        return int(self._library.standin_waiting())
