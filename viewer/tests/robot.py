"""A humanoid of many meshes in its colours, and what collides of it; a quadruped with pictures on it.   robot.py TRIBO ROBOTS"""
import pathlib
import re
import subprocess
import sys
import tempfile

from png import read_png

tribo, robots = sys.argv[1], pathlib.Path(sys.argv[2])
talos = robots / "talos_data/robots/talos_full_v2.urdf"
if not talos.exists():
    print(f"skipped: there is no {talos}")
    sys.exit(77)


def look(folder, *words):
    """Instances, draw calls and how many pixels of the robot are light, dark and orange."""
    out = pathlib.Path(folder, "a.png")
    said = subprocess.run([tribo, "render", talos, "--out", out, "--size", "200x240", "--stats", *words],
                          capture_output=True, text=True)
    if "no OpenGL" in said.stderr:
        print("skipped:", said.stderr)
        sys.exit(77)
    assert said.returncode == 0, said.stderr
    width, height, rows = read_png(out)
    pixels = [row[3 * x:3 * x + 3] for row in rows[18:] for x in range(60, 150)]
    light = sum(min(p) > 215 and max(p) - min(p) < 12 for p in pixels)
    dark = sum(max(p) < 60 for p in pixels)
    orange = sum(p[0] > 150 and p[0] > 2 * p[2] and p[1] < 0.75 * p[0] for p in pixels)
    return [*map(int, re.search(r"(\d+) instances, (\d+) draw calls", said.stdout).groups()), light, dark, orange]


with tempfile.TemporaryDirectory() as folder:
    instances, calls, light, dark, orange = look(folder)
    # white body, black limbs, orange fingers; each mesh is drawn twice, once for its shadow
    assert instances > 50 and calls <= 2 * instances + 2, (instances, calls)
    assert light > 100 and dark > 400 and orange > 10, (light, dark, orange)
    # hulls are grey all over
    _, _, light, dark, orange = look(folder, "--overlay", "collision")
    assert light < 20 and dark < 50 and orange == 0, (light, dark, orange)
    # pictures of COLLADA files on a robot whose own file names no colours: red shells, black legs
    anymal = robots / "anymal_c_simple_description/urdf/anymal.urdf"
    if anymal.exists():
        out = pathlib.Path(folder, "b.png")
        subprocess.run([tribo, "render", anymal, "--out", out, "--size", "240x160", "--quiet"], check=True)
        pixels = [row[i:i + 3] for row in read_png(out)[2] for i in range(0, 720, 3)]
        red, dark = sum(p[0] > 120 and p[0] > 2 * max(p[1:]) for p in pixels), sum(max(p) < 60 for p in pixels)
        assert red > 500 and dark > 300, (red, dark)
print("robots are drawn in their colours")
