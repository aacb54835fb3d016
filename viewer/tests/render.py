"""`tribo render` as a user types it: pictures, films, overlays, cameras, complaints.   render.py TRIBO SCENES"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from png import read_png

tribo, scenes = sys.argv[1], pathlib.Path(sys.argv[2])
tower, pendulum = scenes / "cubes/tower.yaml", scenes / "lab/pendulum.yaml"


def call(*words, code=0, env=None):
    out = subprocess.run([tribo, "render", *map(str, words)], capture_output=True, text=True, env=env)
    assert out.returncode == code, f"{words}: exit {out.returncode}, expected {code}\n{out.stdout}{out.stderr}"
    return out.stderr


def complains(words, *texts, env=None):
    err = call(*words, code=2, env=env)
    for text in texts:
        assert text in err, f"{words}: '{text}' is not in '{err}'"


with tempfile.TemporaryDirectory() as folder:
    here = pathlib.Path(folder)
    out = here / "a.png"
    probe = subprocess.run([tribo, "render", tower, "--out", out, "--size", "8x8"], capture_output=True, text=True)
    if "no OpenGL" in probe.stderr:
        print("skipped:", probe.stderr)
        sys.exit(77)

    # a red ball, seen by a camera that looks for it: in the middle of the picture
    call(pendulum, "--out", out, "--size", "120x80", "--camera", "auto", "--supersample", 2)
    width, height, rows = read_png(out)
    assert (width, height) == (120, 80)
    red = [(x, y) for y in range(80) for x in range(120)
           if rows[y][3 * x] > 1.6 * max(rows[y][3 * x + 1], rows[y][3 * x + 2])]
    middle = [sum(c) / len(red) for c in zip(*red)]
    assert abs(middle[0] - 59.5) < 1.5 and abs(middle[1] - 39.5) < 1.5, middle
    first = out.read_bytes()
    call(pendulum, "--out", out, "--size", "120x80", "--camera", "auto", "--supersample", 2,
         env=dict(os.environ, LP_NUM_THREADS="1"))
    assert out.read_bytes() == first, "the same state, another picture"

    # contacts of the tower at rest show in green, by the four corners of its faces
    call(tower, "--out", out, "--size", "160x160", "--camera", "auto", "--at", 0.01, "--overlay", "contacts")
    _, _, rows = read_png(out)
    green = sum(row[i + 1] > 1.35 * max(row[i], row[i + 2]) for row in rows for i in range(0, len(row), 3))
    assert green > 20, green
    call(tower, "--out", out, "--size", "160x160", "--camera", "side", "--at", 0.01)
    _, _, rows = read_png(out)
    assert not any(row[i + 1] > 1.35 * max(row[i], row[i + 2]) for row in rows for i in range(0, len(row), 3))

    # nothing at all is a scene too: sky, in every picture of it
    empty = here / "empty.yaml"
    empty.write_text("world: {dt: 0.001}\n")
    call(empty, "--out", out, "--size", "32x32", "--at", 0.01, "--overlay", "contacts,joints,trails,inertia")
    _, _, rows = read_png(out)
    assert all(row[i + 2] >= row[i] > 150 for row in rows for i in range(0, len(row), 3))

    # every overlay the help names can be drawn, all at once
    words = re.search(r"by commas: ([\w\s]+?)(?:\n  --|$)", subprocess.run([tribo, "render", "--help"], text=True,
                      capture_output=True).stdout).group(1).split()
    assert len(words) == 17, words
    call(scenes / "lab/four_bar.yaml", "--out", out, "--size", "80x80", "--at", 0.05, "--overlay", ",".join(words))

    # a picture every tenth of a second, numbered; the first is the start
    call(pendulum, "--out", here / "s.png", "--size", "40x40", "--camera", "auto", "--every", 0.1, "--duration", 0.3)
    names = sorted(p.name for p in here.glob("s-*.png"))
    assert names == [f"s-{i:04d}.png" for i in range(4)], names
    call(pendulum, "--out", out, "--size", "40x40", "--camera", "auto")
    assert out.read_bytes() == (here / "s-0000.png").read_bytes() != (here / "s-0002.png").read_bytes()
    stats = subprocess.run([tribo, "render", tower, "--out", out, "--size", "64x64", "--stats"], text=True,
                           capture_output=True, check=True).stdout
    bodies, instances, calls = map(int, re.match(r"(\d+) bodies, (\d+) instances, (\d+) draw calls; list ", stats).groups())
    # the sky, the ground, and one mesh in the shadow map and in the picture, whatever the number of cubes
    assert bodies > 1 and instances == bodies + 1 and calls == 4, stats

    # a camera mounted on a falling body sees another one fall beside it as if both stood still
    falling = here / "falling.yaml"
    falling.write_text("bodies:\n  - {name: a, box: [1, 1, 1]}\n  - {name: b, sphere: 0.5, position: [0, 3, 0]}\n"
                       "cameras:\n  - {name: on, body: a, eye: [0.6, 0, 0], target: [0, 3, 0]}\n"
                       "  - {name: off, eye: [0.6, 0, 0], target: [0, 3, 0]}\n")
    call(falling, "--out", here / "f.png", "--size", "40x40", "--camera", "on", "--every", 0.1, "--duration", 0.3)
    assert (here / "f-0000.png").read_bytes() == (here / "f-0003.png").read_bytes()
    call(falling, "--out", here / "f.png", "--size", "40x40", "--camera", "off", "--every", 0.1, "--duration", 0.3)
    assert (here / "f-0000.png").read_bytes() != (here / "f-0003.png").read_bytes()

    # what is wrong is said
    complains([tower, "--out", here / "a.mp4", "--every", 1], "--fps")
    complains([tower, "--out", out, "--every", -1], "--every -1")
    complains([tower], "--out")
    complains([tower, "--out", here / "a.gif"], "a.gif", ".png or .mp4")
    complains([tower, "--out", "/nowhere/a.png"], "/nowhere/a.png")
    complains([tower, "--out", out, "--size", "big"], "--size big")
    complains([tower, "--out", out, "--size", "10x10x10"], "--size 10x10x10")
    complains([tower, "--out", out, "--size", "0x10"], "--size 0x10")
    complains([tower, "--out", out, "--camera", "moon"], "no camera 'moon'")
    complains([tower, "--out", out, "--overlay", "ghosts"], "no overlay 'ghosts'")
    complains([tower, "--out", out, "--supersample", 99], "--supersample 99")
    complains([tower, "--out", out, "--at", -1], "--at -1")
    complains([tower, "--out", out, "--load", "/nowhere/state"], "/nowhere/state")
    complains(["nowhere.yaml", "--out", out], "nowhere.yaml")
    complains([tower, "--out", here / "a.mp4", "--size", "31x20"], "even")
    complains([tower, "--out", here / "a.mp4", "--size", "32x20"], "ffmpeg cannot be started",
              env=dict(os.environ, PATH=str(here)))
    assert not (here / "a.mp4").exists(), "a film without ffmpeg"

    # a recorded motion with the forces that made it; one that penetrates
    push, motion = scenes / "motions/push.yaml", here / "motion.csv"
    subprocess.run([tribo, "run", push, "--record", motion, "--quiet"], check=True)
    call(push, "--motion", motion, "--passive", "rise", "--at", 0.25, "--overlay", "forces", "--out", out, "--size", "64x36")
    plain = here / "plain.png"
    call(push, "--motion", motion, "--passive", "rise", "--at", 0.25, "--out", plain, "--size", "64x36")
    assert read_png(out) != read_png(plain), "no force is drawn"
    # the same forces from the file that id has written of them; other files are named with their line
    forces, other = here / "forces.csv", here / "other.png"
    subprocess.run([tribo, "id", push, "--motion", motion, "--passive", "rise", "--contacts", forces, "--quiet"], check=True)
    call(push, "--motion", motion, "--contacts", forces, "--at", 0.25, "--overlay", "forces", "--out", other, "--size", "64x36")
    assert read_png(out) == read_png(other), "the forces of the file are others"
    head, row = forces.read_text().splitlines()[:2]
    for text, complaint in [("x,y\n", "forces.csv:1: no file of contact forces"),
                            (f"{head}\n{row.replace('0,0,1,', '0,0,9,', 1)}\n", "forces.csv:2:2: there are no shapes 0 and 9"),
                            (f"{head}\n{row}\n{row.replace('0,0,1,2', '0,0,1,0', 1)}\n", "forces.csv:3:4: mode 0"),
                            (f"{head}\n0,0,1,2,nan\n", "forces.csv:2:5: a finite number")]:
        forces.write_text(text)
        complains([push, "--motion", motion, "--contacts", forces, "--out", out], complaint)
    complains([push, "--contacts", forces, "--out", out], "--contacts needs --motion")
    lines = motion.read_text().splitlines()
    row = lines[8].split(",")
    lines[8] = ",".join(row[:2] + ["-0.02"] + row[3:])
    motion.write_text("\n".join(lines) + "\n")
    complains([push, "--motion", motion, "--at", 0.007, "--out", out], "motion.csv:9: ground and block")

    # the page on the suite of mechanisms has a picture of each system
    page = here / "suite.html"
    subprocess.run([tribo, "bench", "suite", scenes / "suite/fourbar_free_tree.yaml", "--samples", "1", "--solvers", "auto,newton",
                    "--quiet", "--html", page], check=True)
    assert page.read_text().count("data:image/png;base64,iVBOR") == 1 and "<svg" in page.read_text()

    # a film: its length and frames as ffprobe counts them
    if shutil.which("ffmpeg") is None:
        print("no ffmpeg here: films were not looked at")
        sys.exit(0)
    film = here / "film.mp4"
    call(pendulum, "--out", film, "--size", "64x48", "--duration", 0.5, "--fps", 20)
    frames = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries",
                             "stream=nb_read_frames,width,height,codec_name", "-of", "csv=p=0", str(film)],
                            capture_output=True, text=True, check=True).stdout.strip()
    assert frames == "h264,64,48,11", frames
print("pictures, films and complaints are as they should be")
