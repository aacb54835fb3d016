"""Both forms of each system of the benchmark suite move alike: free bodies tied by closures, and a tree whose loops closures shut. Where all
bodies are after a stretch of smooth motion, by `tribo check`.   suite_forms.py TRIBO SCENES"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TRIBO, SUITE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve() / "suite"
# [s] until when the motion is smooth: the four-bars reach their stops, or fall over, soon after
UNTIL = {"fourbar_fixed": 0.3, "fourbar_free": 0.3}
# [m] by how much the forms may differ. A tree that motors drive moves to second order, what closures tie and motors drive to first (docs/motion.md):
# so does the arm; two legs give way under their base, and feet come and go.
APART, MORE = 1e-6, {"arm7": 3e-4, "biped15": 5e-3, "legs": 1e-5}


def places(scene, time):
    """Positions of all bodies at a time, by name and axis."""
    names = re.findall(r"^  - \{name: (\w+), position:", scene.read_text(), re.M)
    facts = [f"  - {{quantity: position.{axis}, of: {name}, when: at, from: {time}, value: 0, abs: 1.0e9}}" for name in names for axis in "xyz"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "places.yaml")
        path.write_text(f"include: {scene}\nexpect:\n" + "\n".join(facts) + "\n")
        out = subprocess.run([TRIBO, "check", "--quiet", "--duration", str(time), "--json", "-", path], capture_output=True, text=True,
                             env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        assert out.stdout, (scene.name, out.stderr)
        return [fact["measured"] for fact in json.loads(out.stdout) if ": position." in fact["quantity"]][-len(facts):]


systems = sorted(path.stem.removesuffix("_tree") for path in SUITE.glob("*_tree.yaml"))
assert len(systems) >= 12, systems
for name in systems:
    time = UNTIL.get(name, 1.0)
    a, b = (places(SUITE / f"{name}_{form}.yaml", time) for form in ("max", "tree"))
    apart = max(abs(x - y) for x, y in zip(a, b, strict=True))
    print(f"{name:14} {len(a) // 3:3} bodies, {apart:.1e} m apart at {time} s")
    assert apart <= MORE.get(name, APART), f"{name}: {apart:.2e} m apart"
