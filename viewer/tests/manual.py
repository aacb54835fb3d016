"""docs/viewer.md: its tables are those of viewer.h, and its commands run.   manual.py TRIBO ROOT [write]"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

tribo, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
header = (root / "viewer/include/viewer.h").read_text()
page = root / "docs/viewer.md"


def rows(macro):
    """The quoted words of each row of an X-macro."""
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*\n)", header).group(1)
    for row in re.findall(r'X\(\w+, \w+,((?:[\s\\]*"[^"]*",?)+)\)', body):
        yield re.findall(r'"([^"]*)"', row)


keys = "| key | what it does |\n|---|---|\n" + "".join(f"| {k} | {doc} |\n" for k, doc in rows("TRIBO_ACTIONS"))
shows = "| key | `--overlay` | what it shows |\n|---|---|---|\n" + "".join(
    f"| {k} | `{name}` | {doc} |\n" for k, name, doc in rows("TRIBO_OVERLAYS"))
text = page.read_text()
fresh = re.sub(r"\| key \| what it does.*?\n(?=\n)", lambda _: keys, text, flags=re.S)
fresh = re.sub(r"\| key \| `--overlay`.*?\n(?=\n)", lambda _: shows, fresh, flags=re.S)
if sys.argv[3:] == ["write"]:
    page.write_text(fresh)
assert fresh == page.read_text(), "docs/viewer.md is stale: viewer/tests/manual.py TRIBO . write"

commands = re.findall(r"^    tribo (.+)$", text, re.M)
assert len(commands) > 5
screen = shutil.which("xvfb-run")
with tempfile.TemporaryDirectory() as folder:
    os.symlink(root / "scenes", pathlib.Path(folder, "scenes"))
    for command in commands:
        words = [tribo, *shlex.split(command)]
        words += ["--size", "160x120"] if words[1] in ("view", "render") and "--size" not in command else []
        if words[1] == "view":
            if screen is None:
                continue
            words = [screen, "-a", *words, "--frames", "3"]
        elif shutil.which("ffmpeg") is None and ".mp4" in command:
            continue
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"tribo {command}: {done.stderr}"
        for name in re.findall(r"--(?:out|html) (\S+)", command):
            assert "--every" in command or pathlib.Path(folder, name).stat().st_size > 500, command
print(f"the tables agree, {len(commands)} commands run")
