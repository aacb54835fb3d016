"""Every URDF of the example robots through `tribo info`, or why its file is wrong.   robots.py TRIBO SHARE
Prints a table: links, degrees of freedom, time and memory of loading.
"""
import json
import os
import pathlib
import sys
import tempfile
import time

tribo, share = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
# what is wrong with these files, as the message must say it
WRONG = {
    "alex_psyonic_hands.urdf": "there is no joint 'alex_psyonic_hands/index_q1'",
    "romeo.urdf": "moves no mass and has no armature",
    "romeo_laas_small.urdf": "20 meshes were not found",
    "ur3.urdf": "No name given for the robot",
}


def load(path):
    """Exit code, seconds, peak memory [MB], what was printed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        child = os.posix_spawn(tribo, [tribo, "info", "--json", "-", str(path)], os.environ, file_actions=[
            (os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, err.fileno(), 2)])
        _, status, usage = os.wait4(child, 0)
        seconds = time.monotonic() - begin
        out.seek(0)
        err.seek(0)
        return os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss / 1024, out.read(), err.read().decode()


files = sorted((share / "example-robot-data/robots").rglob("*.urdf")) + sorted(
    (share / "example-robot-data/robots").rglob("*.sdf"))
if not files:
    print(f"no example robots under {share}")
    sys.exit(77)
failed = []
for path in files:
    code, seconds, memory, out, err = load(path)
    if code == 0 and path.name not in WRONG:
        model = json.loads(out)
        row = f"{len(model['bodies']):4} links {model['nv']:4} dofs {len(model['shapes']):4} shapes {seconds:6.2f} s {memory:6.0f} MB"
    else:
        row = (err.strip().splitlines() or ["loaded"])[-1]
        good = code in (2, 3) and path.name in WRONG and WRONG[path.name] in row
        row = f"refused: {WRONG[path.name]}" if good else f"exit {code}: {row[-200:]}"
        failed += [] if good else [path.name]
    print(f"{path.stem:36} {row}", flush=True)
print(f"{len(files) - len(failed)} of {len(files)} as expected" + "".join(f"\n  not: {f}" for f in failed))
sys.exit(1 if failed else 0)
