"""Every scene file is in the lists of meson.build, so that none is shipped untested.   listed.py SCENES"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = (root / "meson.build").read_text()
listed = {f"{family}/{name}" for family, names in re.findall(r"'(\w+)': \[([^\]]*)\]", text)
          for name in re.findall(r"'(\w+)'", names)}
found = {f"{p.parent.name}/{p.stem}" for p in root.glob("*/*.yaml")}
assert found and listed == found, f"not listed: {sorted(found - listed)}; listed but missing: {sorted(listed - found)}"
print(f"{len(found)} scenes")
