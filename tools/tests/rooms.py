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
    "engine/base": ("engine/base/memory.c", ["status.h"], ["collision.h", "dynamics.h", "solvers.h", "la.h", "scene_impl.h"]),
    "solvers/la": ("solvers/la/dense.c", ["la.h", "status.h"], ["collision.h", "dynamics.h", "solvers.h", "scene_impl.h"]),
    "solvers": ("solvers/policy/solver.c", ["la.h", "solvers.h", "tribo/problem.h"], ["collision.h", "dynamics.h", "scene_impl.h"]),
    "collision": ("collision/detect/detect.c", ["collision.h", "exchange.h"], ["dynamics.h", "solvers.h", "la.h", "scene_impl.h"]),
    "dynamics": ("dynamics/forward_step.c", ["dynamics.h", "exchange.h"], ["collision.h", "solvers.h", "scene_impl.h"]),
    "engine/scene": ("engine/scene/scene.c", ["scene_impl.h", "collision.h", "tribo/tribo.h"],
                     ["model_impl.h", "data_impl.h", "controllers.h", "yaml_tree.h", "la.h", "coal_shim.h", "pinocchio_shim.h"]),
    "engine/compile": ("engine/compile/compile.c", ["model_impl.h", "scene_impl.h", "dynamics.h", "tendon.h"],
                       ["data_impl.h", "controllers.h", "sensors.h", "yaml_tree.h", "la.h", "pinocchio_shim.h"]),
    "engine/control": ("engine/control/controllers.c", ["controllers.h", "model_impl.h", "dynamics.h"],
                       ["data_impl.h", "sensors.h", "yaml_tree.h", "la.h"]),
    "engine/sim": ("engine/sim/step.c", ["data_impl.h", "controllers.h", "collision.h", "dynamics.h", "solvers.h"],
                   ["sensors.h", "yaml_tree.h", "la.h", "coal_shim.h", "pinocchio_shim.h", "dyn_data.h"]),
    "engine/observe": ("engine/observe/sensors.c", ["sensors.h", "data_impl.h", "model_impl.h"], ["yaml_tree.h", "mjcf.h", "la.h"]),
    "engine/load": ("engine/load/load.c", ["scene_impl.h", "yaml_tree.h", "mjcf.h", "tribo/tribo.h"],
                    ["model_impl.h", "data_impl.h", "controllers.h", "sensors.h", "la.h"]),
    "viewer": ("viewer/list.c", ["viewer.h", "tribo/tribo.h"],
               ["status.h", "collision.h", "dynamics.h", "solvers.h", "la.h", "scene_impl.h", "cli.h"]),
    "tools": ("tools/main.c", ["tribo/tribo.h", "tribo/problem.h"],
              ["status.h", "collision.h", "dynamics.h", "solvers.h", "la.h", "scene_impl.h"]),
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
