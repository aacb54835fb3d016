"""The bench scenes are, number for number, those used to measure other engines (shared/peers/scenes.py beside the
project, where it is there).   bench_numbers.py TRIBO ROOT"""
import json
import math
import os
import subprocess
import sys

tribo, root = sys.argv[1:]
peers = os.path.join(root, "..", "shared", "peers")
if not os.path.exists(os.path.join(peers, "scenes.py")):
    print("skipped: the peers' numbers are not beside this checkout")
    sys.exit(77)
sys.dont_write_bytecode = True
sys.path.insert(0, peers)
import scenes  # noqa: E402


def near(a, b, what):
    assert math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12), f"{what}: {a} is not {b}"


def find(name):
    """The file of a scene: those that take longer than a minute stand apart."""
    paths = [os.path.join(root, "scenes", family, name + ".yaml") for family in ("bench", "large")]
    return next((path for path in paths if os.path.exists(path)), None)


def compare(name, scene):
    path = find(name)
    info = json.loads(subprocess.run([tribo, "info", path, "--json", "-"], check=True, capture_output=True).stdout)
    assert len(info["bodies"]) == len(scene.bodies), name
    shapes = {s["body"]: s for s in info["shapes"]}
    for want, got in zip(sorted(scene.bodies, key=lambda b: b.pos), sorted(info["bodies"], key=lambda b: b["pose"][:3])):
        near(got["mass"], want.mass, f"{name} mass")
        for i in range(3):
            near(got["pose"][i], want.pos[i], f"{name} position")
            near(got["inertia"][i], want.inertia()[i], f"{name} inertia")
            near(got["velocity"][i], want.vel[i], f"{name} velocity")
            near(got["omega"][i], want.omega[i], f"{name} omega")
        for have, turn in zip(got["pose"][3:], (*want.quat[1:], want.quat[0])):
            near(have, turn, f"{name} orientation")
        shape = shapes[got["name"]]
        assert shape["kind"] == want.shape
        for have, size in zip(shape["size"], want.size):
            near(have, size, f"{name} size")
    walls = [s for s in info["shapes"] if s["body"] == "world" and s["kind"] == "box"]
    assert len(walls) == len(scene.statics), name
    for want, got in zip(scene.statics, walls):
        for have, size in zip(got["size"], want.size):
            near(have, size, f"{name} wall")
    world = info["world"]
    for i in range(3):
        near(world["gravity"][i], scene.gravity[i], f"{name} gravity")
    near(world["dt"], scene.dt, f"{name} dt")
    near(world["duration"], scene.duration, f"{name} duration")
    assert scene.ground == any(s["kind"] == "half-space" for s in info["shapes"]), name
    if scene.ground:
        material = info["materials"][0]
        near(material["friction"], scene.mu, f"{name} friction")
        near(material["restitution"], scene.restitution, f"{name} restitution")


count = 0
for name, make in scenes.SCENES.items():
    scene = make()
    if scene.kind == "free" and find(name):
        compare(name, scene)
        count += 1
print(f"{count} bench scenes carry the peers' numbers")
assert count >= 12
