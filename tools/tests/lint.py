"""House rules that a compiler does not check.   lint.py ROOT"""
import pathlib
import re
import sys

import lint_loops

root = pathlib.Path(sys.argv[1])
LIBRARY = ["engine/base", "engine/scene", "engine/compile", "engine/control", "engine/sim", "engine/observe", "engine/load", "collision", "dynamics", "solvers", "viewer"]
BANNED = re.compile(r"(?<![\w.>])(exit|abort|_exit|quick_exit|printf|puts|putchar|perror|assert|longjmp|setjmp|strcpy|strcat"
                    r"|sprintf|gets|rand|srand|strtok|system)\s*\(|\bstd::(cout|cerr|exit|abort)\b|fprintf\s*\(\s*std(out|err)")
complaints = []


def sources(folder, endings=(".c", ".h", ".cpp", ".hpp")):
    return [p for p in sorted((root / folder).rglob("*")) if p.suffix in endings]


def code_lines(path):
    """Lines with comments and strings blanked, so that words in them do not count."""
    text = path.read_text()
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    return [line.split("//")[0] for line in text.split("\n")]


def tree(endings):
    """Every file of ours with such an ending: nothing that was fetched or built."""
    return [p for p in sources(".", endings) if not any(part.startswith(("build", ".")) for part in p.relative_to(root).parts)]


def complain(path, line, text):
    complaints.append(f"{path.relative_to(root)}:{line}: {text}")


for room in LIBRARY:
    for path in sources(room):
        if "tests" in path.parts:
            continue
        for i, line in enumerate(code_lines(path), 1):
            found = BANNED.search(line)
            if found:
                complain(path, i, f"'{found.group().strip()}' has no place below tools/")

# rooms know the engine's public problem and types, never its whole interface
for room in ["engine/base", "collision", "dynamics", "solvers"]:
    for path in sources(room):
        for i, line in enumerate(path.read_text().split("\n"), 1):
            if re.match(r'\s*#\s*include\s*[<"]tribo/tribo\.h', line) and "tests" not in path.parts:
                complain(path, i, "tribo/tribo.h is for loaders, and for those outside the library")

# third-party names stay in their rooms
ONLY = {
    r"\b(cblas_|LAPACK_|LAPACKE_|cholmod_|klu_|amd_order|openblas_)\w*\s*\(": ["solvers/la"],
    r"\b(pinocchio|Eigen)::": ["dynamics", "collision"],
    r"\bcoal::": ["collision"],
    r"\byaml_(parser|event)_\w+\s*\(": ["engine/load/yaml"],
    r"\b(gl[A-Z]|egl[A-Z]|glfw)\w+\s*\(": ["viewer"],
    r"\bpng_\w+\s*\(": ["viewer", "engine/load"],
}
for pattern, rooms in ONLY.items():
    for path in sources("engine") + sources("collision") + sources("dynamics") + sources("solvers") + sources("tools") + sources("viewer"):
        inside = any(str(path.relative_to(root)).startswith(r + "/") for r in rooms)
        for i, line in enumerate(code_lines(path), 1):
            if not inside and re.search(pattern, line):
                complain(path, i, f"{re.search(pattern, line).group()} belongs to {', '.join(rooms)}")

# C++ only in the shims
for path in sources(".", (".cpp", ".hpp", ".cc")):
    if ".deps" in path.parts or any(part.startswith("build") for part in path.parts):
        continue
    if not re.search(r"shim", path.name):
        complain(path, 1, "C++ lives in the shims only")

# size, manners, words
for path in sources("engine") + sources("collision") + sources("dynamics") + sources("solvers") + sources("tools") + sources("viewer"):
    lines = path.read_text().split("\n")
    if len(lines) > 1000:
        complain(path, len(lines), f"{len(lines)} lines; files stay below 1000")
    if path.suffix in (".h", ".hpp") and "#pragma once" not in lines:
        complain(path, 1, "a header starts with #pragma once")
    for i, line in enumerate(lines, 1):
        if len(line) > 140:
            complain(path, i, f"{len(line)} characters in a line")
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
            complain(path, i, "unfinished work is not committed")
        if line != line.rstrip():
            complain(path, i, "spaces at the end of a line")
# a loop's condition changes in the loop; what does not is an `if` around it
for path in tree((".c", ".h", ".cpp")):
    for line, test in lint_loops.hidden_ifs("\n".join(code_lines(path))):
        complain(path, line, f"'{test}' does not change in the loop: put an `if` around it")

# a file says at its head what it is for, and a long static function says it in the line above; a test's name does
HEAD = re.compile(r'(#!.*\n)?(//|/\*|"""|# )')
LONG = 25
for path in tree((".c", ".h", ".cpp", ".hpp", ".py")):
    text = path.read_text()
    if not HEAD.match(text):
        complain(path, 1, "a file starts with a comment that says what it is for")
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if path.suffix != ".py" and re.match(r"(TRIBO_\w+ )?static [^=;]*\(", line) and not line.endswith((";", "\\")):
            end = next((k for k in range(i, len(lines)) if lines[k] == "}"), i)
            if end - i + 1 > LONG and "(void** state)" not in line and not lines[i - 1].startswith(("//", "*/", " *")):
                complain(path, i + 1, f"a function of {end - i + 1} lines says in the line above what it is for")

# one name, one file: scenes are named with their folder, and meson and readers of a README look for theirs
SHARED = {"meson.build", "README.md"}
seen = {}
for path in tree((".c", ".h", ".cpp", ".hpp", ".py", ".md", ".build", ".html")):
    if path.name not in SHARED and seen.setdefault(path.name, path) != path:
        complain(path, 1, f"there is a {seen[path.name].relative_to(root)} already")

for room in ["engine", "collision", "dynamics", "solvers", "tools", "scenes", "viewer"]:
    readme = root / room / "README.md"
    if not readme.exists() or len(readme.read_text().split("\n")) > 42:
        complain(readme, 1, "every room has a README of at most 40 lines")

print("\n".join(complaints) or "clean")
sys.exit(1 if complaints else 0)
