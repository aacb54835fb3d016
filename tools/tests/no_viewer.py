"""The program builds without the viewer, and says so where it is asked for a picture.   no_viewer.py ROOT BUILD"""
import pathlib
import subprocess
import sys
import tempfile

root, build = map(pathlib.Path, sys.argv[1:])
with tempfile.TemporaryDirectory() as folder:
    program, library = f"{folder}/tribo", build / "engine/core"
    subprocess.run(["cc", "-std=gnu17", "-O1", "-DTRIBO_VIEWER=0", "-DTRIBO_COUNT_HEAP=0", f"-I{root}/engine/include",
                    *sorted(map(str, (root / "tools").glob("*.c"))), f"-L{library}", "-ltribo", "-lm",
                    f"-Wl,-rpath,{library}", "-o", program], check=True)
    out = subprocess.run([program, "render", str(root / "scenes/cubes/tower.yaml"), "--out", f"{folder}/a.png"],
                         capture_output=True, text=True)
    assert out.returncode == 2 and "this build has no viewer" in out.stderr, out
    assert not pathlib.Path(folder, "a.png").exists()
print("a build without viewer says so")
