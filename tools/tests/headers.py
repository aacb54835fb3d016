"""Every header compiles alone.   headers.py ROOT

The public ones as C11, C17, C23 and C++17, by gcc and, where it is installed, by clang, without a warning; those inside as
the C17 of the build.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# language, names of the standard from the newest to the oldest: the first one that a compiler knows is used
STANDARDS = [("c", ["c11"]), ("c", ["c17"]), ("c", ["c23", "c2x"]), ("c++", ["c++17"])]


def compiles(compiler, language, standard, flags, text):
    """What a compiler complains about in a source, "" when it is content."""
    out = subprocess.run([compiler, f"-std={standard}", "-fsyntax-only", *flags, "-x", language, "-"], input=text,
                         capture_output=True, text=True)
    return out.stderr if out.returncode else ""


def known(compiler, language, names):
    """The name under which a compiler knows a standard."""
    found = [name for name in names if not compiles(compiler, language, name, [], "int x;\n")]
    assert found, f"{compiler} knows none of {', '.join(names)}"
    return found[0]


def check(compiler, language, standard, flags, include):
    errors = compiles(compiler, language, standard, flags, f'#include "{include}"\n')
    assert not errors, f"{include} by {compiler} as {standard}:\n{errors}"


root = pathlib.Path(sys.argv[1])
rooms = ["engine", "solvers", "collision", "dynamics", "viewer", "tools"]
public = sorted((root / "engine/include/tribo").glob("*.h"))
# the public folder itself is no include path: its scene.h is <tribo/scene.h> and not the engine's own
paths = sorted({str(h.parent.relative_to(root)) for room in rooms for h in (root / room).rglob("*.h")
                if h not in public and ("tests" not in h.parts or "base" in h.parts)})
inner = [h for folder in paths for h in sorted((root / folder).glob("*.h"))]
assert len(public) >= 10 and len(inner) > 15, (len(public), len(inner))

outside = [f"-I{root / 'engine/include'}"]
inside = outside + [f"-I{root / p}" for p in paths] + ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
compilers = [c for c in ["gcc", "clang"] if shutil.which(c)] or ["cc"]
if "clang" not in compilers:
    print("clang is not installed: its half of the test is left out")

# what the test must notice: a header that needs another one, and one that C++ does not take
with tempfile.TemporaryDirectory() as folder:
    for name, text, language, standard in [("needs.h", "#pragma once\nTriboStatus tribo_planted(void);\n", "c", "c17"),
                                           ("class.h", "#pragma once\nstruct Planted { int class; };\n", "c++", "c++17")]:
        planted = pathlib.Path(folder, name)
        planted.write_text(text)
        for compiler in compilers:
            assert compiles(compiler, language, standard, outside + STRICT, f'#include "{planted}"\n'), name

jobs, used = [], []
for compiler in compilers:
    for language, names in STANDARDS:
        standard = known(compiler, language, names)
        used.append(f"{compiler} {standard}")
        jobs += [(compiler, language, standard, outside + STRICT, f"tribo/{h.name}") for h in public]
jobs += [(compilers[0], "c", "gnu17", inside, h) for h in inner]
with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
    for done in [pool.submit(check, *job) for job in jobs]:
        done.result()
print(f"{len(public)} public headers stand alone ({', '.join(used)}), {len(inner)} inner ones as C17")
