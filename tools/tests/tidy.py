"""clang-tidy by .clang-tidy on all C of the library and the program.   tidy.py CLANG_TIDY BUILD ROOT"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

tool, build, root = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
commands = json.loads((build / "compile_commands.json").read_text())
files = sorted({str((pathlib.Path(c["directory"]) / c["file"]).resolve()) for c in commands if c["file"].endswith(".c")})
files = [f for f in files if "/tests/" not in f]


def check(path):
    out = subprocess.run([tool, "-p", str(build), "--quiet", path], capture_output=True, text=True)
    return [line for line in out.stdout.split("\n") if re.search(r"(warning|error):", line)]


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = sorted({line for lines in pool.map(check, files) for line in lines})
print("\n".join(found) or f"{len(files)} files are clean")
sys.exit(1 if found or len(files) < 40 else 0)
