"""`tribo render --html`: the page a browser shows is the picture the viewer draws.   page.py TRIBO SCENES"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from png import read_png

tribo, scenes = sys.argv[1], pathlib.Path(sys.argv[2])
tower = scenes / "cubes/tower.yaml"
browser = shutil.which("chromium")


def render(*words, code=0):
    out = subprocess.run([tribo, "render", *map(str, words)], capture_output=True, text=True)
    assert out.returncode == code, f"{words}: exit {out.returncode}\n{out.stdout}{out.stderr}"
    return out.stderr


def is_red(row, x):
    return row[3 * x] > 1.6 * max(row[3 * x + 1], row[3 * x + 2])


with tempfile.TemporaryDirectory() as folder:
    here = pathlib.Path(folder)
    page, shot, picture = here / "page.html", here / "shot.png", here / "picture.png"
    assert "cannot be written" in render(tower, "--html", "/nowhere/a.html", code=2)
    assert "--html" in render(tower, "--html", page, "--out", picture, code=2)
    # boxes fall on each other: after 0.3 s the picture is another one than at the start
    scene = here / "two <boxes>.yaml"
    scene.write_text("""textures:
  fields: {kind: cube, pattern: checker, color: [0.9, 0.9, 0.9], color2: [0.1, 0.2, 0.6], width: 64, height: 64}
static: [{plane: [0, 0, 1], color: [0.4, 0.4, 0.4]}]
cameras: [{eye: [1, -4, 1.5], target: [0, 0, 0.7]}]
bodies:
  - {name: red, position: [0, 0, 1.2], box: [0.6, 0.6, 0.6], color: [0.9, 0.1, 0.1]}
  - {name: painted, position: [-0.9, 0, 0.3], box: [0.6, 0.6, 0.6], texture: fields, color: [1, 1, 1]}
  - {name: glass, position: [0.8, 0, 0.3], sphere: 0.3, color: [0.2, 0.4, 0.9, 0.5]}
""")
    render(scene, "--html", page, "--duration", 0.5, "--overlay", "contacts", "--size", "400x300")
    text = page.read_text()
    # nothing is fetched from anywhere, and a name cannot break the page
    assert not re.search(r"https?://|src=|@import", text) and "two &lt;boxes>.yaml" in text
    if browser is None:
        print("skipped: there is no chromium to look at the page with")
        sys.exit(77)
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
                           "--enable-unsafe-swiftshader", "--hide-scrollbars", "--window-size=400,300",
                           f"--user-data-dir={here / 'profile'}", "--virtual-time-budget=3000", f"--screenshot={shot}",
                           f"file://{page}#t=0.3"], capture_output=True, text=True, timeout=120)
    assert shot.exists(), done.stderr
    render(scene, "--out", picture, "--at", 0.3, "--overlay", "contacts", "--size", "400x300")
    width, height, web = read_png(shot)
    assert (width, height) == (400, 300)
    _, _, ours = read_png(picture)
    # above the bar at the bottom both agree: the red box to the pixel, all the rest in colour
    red = [[(x, y) for y in range(240) for x in range(400) if is_red(rows[y], x)] for rows in (web, ours)]
    assert len(red[1]) > 2000 and abs(len(red[0]) - len(red[1])) < 0.02 * len(red[1]), [len(r) for r in red]
    middles = [[sum(c) / len(r) for c in zip(*r)] for r in red]
    assert max(abs(a - b) for a, b in zip(*middles)) < 0.5, middles
    differ = sum(abs(a - b) > 24 for y in range(240) for a, b in zip(web[y], ours[y]))
    assert differ < 0.01 * 3 * 240 * 400, differ
print("the page shows what the viewer draws")
