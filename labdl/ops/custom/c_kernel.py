"""Kernels in C or C++: compiled by the system's compiler, cached for the user, called through ctypes."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labdl.errors import ConfigError

# dtype -> the C type of one value, and the name of the struct
TYPES = {
    "float32": ("float", "Float32"),
    "float64": ("double", "Float64"),
    "int32": ("int32_t", "Int32"),
    "int64": ("int64_t", "Int64"),
    "uint8": ("uint8_t", "UInt8"),
    "bool": ("uint8_t", "Bool"),
}

HEADER = (
    '#include <stdint.h>\n#include <math.h>\n#ifdef __cplusplus\n#define LABDL_C extern "C"\n#else\n#define LABDL_C\n#endif\n'
    + "".join(
        f"typedef struct {{ {value} *data; int64_t size, rank; const int64_t *shape; }} {name};\n"
        for value, name in TYPES.values()
    )
)

COMPILERS = {"c": ("CC", "cc", "gcc", "clang"), "c++": ("CXX", "c++", "g++", "clang++")}
SUFFIXES = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
FLAGS = ("-O3", "-fPIC", "-shared")


class Tensor(ctypes.Structure):
    """The C struct of a tensor; the same layout for every dtype."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
    )


def prototype(symbol: str, reads: Sequence[tuple[str, str]], writes: Sequence[tuple[str, str]], options: dict) -> str:
    """The C declaration of a kernel; tensors as pairs of name and dtype, options with their defaults."""
    parts = [f"const {TYPES[dtype][1]} *{name}" for name, dtype in reads]
    parts += [f"{TYPES[dtype][1]} *{name}" for name, dtype in writes]
    parts += [f"{'double' if type(v) is float else 'int64_t'} {name}" for name, v in options.items()]
    return f"void {symbol}({', '.join(parts)})"


@functools.cache
def compiler(language: str) -> tuple[str, str]:
    """Path and version of the compiler: the one of $CC or $CXX, else the system's. Raises ConfigError without one."""
    variable, *names = COMPILERS[language]
    for name in (os.environ.get(variable), *names):
        path = shutil.which(name) if name else None
        if path:
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            return path, version.partition("\n")[0]
    raise ConfigError(
        f"a kernel in {language.upper()} needs a compiler, and there is no {' or '.join(names)} on the PATH: install gcc or "
        f"clang (on Debian and Ubuntu: apt install build-essential), or name one in ${variable}"
    )


def cache_folder() -> Path:
    """Folder of compiled kernels, private to the user."""
    import platformdirs  # imported here: only kernels need it

    folder = Path(platformdirs.user_cache_dir("labdl")) / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:  # a home folder that is not writable, as in some containers
        return _temporary_folder()
    return folder


@functools.cache
def _temporary_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="labdl-kernels-"))


def compile_library(source: str, language: str, prototypes: Sequence[str], flags: Sequence[str] = ()) -> ctypes.CDLL:
    """Compile a source unless it is cached, and load the library. Raises ConfigError.

    The declarations of LabDL's tensors and the wanted prototypes come before the source, so that the compiler compares
    them with what the source defines, and gives C++ functions their C names.
    """
    wanted = "".join(f"LABDL_C {p};\n" for p in prototypes)
    text = f'{HEADER}{wanted}#line 1 "kernel"\n{source}\n'
    path, version = compiler(language)
    # an undeclared function is an error in C++ and in newer C compilers
    options = (*FLAGS, *(("-Werror=implicit-function-declaration",) if language == "c" else ()), *flags)
    key = "\0".join((text, language, *options, path, version, platform.system(), platform.machine()))
    library = cache_folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.so"
    if not library.exists():
        _compile(text, language, path, options, library, wanted)
    try:
        return ctypes.CDLL(str(library))  # releases the GIL while a kernel runs
    except OSError as error:
        raise ConfigError(f"the compiled kernel cannot be loaded: {error}") from error


def _compile(text: str, language: str, path: str, options: Sequence[str], library: Path, wanted: str) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        source, result = Path(folder, "kernel.c" if language == "c" else "kernel.cpp"), Path(folder, "kernel.so")
        source.write_text(text, encoding="utf-8")
        command = [path, *options, str(source), "-o", str(result), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            raise ConfigError(
                f"the kernel does not compile ({' '.join(command[:-5])}). It has to define\n{wanted}"
                f"The compiler says:\n{done.stderr.strip()}"
            )
        os.replace(result, library)  # atomically: another process may look for it now


def function(library: ctypes.CDLL, symbol: str, declaration: str):
    """A function of the library. Raises ConfigError for an unknown name."""
    try:
        found = library[symbol]
    except AttributeError:
        raise ConfigError(f"the kernel defines no function {symbol!r} of the wanted signature: {declaration}") from None
    found.restype = None
    return found


def run(found, arrays: Sequence[np.ndarray], options: Sequence[int | float]) -> None:
    """Call a kernel with contiguous arrays, then numbers."""
    tensors = [Tensor(a.ctypes.data, a.size, a.ndim, (ctypes.c_int64 * max(a.ndim, 1))(*a.shape)) for a in arrays]
    numbers = [ctypes.c_double(v) if isinstance(v, float) else ctypes.c_int64(v) for v in options]
    found(*map(ctypes.byref, tensors), *numbers)
