"""A scene ends in the same bits with 1 to 4 threads, twice, saved and restored half-way, alone and in a sweep beside others.
    bits.py TRIBO SCENE STEPS [FLAGS of run, without the sweep]"""
import csv
import json
import os
import subprocess
import sys
import tempfile

tribo, scene, steps, always = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]


def call(*words):
    out = subprocess.run([tribo, *map(str, words)], capture_output=True, text=True)
    assert out.returncode == 0, f"{words}: exit {out.returncode}\n{out.stderr}"
    return out.stdout


def run(count, *flags):
    return json.loads(call("run", scene, "--steps", count, "--quiet", "--json", "-", *always, *flags))["state_hash"]


with tempfile.TemporaryDirectory() as here:
    first = run(steps)
    for threads in (1, 2, 3, 4):
        assert run(steps, "--threads", threads) == first, f"{threads} threads"
    state, half = os.path.join(here, "half.state"), steps // 2
    assert run(half, "--save", state) != first
    assert run(steps - half, "--load", state, "--threads", 2) == first, "saved and restored"
    if not always:
        world = json.loads(call("info", scene, "--json", "-"))["world"]
        dt, table = world["dt"], os.path.join(here, "rows")
        # the scene as it is beside two others
        call("sweep", scene, "--vary", f"tol={1e-10}..{3e-10}:3", "--duration", dt * steps, "--threads", 3, "--out", table)
        rows = list(csv.DictReader(open(os.path.join(table, "results.csv"))))
        assert len(rows) == 3 and rows[0]["state_hash"] == first, rows
print(f"{scene}: {first} after {steps} steps, however it is run")
