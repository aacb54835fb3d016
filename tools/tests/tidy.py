"""clang-tidy by .clang-tidy on all C of the library and the program.   tidy.py CLANG_TIDY BUILD ROOT
What was clean and has not changed since, headers included, is not looked at again."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

tool, build, root = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
commands = json.loads((build / "compile_commands.json").read_text())
commands = {str((pathlib.Path(c["directory"]) / c["file"]).resolve()): c for c in commands if c["file"].endswith(".c")}
files = sorted(f for f in commands if "/tests/" not in f)
cache = build / "meson-private" / "tidy"
cache.mkdir(exist_ok=True)
rules = (root / ".clang-tidy").read_bytes() + subprocess.run([tool, "--version"], capture_output=True).stdout


def stamp(path):
    """A file whose name says what the compiler sees of a source."""
    words = commands[path]["command"].split()
    words = [w for i, w in enumerate(words) if w not in ("-o", "-MF", "-MQ", "-MD", "-c") and words[i - 1] not in ("-o", "-MF", "-MQ")]
    seen = subprocess.run([*words, "-E"], cwd=commands[path]["directory"], capture_output=True)
    return cache / hashlib.sha256(rules + seen.stdout + str(seen.returncode).encode()).hexdigest()


def check(path):
    clean = stamp(path)
    if clean.exists():
        return []
    out = subprocess.run([tool, "-p", str(build), "--quiet", path], capture_output=True, text=True)
    found = [line for line in out.stdout.split("\n") if re.search(r"(warning|error):", line)]
    if not found and out.returncode == 0:
        clean.touch()
    return found


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = sorted({line for lines in pool.map(check, files) for line in lines})
print("\n".join(found) or f"{len(files)} files are clean")
sys.exit(1 if found or len(files) < 40 else 0)
