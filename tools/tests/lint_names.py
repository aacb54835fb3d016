"""What messages and comments name is there: the function that a text begins with ("tribo_step: …"), files of ours.
lint_names.py ROOT"""
import pathlib
import re
import sys

import lint_words

FUNCTION = re.compile(r'"(tribo_\w+)(?:: |")')
FILE = re.compile(r"(?<![\w.*<>/{}%-])(?:[\w-]+/)*([a-z][a-z_0-9]*\.(?:c|h|cpp))\b")
FOREIGN = {"tribo_local", "math.h"}  # a group of problem files, a header of the C library


def wrong_names(text, functions, files):
    """(line, name) of everything that a source names and nobody finds."""
    found = []
    for line, row in enumerate(text.split("\n"), 1):
        code, _, comment = row.partition("//")
        found += [(line, name) for name in FUNCTION.findall(code) if name not in functions | FOREIGN]
        found += [(line, name) for name in FILE.findall(comment) if name not in files | FOREIGN]
    return found


# planted: a function and a file that are gone; then those that are there
for text, name in [('tribo_fail(x, "tribo_gone: no");', "tribo_gone"), ('check("tribo_gone", x);', "tribo_gone"),
                   ("int a;  // gone.c: its b", "gone.c")]:
    assert [n for _, n in wrong_names(text, {"tribo_step"}, {"step.c"})] == [name], f"not noticed: {text}"
assert not wrong_names('f("tribo_step: no");  // step.c, engine/sim/step.c, <name>.c, scene.yaml', {"tribo_step"}, {"step.c"})

if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1]).resolve()
    sources = {path: path.read_text() for path in lint_words.sources(root)}
    functions = set().union(*(re.findall(r"\btribo_\w+", lint_words.code_of(text)) for text in sources.values()))
    files = {path.name for path in sources}
    complaints = [f"{path.relative_to(root)}:{line}: {name} is not there" for path, text in sources.items()
                  for line, name in wrong_names(text, functions, files)]
    print("\n".join(complaints) or f"{len(sources)} files, all that they name is there")
    sys.exit(1 if complaints else 0)
