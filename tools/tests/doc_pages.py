"""What the pages on the code name is there: files, functions in them (file.c:function), words of the glossary.
doc_pages.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
ROOMS = ["scene", "compile", "control", "sim", "observe", "load", "base"]
PAGES = ["docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md", "engine/README.md",
         *(f"engine/{room}/README.md" for room in ROOMS)]
# a path with a known ending, or a folder in backticks; <name> and * stand for files to come
FILE = re.compile(r"(?<![\w/<>*.~-])((?:[\w-]+/)*[\w-]+\.(?:cpp|c|hpp|h|md|py|svg|build|yaml|map))(?![\w*<-])(?::(\w+))?")
FOLDER = re.compile(r"`((?:[\w-]+/)+)`")
complaints, seen = [], 0


def place(page, name):
    """The file of that name: beside the page, from the root, or among the public headers."""
    for folder in [page.parent, root, root / "engine/include", root / "engine/include/tribo"]:
        if (folder / name).exists():
            return folder / name
    return None


def has_word(path, word):
    return re.search(rf"\b{re.escape(word)}", path.read_text(), re.I) is not None


def wrong_names(page, text):
    """What a page names and nobody finds."""
    found = [f"{name} is not there" for name in FOLDER.findall(text) if place(page, name) is None]
    for name, function in FILE.findall(text):
        path = place(page, name)
        if path is None:
            found.append(f"{name} is not there")
        elif function and not has_word(path, function):
            found.append(f"{name} has no {function}")
    return found


def wrong_terms(text):
    """Rows of the glossary: | term | what | `word` in `file` |."""
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([^`]+)` in `([^`]+)` \|$", text, re.M)
    found = [f"{term}: {file} has no '{word}'" for term, _, word, file in rows
             if (root / file).is_file() and not has_word(root / file, word)]
    terms = [term for term, *_ in rows]
    if len(terms) < 50 or len(terms) != len(set(terms)):
        found.append(f"{len(terms)} terms, {len(set(terms))} different ones; there are 50 or more")
    return found


for name in PAGES:
    page = root / name
    text = page.read_text()
    seen += len(FILE.findall(text)) + len(FOLDER.findall(text))
    complaints += [f"{name}: {c}" for c in wrong_names(page, text)]
    if "engine/" in name and len(text.splitlines()) > 30:
        complaints.append(f"{name} has more than 30 lines")
complaints += [f"docs/glossary.md: {c}" for c in wrong_terms((root / "docs/glossary.md").read_text())]
# planted: a file, a folder, a function and a word that are not there
lab = root / "docs/planted.md"
assert wrong_names(lab, "see engine/sim/gone.c") and wrong_names(lab, "see `engine/gone/`")
assert wrong_names(lab, "engine/sim/step.c:gone_too") and not wrong_names(lab, "engine/sim/step.c:run_step")
assert any("has no 'zzz'" in c for c in wrong_terms("| a | b | `zzz` in `engine/sim/step.c` |"))
print("\n".join(complaints) or f"{seen} files named, all there")
sys.exit(1 if complaints else 0)
