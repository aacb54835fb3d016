"""Model files and the scenes that `tribo convert` makes of them load to the same model.
    roundtrip.py TRIBO PROBE SHARE SCENES JUDGES      MJCF files are those of gymnasium and dm_control, where they are
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

tribo, probe = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
files = sorted((pathlib.Path(sys.argv[3]) / "example-robot-data/robots").rglob("*.urdf"))
files += sorted((pathlib.Path(sys.argv[3]) / "example-robot-data/robots").rglob("*.sdf"))
# (the mass matrix of thousands of free bodies would fill the memory and say nothing new)
files += [p for p in sorted(pathlib.Path(sys.argv[4]).rglob("*.yaml")) if p.parent.name != "large" and "1000" not in p.name]
for folder in ("gymnasium/envs/mujoco/assets", "dm_control/suite"):
    files += sorted(pathlib.Path(sys.argv[5]).glob(f"lib/python*/site-packages/{folder}/*.xml"))


def look(path):
    """The model at its start, and half a radian or metre away in every joint with one coordinate; NULL: not loaded."""
    run = subprocess.Popen([probe, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    first = run.stdout.readline()
    if not first:
        run.communicate()
        return None
    model = json.loads(first)
    states = []
    for away in (0.0, 0.5):
        q = list(model["start"])
        for j in model["joints"]:
            if j["kind"] in ("revolute", "prismatic", "helical"):
                q[j["q"]] += away
        v = [away * (i % 5 - 2) for i in range(model["nv"])]
        states.append(q + v + [away] * model["nactuator"] + [0.0] * model["nactuator"])
    rest, _ = run.communicate("\n".join(" ".join(f"{x:.17g}" for x in s) for s in states))
    return first + rest if run.returncode == 0 else None


def numbers(text):
    found = []

    def walk(x):
        if isinstance(x, (int, float)):
            found.append(float(x))
        elif isinstance(x, list):
            for y in x:
                walk(y)
        elif isinstance(x, dict):
            for key, y in x.items():
                if key != "quaternion" or not x.get("plane"):  # the turn of a plane about its normal is nothing
                    walk(y)
    for line in text.splitlines():
        answer = json.loads(line)
        if "shapes" in answer:  # the scene lists them by body
            answer["shapes"].sort(key=lambda s: s["name"])
            for s in answer["shapes"]:
                del s["body"]
        walk(answer)
    return found


def off(path, folder):
    """How far the scene made of a file is from it, and what the program said; None: the file itself does not load."""
    before = look(str(path))
    if before is None:
        return None  # wrong files have their own test
    scene = f"{tempfile.mkdtemp(dir=folder)}/scene.yaml"
    ground = ["--no-ground"] if path.suffix == ".urdf" else []
    made = subprocess.run([tribo, "convert", str(path), "--to", scene, *ground], capture_output=True, text=True)
    a, b = numbers(before), numbers((look(scene) if made.returncode == 0 else None) or "")
    # quaternions are scaled to length 1 when they are read: the last bit may differ
    gap = max((abs(x - y) / max(abs(x), 1) for x, y in zip(a, b)), default=0) if len(a) == len(b) else float("inf")
    return gap, made.stderr


with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
    answers = dict(zip(files, pool.map(off, files, [folder] * len(files))))
done = {path: answer for path, answer in answers.items() if answer is not None}
failed = {path: answer for path, answer in done.items() if not answer[0] <= 1e-12}
for path, (gap, said) in failed.items():
    print(f"{path.name}: off by {gap:.1e} {said[-300:]}")
worst = max((gap for gap, _ in done.values()), default=0)
print(f"{len(done) - len(failed)} of {len(done)} files come back, off by at most {worst:.0e}")
sys.exit(1 if failed or not done else 0)
