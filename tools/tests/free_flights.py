"""`tools/free-flights` finds what free flight keeps, and the order of a scene.   free_flights.py TRIBO ROOT"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

tribo, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "flights.json")
    out = subprocess.run([root / "tools/free-flights", tribo, "--seeds", "2", "--dt", "5", "--spin", "5", "--time", "0.5", "--json",
                          path], capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr
    result = json.loads(path.read_text())
assert [row["joints"] for row in result["flights"]] == ["hinges", "balls", "mixed"], out.stdout
for row in result["flights"]:
    own = row["tribo"]
    assert own["refused"] == own["doubled"] == 0 and own["p"] < 1e-12 and own["L"] < 1e-9 and own["energy"] < 1e-3, row
    # RK4 at 5 ms is close, Euler is not
    assert "RK4" not in row or (row["RK4"]["energy"] < 1e-4 and row["Euler"]["p"] > 1e-3), row
orders = {row["scene"]: row["q"]["orders"] for row in result["orders"]}
for scene in ("flight_two_links", "flight_joints", "nutation", "bead_rod", "double_pendulum"):
    assert all(math.fabs(order - 2) < 0.15 for order in orders[scene]), (scene, orders[scene])
print(out.stdout)
