"""`tools/robots-per-second` has all four robots in both engines.
robots_per_second.py TRIBO ROOT WHEELS"""
import os
import pathlib
import subprocess
import sys

tribo, root, wheels = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
out = subprocess.run([root / "tools/robots-per-second", "0.05"], env=dict(os.environ, TRIBO=tribo, WHEEL_PREFIX=wheels),
                     capture_output=True, text=True)
if "tribo-mujoco is not there" in out.stderr or "No such file" in out.stderr:
    print("skipped:", out.stderr)
    sys.exit(77)
assert out.returncode == 0, out.stderr
rows = [line.split() for line in out.stdout.splitlines()[1:]]
assert {row[0] for row in rows} == {"ur5", "talos", "cassie", "humanoid"}, out.stdout
for name in ("ur5", "talos", "cassie", "humanoid"):
    engines = {row[1]: float(row[2]) for row in rows if row[0] == name}
    assert {"tribo", "mujoco:default"} <= set(engines) and min(engines.values()) > 1, (name, engines)
print(out.stdout)
