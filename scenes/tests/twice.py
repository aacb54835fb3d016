"""A scene run twice on the same data, and once more in two halves through a state file: the same bits, no heap call of
ours in the second run.   twice.py TRIBO SCENE [STEPS]"""
import json
import os
import subprocess
import sys
import tempfile


def run(tribo, scene, *flags):
    out = subprocess.run([tribo, "run", scene, "--quiet", "--json", "-", *flags], check=True, capture_output=True)
    return json.loads(out.stdout)


def main():
    tribo, scene, *limit = sys.argv[1:]
    twice = run(tribo, scene, "--twice", *(["--steps", limit[0]] if limit else []))
    heap = twice["heap_calls"]
    steps = twice["steps"]
    print(f"{scene}: {steps} steps, heap calls in the second run: {heap['ours']} ours, {heap['coal']} Coal's, "
          f"{heap['sparse']} for sparse patterns" + ("" if heap["counted"] else " (not counted in this build)"))
    assert twice["state_hash"] == twice["state_hash_first_run"], "the second run ended elsewhere"
    assert heap["ours"] == 0, "the second run called the heap"
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state")
        half = steps // 2
        run(tribo, scene, "--steps", str(half), "--save", state)
        rest = run(tribo, scene, "--steps", str(steps - half), "--load", state)
    assert rest["state_hash"] == twice["state_hash"], "saving and restoring changed the motion"


main()
