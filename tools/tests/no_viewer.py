"""A program built without the viewer says so where it is asked for a picture.   no_viewer.py TRIBO ROOT"""
import pathlib
import subprocess
import sys
import tempfile

tribo, root = sys.argv[1], pathlib.Path(sys.argv[2])
with tempfile.TemporaryDirectory() as folder:
    picture = pathlib.Path(folder, "a.png")
    out = subprocess.run([tribo, "render", str(root / "scenes/cubes/tower.yaml"), "--out", str(picture)],
                         capture_output=True, text=True)
    assert out.returncode == 2 and "this build has no viewer" in out.stderr, out
    assert not picture.exists()
    out = subprocess.run([tribo, "view", str(root / "scenes/cubes/tower.yaml")], capture_output=True, text=True)
    assert out.returncode == 2 and "this build has no viewer" in out.stderr, out
print("a build without viewer says so")
