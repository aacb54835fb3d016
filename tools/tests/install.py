"""Installs into a scratch prefix, compiles an outside program by pkg-config and runs it; runs the installed program on an
installed scene; checks that the library exports nothing but its interface.   install.py BUILD"""
import os
import pathlib
import subprocess
import sys
import tempfile

build = sys.argv[1]
PROGRAM = r"""
#include <stdio.h>
#include <tribo/tribo.h>
int main(void) {
  TriboScene* scene;
  if (tribo_scene_create(&scene) != TRIBO_OK) return 1;
  printf("%s %g\n", tribo_version(), tribo_scene_world(scene)->dt);
  tribo_scene_destroy(scene);
  return 0;
}
"""


def run(*words, **more):
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True, **more).stdout


with tempfile.TemporaryDirectory() as folder:
    run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", folder)
    top = next(pathlib.Path(folder).rglob("include")).parent
    pc = next(pathlib.Path(folder).rglob("tribo.pc"))
    prefix = run("pkg-config", "--variable=prefix", pc).strip()
    env = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent), PKG_CONFIG_SYSROOT_DIR=folder)
    flags = run("pkg-config", "--cflags", "--libs", "tribo", env=env).split()
    libdir = pc.parent.parent
    source = pathlib.Path(folder, "outside.c")
    source.write_text(PROGRAM)
    run("cc", "-Wall", "-Werror", source, *flags, "-o", f"{folder}/outside")
    env["LD_LIBRARY_PATH"] = str(libdir)
    said = run(f"{folder}/outside", env=env)
    version = run("pkg-config", "--modversion", pc).strip()
    assert said.split() == [version, "0.001"], said
    scene = next(pathlib.Path(folder).rglob("scenes/lab/bounce_none.yaml"))
    run(top / "bin" / "tribo", "check", scene, env=env)
    headers = sorted(p.name for p in (top / "include/tribo").glob("*.h"))
    assert headers == ["base.h", "data.h", "inverse.h", "math.h", "model.h", "observe.h", "plan.h", "problem.h", "qpcc.h",
                       "scene.h", "solver.h", "tribo.h", "types.h"], headers
    library = next(libdir.glob("libtribo.so"))
    symbols = [l.split()[-1] for l in run("nm", "-D", "--defined-only", library).splitlines() if l.split()[-2] in "TDi"]
    strangers = [s for s in symbols if not s.startswith("tribo_")]
    assert len(symbols) > 40 and not strangers, strangers[:10]
    inner = [s for s in symbols if s.startswith(("tribo_dyn_", "tribo_col_", "tribo_pin_", "tribo_coal_", "tribo_la_", "tribo_sol_"))]
    assert not inner, inner[:10]
print(f"installed under {prefix}: {len(symbols)} functions, {len(headers)} headers; outside program runs")
