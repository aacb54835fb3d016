"""`tribo view` as a user types it: on a screen, without one, and when the screen goes away.   view.py TRIBO SCENES"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

tribo, scenes = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
tower = str(scenes / "cubes/tower.yaml")


def call(*words, display, code, folder):
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    out = subprocess.run([tribo, "view", *words], capture_output=True, text=True, cwd=folder, timeout=100,
                         env=dict(env, DISPLAY=display) if display else env)
    assert out.returncode == code, f"{words}: exit {out.returncode}, expected {code}\n{out.stdout}{out.stderr}"
    return out.stderr


def start_screen():
    """An X server on a free display, and its name."""
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "400x300x24", "-nolisten", "tcp"],
                              pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as answer:
        return server, ":" + answer.readline().strip()


with tempfile.TemporaryDirectory() as folder:
    # without a screen: one sentence, and what to do instead
    err = call(tower, display=None, code=2, folder=folder)
    assert err.count("\n") == 1 and "`tribo render` needs no screen" in err, err
    # what is wrong with the scene or the command line does not need a screen to be told, and is told once
    err = call("nowhere.yaml", display=None, code=2, folder=folder)
    assert err.count("\n") == 1 and "nowhere.yaml" in err, err
    for words, text in [(["--set", "dt"], "dt"), (["--size", "big"], "--size big"), (["--overlay", "ghosts"], "ghosts"),
                        (["--solver", "magic"], "magic"), (["--frames", "0"], "--frames 0"),
                        (["--load", "no.state"], "no.state")]:
        err = call(tower, *words, display=None, code=2, folder=folder)
        assert err.count("\n") == 1 and text in err, (words, err)
    if shutil.which("Xvfb") is None:
        print("no Xvfb here: windows were not looked at")
        sys.exit(0)
    server, display = start_screen()
    try:
        call(tower, "--frames", "5", "--size", "320x240", "--overlay", "contacts,forces", display=display, code=0,
             folder=folder)
        call(tower, "--frames", "5", "--camera", "moon", display=display, code=2, folder=folder)
        # nothing at all is a scene too
        pathlib.Path(folder, "empty.yaml").write_text("world: {dt: 0.001}\n")
        call("empty.yaml", "--frames", "5", "--panels", "--overlay", "contacts,forces,joints,trails,islands", display=display,
             code=0, folder=folder)
        pathlib.Path(folder, "empty.yaml").unlink()
        # a recorded motion
        push, motion = str(scenes / "motions/push.yaml"), str(pathlib.Path(folder, "motion.csv"))
        subprocess.run([tribo, "run", push, "--record", motion, "--quiet"], check=True)
        call(push, "--motion", motion, "--passive", "rise", "--frames", "5", "--size", "320x240", "--overlay", "forces",
             display=display, code=0, folder=folder)
        err = call(tower, "--motion", motion, display=display, code=2, folder=folder)
        assert "motion.csv:1:2: column 'q.push' is of no joint" in err, err
        pathlib.Path(motion).unlink()
        # the screen goes away while the window is open
        program = subprocess.Popen([tribo, "view", tower, "--size", "320x240"], stderr=subprocess.PIPE, text=True,
                                   env=dict(os.environ, DISPLAY=display), cwd=folder)
        time.sleep(2)
        assert program.poll() is None, program.stderr.read()
    finally:
        server.kill()
        server.wait()
    _, err = program.communicate(timeout=60)
    assert program.returncode == 2 and "the display is gone" in err, (program.returncode, err)
    assert not list(pathlib.Path(folder).iterdir()), "files were left behind"
print("windows open, close and say what is wrong")
