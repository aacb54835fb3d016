"""The tests of docs/robot-tests.md run as they stand there: scenes by `tribo check`, programs compiled and run, none longer
than 60 lines.   robot_tests.py TRIBO ROOT BUILD"""
import pathlib
import re
import subprocess
import sys
import tempfile

tribo, root, build = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
page = (root / "docs/robot-tests.md").read_text()
blocks = re.findall(r"```(\w+)\n(.*?)```", page, re.S)
assert [kind for kind, _ in blocks] == ["yaml", "c", "csv", "yaml", "c", "yaml", "c"], "a block came or went"
with tempfile.TemporaryDirectory() as folder:
    home = pathlib.Path(folder)
    for kind, text in blocks:
        lines = text.count("\n")
        if kind == "csv":
            (home / "reach.csv").write_text(text)
        elif kind == "yaml":
            (home / "hand.yaml").write_text(text)  # the last one is the hand's
            subprocess.run([tribo, "check", "--quiet", "hand.yaml"], check=True, cwd=home)
        else:
            assert lines <= 60, f"a test of {lines} lines"
            (home / "test.c").write_text(text)
            library = (build / "engine").resolve()
            subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "test.c", f"-I{root.resolve()}/engine/include",
                            f"-L{library}", "-ltribo", "-lm", f"-Wl,-rpath,{library}", "-o", "test"], check=True, cwd=home)
            print(subprocess.run(["./test"], check=True, cwd=home, capture_output=True, text=True).stdout, end="")
