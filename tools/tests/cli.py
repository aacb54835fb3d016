"""The program as a user types it: exit codes, messages, JSON keys, interruption, strictness.   cli.py TRIBO SCENES"""
import csv
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom

tribo, scenes = sys.argv[1], pathlib.Path(sys.argv[2])
tower, bounce = str(scenes / "cubes/tower.yaml"), str(scenes / "lab/bounce_none.yaml")


def call(*words, code=0):
    out = subprocess.run([tribo, *map(str, words)], capture_output=True, text=True)
    assert out.returncode == code, f"{words}: exit {out.returncode}, expected {code}\n{out.stdout}{out.stderr}"
    return out.stdout, out.stderr


def complains(words, *texts, code=2):
    out, err = call(*words, code=code)
    assert out == "" or words[0] == "check", f"{words}: printed {out}"
    for text in texts:
        assert text in err, f"{words}: '{text}' is not in '{err}'"


# help and versions
for command in ("run", "check", "lab", "info", "solve", "dump", "bench", "sweep", "plot", "id", "control", "plan", "render", "view", "solvers", "help", "version"):
    out, _ = call(command, "--help")
    assert out.startswith(f"usage: tribo {command}"), out
assert "Pinocchio 4." in call("version")[0] and "Coal 3." in call("version")[0]
assert "admm" in call("solvers")[0]
call(code=2)
complains(["rum"], "there is no command 'rum'")
complains(["run"], "0 arguments given")

# controllers of tasks, and their problems as files
sanding = str(scenes / "control/panda_sanding.yaml")
complains(["control", tower], "no controller with the law task")
complains(["control", sanding, "--compare", "glue"], "--compare glue")
with tempfile.TemporaryDirectory() as folder:
    modes = pathlib.Path(folder, "modes.csv")
    both = json.loads(call("control", sanding, "--compare", "stick", "--modes", modes, "--json", "-")[0])
    chosen, stuck = both
    assert [run["contacts"] for run in both] == ["as the scene says", "stick"], both
    assert [m["modes"] for m in chosen["modes"]] == ["none", "break", "stick", "slide", "stick"], chosen["modes"]
    pose, held = ({t["name"]: t for t in run["tasks"]}["sand/pose"] for run in both)
    assert pose["rms"] < 3e-4 and pose["max"] < 3e-4 and held["max"] > 0.14, (pose, held)
    assert chosen["unsolved_steps"] == 0 and chosen["nat"] <= 1e-10 and chosen["certified_steps"] == chosen["steps"]
    assert [row.split(",")[2] for row in modes.read_text().split()] == ["modes", *(m["modes"] for m in chosen["modes"])]
    no_file = pathlib.Path(folder, "none.qpcc")
    complains(["solve", no_file], "none.qpcc: cannot be opened")
    no_file.write_text("no HDF5")
    complains(["solve", no_file, "--quiet"], "is no HDF5 file")
    complains(["solve", no_file, tower], "not solved in one run")
    complains(["solve", no_file, "--set", "colour=1"], "colour: no setting")
    complains(["solve", no_file, "--plot", "x.svg"], "--plot is not for .qpcc files")

# wrong input
complains(["run", "nowhere.yaml"], "nowhere.yaml: cannot be read")
complains(["run", tower, "--dt", "fast"], "--dt fast")
complains(["run", tower, "--dt", "-1"], "--dt -1")
complains(["run", tower, "--fly"], "unknown flag '--fly'")
complains(["run", tower, "--dt"], "--dt needs a value")
complains(["run", tower, "--solver", "magic"], "there is no solver 'magic'")
complains(["run", tower, "--solver", "x" * 100], "there is no solver")
complains(["run", tower, "--set", "erp=2"], "erp = 2", "[0, 1]")
complains(["run", tower, "--set", "erpp=0.1"], "did you mean 'erp'?")
complains(["run", tower, "--set", "solver.magic=1"], "magic")
complains(["run", tower, "--set", "erp"], "KEY=NUMBER")
complains(["run", tower, "--steps", "3", "--record", "/nowhere/x.csv"], "/nowhere/x.csv")
complains(["run", tower, "--steps", "3", "--quiet", "--json", "/nowhere/x.json"], "/nowhere/x.json")
complains(["run", tower, "--load", "/nowhere/state"], "/nowhere/state")

