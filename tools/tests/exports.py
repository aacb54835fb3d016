"""The library exports the functions of the public headers and nothing else.   exports.py LIBRARY ROOT"""
import pathlib
import re
import subprocess
import sys


def exported(listing):
    """Names that `nm -D --defined-only` lists, whatever their kind."""
    return {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.split()}


def declared(text):
    """Functions that a header declares with TRIBO_API."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^#define (?:.*\\\n)*.*\n", "", text, flags=re.M)
    return set(re.findall(r"\bTRIBO_API\b[^;(]*?\b(\w+)\s*\(", text))


def complaints(symbols, functions):
    """What is exported and not public, and what is public and not exported."""
    foreign = {s for s in symbols if not s.startswith("tribo_")}
    return ([f"{s} is exported and is none of ours" for s in sorted(foreign)] +
            [f"{s} is exported, but no public header declares it" for s in sorted(symbols - foreign - functions)] +
            [f"{s} is declared in a public header, but not exported" for s in sorted(functions - symbols)])


# what the test must notice: a planted symbol of C++, an inner function, a declaration without a function
listing = "0000000000001000 T tribo_step\n0000000000002000 W _ZN4coal6planted\n0000000000003000 i tribo_dyn_planted\n"
header = """// TRIBO_API int tribo_in_a_comment(void);
#define TRIBO_API __attribute__((visibility("default")))
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_step(const TriboModel* model,
                                                 TriboData* data);
TRIBO_API const char* tribo_missing(void);
"""
assert declared(header) == {"tribo_step", "tribo_missing"}, declared(header)
noticed = complaints(exported(listing), declared(header))
assert [line.split()[0] for line in noticed] == ["_ZN4coal6planted", "tribo_dyn_planted", "tribo_missing"], noticed
assert not complaints({"tribo_step"}, {"tribo_step"})

library, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
nm = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
symbols = exported(nm.stdout)
functions = set().union(*(declared(h.read_text()) for h in sorted((root / "engine/include/tribo").glob("*.h"))))
assert len(functions) > 100, len(functions)
found = complaints(symbols, functions)
assert not found, "\n".join(found)
print(f"{len(symbols)} functions exported, all of them declared in the public headers")
