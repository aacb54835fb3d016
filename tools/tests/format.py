"""All C and C++ is formatted by .clang-format.   format.py CLANG_FORMAT ROOT"""
import pathlib
import subprocess
import sys

clang_format, root = sys.argv[1], pathlib.Path(sys.argv[2])
files = [str(p) for room in ("engine", "collision", "dynamics", "solvers", "tools", "viewer")
         for p in sorted((root / room).rglob("*")) if p.suffix in (".c", ".h", ".cpp", ".hpp")]
out = subprocess.run([clang_format, "--dry-run", "--Werror", *files], capture_output=True, text=True)
bad = sorted({line.split(":")[0] for line in out.stderr.split("\n") if "error:" in line})
print("\n".join(bad) or f"{len(files)} files are formatted")
sys.exit(1 if bad else 0)
