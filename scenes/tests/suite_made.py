"""The scenes of the benchmark suite are those that its make.py writes.   suite_made.py SUITE"""
import pathlib
import subprocess
import sys
import tempfile

suite = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, suite / "make.py", folder], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
kept = {path.name: path.read_text() for path in suite.glob("*.yaml")}
old = sorted(name for name in made.keys() | kept.keys() if made.get(name) != kept.get(name))
assert not old, f"not as make.py writes them: {old}"
print(f"{len(kept)} scenes")
