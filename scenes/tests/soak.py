"""A million steps of a small scene: every step certified, and memory that does not grow.   soak.py TRIBO SCENE [STEPS]"""
import json
import os
import subprocess
import sys
import time

tribo, scene, *limit = sys.argv[1:]
steps = int(limit[0]) if limit else 1000000
process = subprocess.Popen([tribo, "run", scene, "--steps", str(steps), "--quiet", "--json", "-"], stdout=subprocess.PIPE)


def memory():
    """Resident memory [KiB], or None when the process has ended."""
    try:
        with open(f"/proc/{process.pid}/status") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmRSS:")), None)
    except OSError:
        return None


samples = []
while process.poll() is None:
    samples.append(memory())
    time.sleep(0.25)
result = json.loads(process.stdout.read())
samples = [s for s in samples[2:] if s]
assert process.returncode == 0 and result["steps"] == steps
assert result["certified_steps"] == steps, f"{steps - result['certified_steps']} steps were not certified"
assert len(samples) >= 4, "too short to tell"
early, late = samples[len(samples) // 4], samples[-1]
print(f"{scene}: {steps} steps, {early} KiB after a quarter, {late} KiB at the end, nat {result['residual']['nat']:.1e} m/s")
assert late <= early + 64, "memory grows"
