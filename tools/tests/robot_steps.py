"""`tools/robot-steps` measures steps with their tail.   robot_steps.py TRIBO ROOT"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

tribo, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "steps.json")
    out = subprocess.run([root / "tools/robot-steps", root / "scenes/robots/humanoid.xml", "--duration", "1.5", "--tribo", tribo,
                          "--json", path], capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr
    row, = json.loads(path.read_text())
    assert "factorisations a step" in out.stdout
    bad = subprocess.run([root / "tools/robot-steps", pathlib.Path(folder, "none.xml"), "--tribo", tribo], capture_output=True,
                         text=True)
    assert bad.returncode == 1 and "none.xml" in bad.stdout, bad.stdout + bad.stderr
assert row["contacts"] > 0.5 and sum(row["levels"].values()) == row["steps"], row
for kind in ("tribo", "factorisations"):
    assert row[kind]["mean"] <= row[kind]["p99"] * 1.5 + 1 and row[kind]["p99"] <= row[kind]["max"], row
