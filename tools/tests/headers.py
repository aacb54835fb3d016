"""Every header compiles alone, as C17 and, where it is public, as C++17.   headers.py ROOT"""
import pathlib
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
rooms = ["engine", "solvers", "collision", "dynamics", "viewer", "tools"]
paths = sorted({str(h.parent.relative_to(root)) for room in rooms for h in (root / room).rglob("*.h")
                if "tests" not in h.parts or "base" in h.parts} | {"engine/include"})
flags = [f"-I{root / p}" for p in paths]
public = sorted((root / "engine/include/tribo").glob("*.h"))
headers = [h for folder in paths for h in sorted((root / folder).glob("*.h")) if h not in public]
assert len(public) >= 4 and len(headers) > 15
for header in public + headers:
    for language, standard in [("c", "gnu17")] + ([("c++", "c++17")] if header in public else []):
        out = subprocess.run(["cc", f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                              "-Wno-unused-function", "-x", language, *flags, str(header), "-Wno-pragma-once-outside-header"],
                             capture_output=True, text=True)
        errors = [l for l in out.stderr.split("\n") if "error:" in l and "pragma once in main file" not in l]
        assert not errors, f"{header} as {standard}:\n{out.stderr}"
print(f"{len(public) + len(headers)} headers stand alone")
