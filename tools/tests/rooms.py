"""A room sees only what it may include: for every room, headers of its own and of allowed rooms compile, all others do not.
The include paths are read from the compile commands of the real build.   rooms.py BUILD ROOT"""
import json
import pathlib
import shlex
import subprocess
import sys

build, root = map(pathlib.Path, sys.argv[1:])
commands = json.loads((build / "compile_commands.json").read_text())

# room: a source of it, headers it may include, headers it must not be able to include
ROOMS = {
    "engine/base": ("engine/base/memory.c", ["status.h"], ["collision.h", "dynamics.h", "solvers.h", "la.h", "scene.h"]),
    "solvers/la": ("solvers/la/dense.c", ["la.h", "status.h"], ["collision.h", "dynamics.h", "solvers.h", "scene.h"]),
    "solvers": ("solvers/policy/solver.c", ["la.h", "solvers.h", "tribo/problem.h"], ["collision.h", "dynamics.h", "scene.h"]),
    "collision": ("collision/detect.c", ["collision.h", "exchange.h"], ["dynamics.h", "solvers.h", "la.h", "scene.h"]),
    "dynamics": ("dynamics/step.c", ["dynamics.h", "exchange.h"], ["collision.h", "solvers.h", "scene.h"]),
    "engine/core": ("engine/core/step.c", ["collision.h", "dynamics.h", "solvers.h", "tribo/tribo.h"],
                    ["la.h", "coal_shim.h", "pinocchio_shim.h", "internal.h", "solver.h", "shape.h"]),
    "viewer": ("viewer/list.c", ["viewer.h", "tribo/tribo.h"],
               ["status.h", "collision.h", "dynamics.h", "solvers.h", "la.h", "scene.h", "cli.h"]),
    "tools": ("tools/main.c", ["tribo/tribo.h", "tribo/problem.h"],
              ["status.h", "collision.h", "dynamics.h", "solvers.h", "la.h", "scene.h"]),
}


def includes(header, flags, folder):
    """Does a source with these flags compile when it includes this header?"""
    source = f"#include <stddef.h>\n#include <{header}>\n"
    return subprocess.run(["cc", "-std=gnu17", "-fsyntax-only", "-x", "c", *flags, "-"], input=source, text=True,
                          cwd=folder, capture_output=True).returncode == 0


checked = 0
for room, (source, allowed, forbidden) in ROOMS.items():
    wanted = (root / source).resolve()
    entry = next((c for c in commands if (pathlib.Path(c["directory"]) / c["file"]).resolve() == wanted), None)
    if room == "viewer" and entry is None:
        continue  # an optional room
    words = shlex.split(entry["command"])
    flags = [w for i, w in enumerate(words) if w.startswith("-I") or (i and words[i - 1] == "-isystem") or w == "-isystem"]
    for header in allowed:
        assert includes(header, flags, entry["directory"]), f"{room} cannot include {header}"
    for header in forbidden:
        assert not includes(header, flags, entry["directory"]), f"{room} can include {header}"
    checked += len(allowed) + len(forbidden)
print(f"{checked} includes behave")
