"""The reference pages are what the program prints, the README's program compiles and says what it should, its commands
and links exist.   docs.py TRIBO ROOT BUILD"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

tribo, root, build = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
PAGES = {"scene": "scene-format.md", "commands": "commands.md", "quantities": "quantities.md", "solvers": "solvers.md",
         "plan-settings": "plan-settings.md", "qpcc-settings": "qpcc-settings.md"}
for topic, page in PAGES.items():
    printed = subprocess.run([tribo, "help", topic], check=True, capture_output=True, text=True).stdout
    assert printed == (root / "docs" / page).read_text(), f"docs/{page} is stale: tribo help {topic} > docs/{page}"

readme = (root / "README.md").read_text()
program = re.search(r"```c\n(.*?)```", readme, re.S).group(1)
assert len(program.strip().split("\n")) <= 40, "the first program has more than 40 lines"
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, "first.c")
    source.write_text(program)
    library = build / "engine"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", source, f"-I{root}/engine/include", f"-L{library}", "-ltribo",
                    f"-Wl,-rpath,{library}", "-o", f"{folder}/first"], check=True)
    said = subprocess.run([f"{folder}/first"], check=True, capture_output=True, text=True).stdout
    distance, residual = re.match(r"stopped after ([\d.]+) m, residual (\S+) m/s", said).groups()
    assert abs(float(distance) - 0.51) < 0.0015 and float(residual) < 1e-10, said

# every command the README lists exists, every scene too, every link leads somewhere
commands = set(re.findall(r"^  (\w+) ", subprocess.run([tribo, "help"], check=True, capture_output=True,
                                                       text=True).stdout, re.M))
listed = set(re.findall(r"`tribo (\w+)", readme))
assert commands <= listed | {"help"}, f"not in the README: {commands - listed}"
for line in re.findall(r"^\| `(\S+/[^`]*)`(?:, `(\S+?)`)? \|", readme, re.M):
    for name in filter(None, line):
        assert list((root / "scenes").glob(name + ".yaml")), f"the README lists scene {name}"
for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / link).exists(), f"{page.name}: {link} leads nowhere"
# the commands of the page on robot files run as they stand there
for line in re.findall(r"^    tribo (.+)$", (root / "docs/robot-files.md").read_text(), re.M):
    with tempfile.TemporaryDirectory() as folder:
        words = [str(root / w) if w.startswith("engine/") else w for w in line.split("#")[0].split()]
        subprocess.run([tribo, *words], check=True, capture_output=True, cwd=folder)
# so do those of the page on the certificate, and a scene holds what its facts say
with tempfile.TemporaryDirectory() as folder:
    page = (root / "docs/certificate.md").read_text()
    for line in re.findall(r"^    tribo (.+)$", page, re.M):
        words = [str((root / w).resolve()) if w.startswith("scenes/") else w for w in line.split()]
        said = subprocess.run([tribo, *words], check=True, capture_output=True, text=True, cwd=folder).stdout
        assert "motion         balance " in said, said
    motion = json.loads(pathlib.Path(folder, "motion.json").read_text())
    assert motion["certified_steps"] == motion["steps"] and not any(motion["uncertified"].values()), motion["uncertified"]
    assert motion["motion"]["momentum_error"] < 1e-11, motion["motion"]
    facts = re.search(r"```yaml\n(.*?)```", page, re.S).group(1)
    pathlib.Path(folder, "facts.yaml").write_text(f"include: {(root / 'scenes/lab/double_pendulum.yaml').resolve()}\n{facts}")
    subprocess.run([tribo, "check", "--quiet", "facts.yaml"], check=True, cwd=folder)
# those of the page on inverse dynamics run one after the other, and what they say is what the page says
with tempfile.TemporaryDirectory() as folder:
    page = (root / "docs/inverse-dynamics.md").read_text()
    for line in re.findall(r"^    tribo (.+)$", page, re.M):
        words = [str(root / w) if w.startswith("scenes/") else w for w in line.split()]
        out = subprocess.run([tribo, *words], capture_output=True, text=True, cwd=folder)
        assert out.returncode == 0 or "OpenGL" in out.stderr or "no viewer" in out.stderr, (line, out.stderr)
    rows = [row.split(",") for row in pathlib.Path(folder, "torques.csv").read_text().splitlines()]
    push = [float(row[rows[0].index("tau.push")]) for row in rows[1:]]
    assert abs(push[0] - 12) < 1e-9 and abs(push[-1] - 7.848) < 1e-9, (push[0], push[-1])
    assert pathlib.Path(folder, "push.svg").read_text() == (root / "docs/pictures/push.svg").read_text(), "push.svg is old"
# those of the page on planning
with tempfile.TemporaryDirectory() as folder:
    for line in re.findall(r"^    tribo (.+)$", (root / "docs/planning.md").read_text(), re.M):
        words = [str((root / w).resolve()) if w.startswith("scenes/") else w for w in line.split()]
        subprocess.run([tribo, *words], check=True, capture_output=True, cwd=folder)
    assert pathlib.Path(folder, "history.svg").read_text() == (root / "docs/pictures/plan.svg").read_text(), "plan.svg is old"
# those of the page on the motion
for name in "motion", "distance-fields", "task-control":
    for line in re.findall(r"^    tribo (.+)$", (root / f"docs/{name}.md").read_text(), re.M):
        words = [str(root / w) if w.startswith("scenes/") else w for w in line.split()]
        subprocess.run([tribo, *words], check=True, capture_output=True)
# and the scene of the page on distance fields is one
with tempfile.TemporaryDirectory() as folder:
    page = (root / "docs/distance-fields.md").read_text()
    pathlib.Path(folder, "nut.yaml").write_text(re.search(r"```yaml\n(.*?)```", page, re.S).group(1))
    subprocess.run([tribo, "info", "nut.yaml"], check=True, capture_output=True, cwd=folder)
for script in re.findall(r"^    (tools/\w+)", readme, re.M):
    assert (root / script).exists(), script
print("pages, program, commands, scenes and links agree")
