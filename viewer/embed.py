"""Turns a text file into a C array of characters.   embed.py FILE NAME OUT"""
import pathlib
import sys

text, name, out = pathlib.Path(sys.argv[1]).read_bytes(), sys.argv[2], pathlib.Path(sys.argv[3])
rows = [", ".join(str(b if b < 128 else b - 256) for b in text[i:i + 24]) for i in range(0, len(text), 24)]
out.write_text(f"extern const char {name}[];\nconst char {name}[] = {{\n  " + ",\n  ".join(rows) + ", 0};\n")