# plans: problems by name, and of scenes; the cart-pole's optimum is that of the rows written by hand, and Ipopt's
complains(["plan", "nothing"], "there is no problem 'nothing'", "cartpole")
complains(["plan", "hopper", "--tasks"], "hopper has no list of tasks")
complains(["plan", "cartpole", "--rules", "mine"], "'house' and 'paper'")
complains(["plan", "cartpole", "--set", "grow=0"], "grow = 0", "[1, 1e+06]")
pole = str(scenes / "plan/cartpole.yaml")
for words, text in ((["--motors", "x"], "needs --goal STATE"), (["--goal", "down"], "there is no state 'down'"),
                    (["--goal", "up", "--motors", "y"], "there is no joint 'y' to drive"),
                    (["--goal", "up", "--contacts", "cart"], "body 'cart' has no shape that may touch a half-space"),
                    (["--goal", "up", "--contacts", "hat"], "there is no body 'hat'"),
                    (["--goal", "up", "--weights", "1,2"], "--weights 1,2: three numbers")):
    complains(["plan", pole, *words], text)
complains(["plan", tower, "--goal", "up"], "without free bodies")
assert "max_iter" in call("plan", "pusht", "--set", "max_iterations=2", code=1)[0]
found = json.loads(call("plan", pole, "--goal", "up", "--motors", "x", "--stages", 100, "--step", 0.02, "--weights",
                        "100,100,1e-3", "--check", pole, "--json", "-")[0])
assert abs(found["cost"] - 2.7201677) < 1e-5 and found["violation"] < 1e-8, found
assert found["open loop"]["certified_steps"] == found["open loop"]["steps"] > 900, found
assert found["open loop"]["position_off"] < 0.15, found

# overlaps that a scene starts with are named, once, the deepest first
out, err = call("run", scenes / "overlaps/stack.yaml", "--steps", 5)
assert [line.split("warning: ")[1] for line in err.splitlines()] == [
    "b.shape2 and c.shape3 start 50 mm deep in each other", "a.shape1 and b.shape2 start 40 mm deep in each other",
    "world.shape0 and a.shape1 start 10 mm deep in each other"], err
assert call("run", tower, "--steps", 5)[1] == ""

