"""`tools/pictures` makes every picture the repository holds, and those in the repository are small.
pictures.py TRIBO ROOT"""
import os
import pathlib
import subprocess
import sys
import tempfile

tribo, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
with tempfile.TemporaryDirectory() as folder:
    out = subprocess.run([root / "tools/pictures", folder, "96x54"], env=dict(os.environ, TRIBO=tribo), text=True,
                         capture_output=True)
    if "no OpenGL" in out.stderr:
        print("skipped:", out.stderr)
        sys.exit(77)
    assert out.returncode == 0, out.stderr
    made = {p.name for p in pathlib.Path(folder).iterdir()}
shipped = {p.name: p.stat().st_size for p in (root / "docs/pictures").iterdir()}
# tools/performance draws the one from what it measures, tools/tests/links.py the other from what is linked
assert made | {"scaling.svg", "rooms.svg"} == set(shipped), (made, set(shipped))
assert all(1000 < size < 170000 for size in shipped.values()), shipped
print(f"{len(made)} pictures are made")