with tempfile.TemporaryDirectory() as folder:
    here = pathlib.Path(folder)

    # plots, pages, HDF5 and the table of residuals
    call("run", bounce, "--steps", 600, "--quiet", "--record", here / "b.csv")
    call("plot", here / "b.csv", "--columns", "q.ball.z", "--out", here / "b.svg")
    xml.dom.minidom.parse(str(here / "b.svg"))
    assert "polyline" in (here / "b.svg").read_text()
    call("plot", here / "b.csv")
    complains(["plot", here / "b.csv", "--columns", "height"], "no column is called 'height'")
    complains(["plot", "/nowhere/b.csv"], "/nowhere/b.csv: cannot be read")
    (here / "bad.csv").write_text("t,x\n0,1\n1,one\n")
    complains(["plot", here / "bad.csv"], "bad.csv:3: column 2 ('x') is no number")
    call("lab", bounce, "--quiet", "--html", here / "lab.html")
    page = (here / "lab.html").read_text()
    assert page.count("<svg") == 1 and "ball: position.z" in page and "src=" not in page, page
    complains(["lab", bounce, "--quiet", "--html", "/nowhere/lab.html"], "/nowhere/lab.html")
    call("run", bounce, "--steps", 600, "--quiet", "--record", here / "b.h5")
    assert (here / "b.h5").read_bytes()[:8] == b"\x89HDF\r\n\x1a\n"
    complains(["run", bounce, "--steps", "3", "--record", "/nowhere/x.h5"], "/nowhere/x.h5: cannot be written")
    out, _ = call("check", "--residuals", bounce, scenes / "lab/cradle.yaml")
    table = [line.split() for line in out.splitlines() if "%" in line]
    assert [row[0] for row in table[-1:]] == ["all"] and len(table) == 3 and table[-1][3] == "100.000", out

    # results for machines
    out, _ = call("run", bounce, "--steps", 600, "--json", "-", "--record", here / "run.csv")
    result = json.loads(out)
    for key in ("scene steps time wall_s rtf us_per_step stages bodies dofs contacts iterations rungs residual "
                "certified_steps uncertified motion substepped_steps relaxed_steps relaxed_most redetected_steps worst heap_calls state_hash status").split():
        assert key in result, key
    assert result["steps"] == 600 and abs(result["time"] - 0.6) < 1e-12 and result["status"] == "done"
    assert set(result["residual"]) == {"prim", "dual", "comp", "nat", "pen"}
    rows = list(csv.reader(open(here / "run.csv")))
    assert rows[0][:3] == ["t", "q.ball.x", "q.ball.y"] and len(rows) == 602 and len(rows[0]) == 1 + 7 + 6
    assert abs(float(rows[401][3]) - 0.3152) < 1e-12
    info = json.loads(call("info", tower, "--json", "-")[0])
    assert info["nv"] == 30 and len(info["bodies"]) == 5 and abs(info["mass"] - 11111) < 1e-9
    assert "cube4" in call("info", tower)[0]

    # a fact that does not hold
    wrong = here / "wrong.yaml"
    wrong.write_text(f"include: {bounce}\nworld: {{duration: 0.5}}\nexpect: [{{quantity: position.z, of: ball, value: 7}}]\n")
    out, _ = call("check", wrong, "--json", here / "verdicts.json", code=1)
    assert "FAILED" in out
    verdicts = json.loads((here / "verdicts.json").read_text())
    assert any(not v["held"] for v in verdicts) and set(verdicts[0]) == {
        "scene", "quantity", "expected", "measured", "tolerance", "held"}
    # quiet, but for what has failed
    out, err = call("check", bounce, wrong, "--quiet", code=1)
    assert out == "" and err.count("expected") == 1 and wrong.name in err and "measured" in err, err
    empty = here / "empty.yaml"
    empty.write_text("bodies: [{name: a, sphere: 1}]\n")
    complains(["check", str(empty)], "expects nothing")

    # strict: a budget no solver can meet leaves steps uncertified
    call("run", tower, "--steps", 5, "--step-budget", 1e-9, "--quiet")
    call("run", tower, "--steps", 5, "--step-budget", 1e-9, "--quiet", "--strict", code=1)
    call("run", tower, "--steps", 50, "--quiet", "--strict")

    # every solver of the registry can be chosen for a run
    for line in call("solvers")[0].split("\n"):
        if line.startswith("## "):
            call("run", bounce, "--steps", 500, "--quiet", "--solver", line[3:])

    # solvers on the problems of simulated steps
    out, _ = call("bench", "steps", tower, "--duration", 0.05, "--every", 20, "--repeats", 2, "--json", "-",
                  "--solvers", "auto,subadmm:max_iterations=50:check_every=0,subadmm:split=0")
    steps = json.loads(out)
    assert steps["problems"] > 0 and steps["contacts"] == 20 and len(steps["solvers"]) == 3, steps
    assert steps["solvers"][0]["ratio"] == 1 and steps["solvers"][0]["digits_natmap_unit"] > 8, steps
    assert steps["solvers"][1]["iterations"] == 50, steps
    call("bench", "steps", tower, "--solvers", "subadmm:split=x", code=2)
    call("bench", "steps", tower, "--solvers", "subadmm:slit=1", code=2)
    call("bench", "steps", tower, "--window", "2:1", code=2)

    # solvers on the suite of mechanisms
    out, _ = call("bench", "suite", scenes / "suite/fourbar_free_tree.yaml", "--samples", 2, "--solvers", "auto,admm-ncp-fp", "--json", "-",
                  "--csv", here / "suite.csv")
    suite = json.loads(out)
    assert suite["systems"] == 1 and suite["problems"] == 2 and sum(suite["categories"].values()) == 2, suite
    first = suite["results"][0]
    assert first["solver"] == "auto" and first["solved"]["1e-8"] == 2 and first["best_on"]["dual residual"] == 1, first
    assert len((here / "suite.csv").read_text().splitlines()) == 1 + 2 * 2 * 2
    call("bench", "suite", here / "nowhere.yaml", code=2)
    call("bench", "suite", tower, "--samples", 0, code=2)
    call("bench", "suite", tower, "--solvers", "magic", code=2)
    call("bench", "scenes", code=2)

    # a simulated step becomes a file, and the file is solved without the world
    hard, answers = here / "step.hdf5", here / "answers"
    call("dump", tower, "--step", 20, "--out", hard, "--quiet")
    out, _ = call("solve", hard, "--strict", "--json", "-", "--history", here / "history.csv", "--out", here / "one.hdf5")
    result = json.loads(out)
    for key in ("file contacts rows solver status iterations factorisations rungs time_s natmap_unit natmap_raw paper003 objective prim "
                "dual comp").split():
        assert key in result[0], key
    assert result[0]["contacts"] == 20 and result[0]["rows"] == 60 and result[0]["natmap_unit"] <= 1e-8
    assert 0 < result[0]["paper003"] < 1e-3, result[0]["paper003"]
    assert 0 <= result[0]["natmap_raw"] < 1e-6 and result[0]["objective"] < 0, result[0]
    assert sum(r["iterations"] for r in result[0]["rungs"].values()) == result[0]["iterations"]
    history = list(csv.DictReader(open(here / "history.csv")))
    assert history[0]["rung"] == "zero" and float(history[-1]["natmap_unit"]) <= 1e-8
    call("solve", hard, here / "one.hdf5", "--out", answers, "--quiet")
    assert {p.name for p in answers.iterdir()} == {"step.hdf5", "one.hdf5"}
    call("solve", hard, "--solver", "admm", "--set", "max_iterations=1", "--strict", "--quiet", code=1)
    call("solve", hard, "--solver", "admm", "--set", "max_iterations=1", "--quiet")
    text = here / "one.dat"
    text.write_text("3 1  0 3 3  3 3  2 0 0  0 1 0  0 0 1  -1 0.1 0  0.3")
    assert "solved" in call("solve", text)[0]
    broken = here / "broken.hdf5"
    broken.write_bytes(hard.read_bytes()[:2000])
    complains(["solve", broken, "--quiet"], "broken.hdf5: is damaged")
    text.write_text("3 1  0 3 3  3 3  2 0 0  0 nan 0  0 0 1  -1 0.1 0  0.3")
    complains(["solve", text, "--quiet"], "not finite")
    text.write_text("3 1  0 3 3  3 3  2 0 0  0 1 0  0 0 1  -1 0.1 0  -0.3")
    complains(["solve", text, "--quiet"], "mu[0] = -0.3")
    complains(["solve", here / "wrong.yaml", "--quiet"], "is not an HDF5 file")
    complains(["solve", hard, "--solver", "magic"], "there is no solver 'magic'")
    complains(["solve", hard, "--tol", "-1"], "--tol -1")
    complains(["solve", hard, "--set", "fly=1"], "fly")
    complains(["solve", hard, "--quiet", "--out", "/nowhere/x.hdf5"], "/nowhere/x.hdf5")
    # the same step from a saved state: the same problem
    call("run", tower, "--steps", 19, "--save", here / "before.state", "--quiet")
    call("dump", tower, "--load", here / "before.state", "--step", 1, "--out", here / "again.hdf5", "--quiet")
    again = json.loads(call("solve", here / "again.hdf5", "--json", "-", "--quiet")[0])[0]
    assert all(again[key] == result[0][key] for key in ("rows", "iterations", "natmap_unit", "rungs")), again
    complains(["dump", tower, "--step", "2"], "--out")
    complains(["dump", bounce, "--step", "2", "--out", here / "none.hdf5", "--quiet"], "no contact")
    complains(["dump", tower, "--step", "2", "--out", "/nowhere/x.hdf5", "--quiet"], "/nowhere/x.hdf5")

    # solvers against each other on a folder of problems
    call("solve", hard, "--plot", here / "history.svg", "--quiet")
    assert "<polyline" in (here / "history.svg").read_text()
    cases = here / "cases"
    cases.mkdir()
    (cases / "step.hdf5").write_bytes(hard.read_bytes())
    (cases / "one.dat").write_text("3 1  0 3 3  3 3  2 0 0  0 1 0  0 0 1  -1 0.1 0  0.3")
    out, _ = call("bench", "solvers", cases, "--solvers", "auto,raisim-ds", "--csv", here / "b.csv", "--svg",
                  here / "b.svg", "--json", here / "b.json")
    assert "2 of 2" in out, out
    rows = list(csv.DictReader(open(here / "b.csv")))
    assert len(rows) == 2 * 3 * 2 and {r["solver"] for r in rows} == {"auto", "raisim-ds"}
    assert all(float(r["natmap_unit"]) <= float(r["tolerance"]) for r in rows if r["solved"] == "1")
    assert (here / "b.svg").read_text().count("<polyline") == 6
    assert set(json.loads((here / "b.json").read_text())[0]) >= {"work", "engine", "settings", "us", "ratio", "accuracy"}
    complains(["bench", "solvers", here / "nowhere"], "nowhere")
    complains(["bench", "solvers", cases, "--solvers", "magic"], "there is no solver 'magic'")
    complains(["bench", "cooking", cases], "bench cooking")
    # the steps of scenes: stages add up to nearly all of it, peers only where their program is
    few = ["--duration", "0.02", "--repeats", "2"]
    out, _ = call("bench", "scenes", scenes / "cubes/tower.yaml", scenes / "robots/humanoid.xml", "--csv", here / "s.csv",
                  "--svg", here / "s.svg", "--json", here / "s.json", *few)
    assert "humanoid.xml" in out and "100.000 %" in out, out
    for row in csv.DictReader(open(here / "s.csv")):
        stages = sum(float(value) for key, value in row.items() if key.endswith("_us"))
        assert row["engine"] == "tribo" and row["steps"] == "20" and 0.8 * float(row["us"]) < stages < 1.001 * float(row["us"]), row
    assert (here / "s.svg").read_text().count("<polyline") == 9
    assert set(json.loads((here / "s.json").read_text())[0]) >= {"work", "engine", "settings", "us", "ratio", "accuracy"}
    complains(["bench", "scenes", here / "nowhere"], "nowhere")
    complains(["bench", "scenes", scenes / "cubes/tower.yaml", "--repeats", "0"], "--repeats 0")
    complains(["bench", "scenes", scenes / "cubes/tower.yaml", "--window", "2"], "--window 2: from:to")
    complains(["bench", "scenes", scenes / "cubes/tower.yaml", "--window", "2:3", *few], "no step ends within --window")
    # the ruler knows the closed forms: a = g (sin 30° − μ cos 30°) on the slope, e² of the height after a bounce
    out, _ = call("bench", "scenes", scenes / "bench/slide80.yaml", scenes / "bench/bounce.yaml", scenes / "bench/spin.yaml",
                  "--duration", "1.2", "--repeats", "1", "--quiet", "--json", "-")
    slide, bounced, spin = [r["accuracy"] for r in json.loads(out)]
    assert abs(slide["accel_err_pct"]) < 1e-6 and slide["lift_mm"] < 1e-9 and slide["pen_max_mm"] < 1e-9, slide
    assert abs(bounced["apex_m"] - 0.64) < 1e-4 and spin["energy_err"] < 1e-12 and spin["momentum_err"] < 1e-12
    if (pathlib.Path(tribo).parent / "tribo-mujoco").exists():
        out, _ = call("bench", "scenes", scenes / "robots/humanoid.xml", "--peers", *few)
        assert "mujoco:default" in out and "mujoco:stiff" in out, out
        # of a robot MuJoCo gets a file with the same bodies in the same state: it lands on the same number of feet
        out, _ = call("bench", "scenes", scenes / "robots/talos_ground.yaml", "--peers", "--quiet", "--json", "-", *few)
        own, other = json.loads(out)[:2]
        assert other["engine"] == "mujoco" and other["contacts"] > 0.5 and other["accuracy"]["penetration"] < 1e-3, other
        # both engines set out from the same state: MuJoCo then sinks in, and by its own account as deep as the ruler says
        out, _ = call("bench", "scenes", scenes / "cubes/tower.yaml", "--peers", "--settle", 0.05, "--steps", 200, "--repeats", 1,
                      "--window", "0.06:0.2", "--quiet", "--json", "-")
        own, other = json.loads(out)
        assert (own["engine"], other["engine"], other["settings"]) == ("tribo", "mujoco", "default")
        assert own["accuracy"]["pen_max_mm"] < 1e-6 and other["accuracy"]["pen_max_mm"] > 50, other
        assert 0.9 < 1e-3 * other["accuracy"]["pen_max_mm"] / other["accuracy"]["penetration"] <= 1, other   # every 10 ms
        out, _ = call("bench", "scenes", scenes / "bench/fourbar.yaml", "--peers", "--repeats", 1, "--quiet", "--json", "-", "--duration", 1)
        bars, loop = json.loads(out)[:2]
        assert bars["accuracy"]["gap_max_um"] < 1e-3 and 10 < loop["accuracy"]["gap_max_um"] < 1e3, loop

    # a sweep: the same row has the same bits alone, with others beside it, and in `run`
    pile = scenes / "piles/boxes_50.yaml"
    vary = ["--vary", "material.default.friction=0..0.8:3", "--vary", "dt=1e-3..2e-3:2", "--seeds", 2, "--duration", 0.05]
    call("sweep", pile, *vary, "--out", here / "all", "--threads", 3)
    call("sweep", pile, *vary, "--out", here / "one", "--only", 6)
    table = [line.split(",") for line in (here / "all/results.csv").read_text().splitlines()]
    alone = [line.split(",") for line in (here / "one/results.csv").read_text().splitlines()]
    assert len(table) == 13 and len(alone) == 2 and table[7] == alone[1], alone
    row = dict(zip(table[0], table[7]))
    assert (row["material.default.friction"], row["dt"], row["seed"], row["steps"]) == ("0.40000000000000002", "0.002", "0", "25"), row
    assert len({line[-1] for line in table[1:]}) >= 4, "seeds and steps make a difference"
    out, _ = call("run", pile, "--duration", 0.05, "--dt", 2e-3, "--set", "material.default.friction=0.4", "--quiet", "--json", "-")
    assert json.loads(out)["state_hash"] == row["state_hash"]
    complains(["sweep", pile, "--vary", "dt=1..2:x", "--out", here / "bad"], "--vary dt=1..2:x", "KEY=A..B:N")
    complains(["sweep", pile, "--vary", "dt=1"], "needs --out")
    complains(["sweep", pile, "--vary", "material.wood.friction=1", "--out", here / "bad"], "material.wood.friction")
    # the lab: a folder or scenes, one table, facts that fail, what is no lab
    facts = json.loads(call("lab", scenes / "lab/pendulum.yaml", bounce, "--json", "-")[0])
    assert {f["scene"] for f in facts} == {"pendulum", "bounce_none"} and all(f["held"] for f in facts), facts
    assert set(facts[0]) == {"scene", "quantity", "expected", "measured", "error", "tolerance", "held"}, facts[0]
    assert "facts of 1 scenes held" in call("lab", bounce)[0]
    (here / "own").mkdir()
    (here / "own/wrong.yaml").write_text(pathlib.Path(bounce).read_text().replace("value: 9.81", "value: 9.82"))
    assert "FAILED" in call("lab", here / "own", code=1)[0]
    complains(["lab", here / "nowhere"], "nowhere")
    (here / "bare").mkdir()
    assert "holds no scene" in call("lab", here / "bare", code=2)[1]
    # MuJoCo beside it: with Runge and Kutta's rule a swing, a tumbling body and a tree keep their energy and momentum, so
    # they are the same bodies with the same velocities; what it cannot be given, and what is no state, has no number
    swing, tumble, tree, belt, slide = [
        scenes / f"lab/{name}.yaml" for name in ("pendulum", "free_top", "dzhanibekov", "conveyor", "slide_stop")]
    if (pathlib.Path(tribo).parent / "tribo-mujoco").exists():
        facts = json.loads(call("lab", "--peers", swing, tumble, tree, belt, slide, "--json", "-")[0])
        keys = ("mujoco", "mujoco_error", "mujoco_rk4", "mujoco_rk4_error")
        of = {(f["scene"], f["quantity"]): [f[key] for key in keys] for f in facts}
        kept = of["pendulum", "energy (change), always"]
        assert 1e-3 < kept[1] == abs(kept[0]) and kept[3] < 1e-10, kept
        kept = of["free_top", "angular_momentum.y, always"]
        assert 1e-3 < kept[1] and kept[3] < 1e-9 and abs(kept[2] - 0.85 / 6) < 1e-9, kept
        kept = of["dzhanibekov", "angular_momentum.x, always"]
        assert 1e-3 < kept[1] and kept[3] < 1e-9 and abs(kept[2] + 0.064996) < 1e-9, kept
        late = of["slide_stop", "block: position.x, at the end"]
        assert 1e-5 < late[3] < late[1] < 0.01 and all(f["held"] for f in facts), late
        for (scene, quantity), numbers in of.items():
            nothing = scene == "conveyor" or any(word in quantity for word in ("contact_force", "certified", "reading"))
            assert (numbers == [None] * 4) if nothing else None not in numbers, (scene, quantity, numbers)
        out, _ = call("lab", "--peers", slide)
        assert "mujoco       rk4" in out and "be given 1 of 1 scenes" in out and out.count(" - ") == 4, out
        assert "mujoco" not in call("lab", slide)[0]
    else:
        print("without MuJoCo: lab --peers only has to say so")
        complains(["lab", "--peers", slide], "tribo-mujoco is not there; run tools/setup --test")

    # Ctrl-C ends cleanly, with the recorder flushed
    record = here / "long.csv"
    process = subprocess.Popen([tribo, "run", tower, "--duration", "1000", "--record", str(record)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not record.exists() or record.stat().st_size < 100000:
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130 and "interrupted" in out, (process.returncode, out, err)
    rows = list(csv.reader(open(record)))
    assert all(len(r) == len(rows[0]) for r in rows), "a cut row"
    assert "\r" not in err, "a progress bar in a pipe"

# on a terminal there is a progress bar
try:
    master, slave = pty.openpty()
except OSError:
    print("no terminals here: the progress bar was not looked at")
    sys.exit(0)
process = subprocess.Popen([tribo, "run", tower, "--duration", "20"], stdout=subprocess.DEVNULL, stderr=slave)
os.close(slave)
time.sleep(0.6)
seen = os.read(master, 4096).decode(errors="replace")
process.send_signal(signal.SIGINT)
process.wait(timeout=20)
assert "real time" in seen and "worst" in seen, seen
print("the command line behaves")

# inverse dynamics of a recorded motion: torques, slips, and every sort of wrong file
push = str(scenes / "motions/push.yaml")
with tempfile.TemporaryDirectory() as folder:
    motion, out, result = (str(pathlib.Path(folder, name)) for name in ("motion.csv", "out.csv", "out.json"))
    call("run", push, "--record", motion, "--quiet")
    said, _ = call("id", push, "--motion", motion, "--passive", "rise", "--out", out, "--json", result)
    assert "infeasible     0" in said and "peak torques" in said, said
    told = json.loads(pathlib.Path(result).read_text())
    assert told["steps"] == 500 and told["infeasible_steps"] == 0 and told["slip_steps"] == 500, told
    assert abs(told["tau_max"]["push"] - 12) < 1e-9 and told["residual"]["nat"] < 1e-10 and told["status"] == "done", told
    # what is written is a motion itself; the contact forces carry the weight and the friction of every step
    forces = str(pathlib.Path(folder, "forces.csv"))
    call("id", push, "--motion", out, "--passive", "rise", "--contacts", forces, "--quiet")
    first = [row for row in csv.DictReader(open(forces)) if float(row["t"]) == 0]
    assert {row["shape_a"] for row in first} == {"ground"} and all(row["mode"] == "2" for row in first), first
    sums = [sum(float(row[key]) for row in first) for key in ("fx", "fy", "fz")]
    assert max(abs(a - b) for a, b in zip(sums, (-7.848, 0, 19.62))) < 1e-8, sums
    complains(["id", push, "--motion", motion, "--contacts", "/nowhere/f.csv"], "/nowhere/f.csv: cannot be written")
    rows = list(csv.DictReader(open(out)))
    assert len(rows) == 500 and all(row["feasible"] == "1" for row in rows)
    # the motor itself leaves nothing to do
    call("id", push, "--motion", motion, "--passive", "rise", "--drives", "--json", result, "--quiet")
    assert json.loads(pathlib.Path(result).read_text())["tau_max"].get("push", 0) < 1e-6
    # without a drive the motion is not feasible
    call("id", push, "--motion", motion, "--passive", "rise,push", "--strict", "--quiet", code=1)

    lines = pathlib.Path(motion).read_text().splitlines()
    bad = str(pathlib.Path(folder, "bad.csv"))

    def wrong(number, change, *texts):
        broken = list(lines)
        broken[number - 1] = change(broken[number - 1].split(","))
        pathlib.Path(bad).write_text("\n".join(broken) + "\n")
        complains(["id", push, "--motion", bad, "--out", out, "--quiet"], *texts)

    wrong(300, lambda row: ",".join(row[:2]), "bad.csv:300:2: the row has fewer than the header's 5 columns")
    rows = pathlib.Path(out).read_text().splitlines()
    assert len(rows) == 299 and rows[-1].startswith("# incomplete: ") and rows[-1].endswith("stopped at t = 0.297 after 297 steps"), rows[-1]
    call("plot", out, "--out", str(pathlib.Path(folder, "out.svg")))
    wrong(7, lambda row: ",".join(row + ["0"]), "bad.csv:7:5: the row has more than the header's 5 columns")
    wrong(1, lambda row: ",".join(["t", "q.pull"] + row[2:]), "bad.csv:1:2: column 'q.pull' is of no joint or body")
    wrong(1, lambda row: ",".join(["t", "x"] + row[2:]), "bad.csv:1: column 'q.push' is missing")
    wrong(1, lambda row: ",".join(row[:2] + [row[1]] + row[3:]), "bad.csv:1:3: column 'q.push' stands there twice")
    wrong(9, lambda row: ",".join(["0.001"] + row[1:]), "bad.csv:9:1: t = 0.001 comes after t = 0.006, must grow")
    wrong(9, lambda row: ",".join(["0.0065"] + row[1:]), "bad.csv:9:1: t grows by 0.0005 s, before by 0.001 s")
    wrong(9, lambda row: ",".join(row[:3] + ["nan"] + row[4:]), "bad.csv:9:4: v.push is nan, must be finite")
    wrong(9, lambda row: ",".join(row[:3] + ["fast"] + row[4:]), "bad.csv:9:4: 'fast' is no number")
    wrong(9, lambda row: ",".join(row[:2] + ["-0.02"] + row[3:]), "bad.csv:9: ground and block", "overlap by 0.02 m")
    complains(["id", push], "id needs --motion FILE")
    complains(["id", push, "--motion", "nowhere.csv"], "nowhere.csv: cannot be read")
    complains(["id", push, "--motion", motion, "--passive", "pull"], "there is no joint 'pull'")
