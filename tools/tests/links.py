"""Who calls whom, read from the objects that were linked (nm), not from what the sources include.

    links.py check BUILD ROOT      no room calls a room above it or beside it; no more than five files of a room call each
                                   other in circles; and both are noticed when they are planted
    links.py table BUILD ROOT      files and calls of each room, and the circles in them
    links.py svg BUILD ROOT        the drawing of the rooms for docs/pictures/rooms.svg
    links.py drawn BUILD ROOT      that drawing is up to date
"""
import collections
import json
import pathlib
import subprocess
import sys

# From below upwards. A room may call those in the rows under its own; rooms of one row do not know each other.
ROWS = [
    ["engine/base"],
    ["solvers/la"],
    ["collision", "dynamics", "solvers"],
    ["engine/scene"],
    ["engine/compile"],
    ["engine/control"],
    ["engine/sim"],
    ["engine/observe"],
    ["engine/load"],
    ["viewer"],
    ["tools"],
]
LEVEL = {room: level for level, row in enumerate(ROWS) for room in row}
LARGEST_KNOT = 5
INTERPOSED = "tools/heap.c"  # defines malloc and free to count their calls: nobody calls it by name
PICTURE = "docs/pictures/rooms.svg"


def room_of(path):
    """The room that a source belongs to: the longest that its path begins with; None: in none of them."""
    rooms = [room for room in LEVEL if path.startswith(room + "/")]
    return max(rooms, key=len) if rooms else None


def read_calls(build, root):
    """{source: {source it calls: [symbols]}} of every object of the rooms."""
    commands = json.loads((build / "compile_commands.json").read_text())
    defined, wanted = {}, {}
    for command in commands:
        source = (pathlib.Path(command["directory"]) / command["file"]).resolve()
        if not source.is_relative_to(root) or "tests" in source.parts:
            continue
        path = str(source.relative_to(root))
        if room_of(path) is None or path == INTERPOSED:
            continue
        out = subprocess.run(["nm", pathlib.Path(command["directory"]) / command["output"]], capture_output=True, text=True,
                             check=True).stdout
        wanted.setdefault(path, [])  # a source may be compiled twice: with the viewer and without
        for line in out.splitlines():
            *_, kind, symbol = line.split()
            if kind in "TDBRi":
                defined[symbol] = path
            elif kind == "U":
                wanted[path].append(symbol)
    calls = {path: collections.defaultdict(list) for path in wanted}
    for path, symbols in wanted.items():
        for symbol in symbols:
            if defined.get(symbol, path) != path:
                calls[path][defined[symbol]].append(symbol)
    return calls


def knots(calls):
    """The groups of files that reach each other (strongly connected components of more than one), largest first."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in calls[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in calls:
        if node not in index:
            visit(node)
    return sorted((k for k in found if len(k) > 1), key=len, reverse=True)


def complaints(calls):
    found = []
    for path, others in calls.items():
        for other, symbols in others.items():
            own, its = room_of(path), room_of(other)
            if own != its and LEVEL[its] >= LEVEL[own]:
                found.append(f"{path} ({own}) calls {symbols[0]} of {other} ({its}), a room that it must not know")
    for knot in knots(calls):
        if len(knot) > LARGEST_KNOT:
            found.append(f"{len(knot)} files call each other in circles: {', '.join(knot)}")
    return found


def check(calls):
    found = complaints(calls)
    print(*found, sep="\n")
    assert not found, f"{len(found)} complaints"
    # planted: a call upwards, a call sideways, and a circle of six
    files = collections.defaultdict(list)
    for path in calls:
        files[room_of(path)].append(path)
    planted = [[(files["engine/base"][0], files["engine/sim"][0])], [(files["collision"][0], files["solvers"][0])]]
    for room in ["engine/load", "tools"]:
        six = files[room][:LARGEST_KNOT + 1]
        planted.append(list(zip(six, six[1:] + six[:1])))
    for edges in planted:
        wrong = {path: dict(others) for path, others in calls.items()}
        for a, b in edges:
            wrong[a][b] = ["planted"]
        assert complaints(wrong), f"not noticed: {edges}"
    print(f"{len(calls)} files in {len(files)} rooms: no call upwards, no circle of more than {LARGEST_KNOT}")


def table(calls):
    print(f"{'room':16} {'files':>5} {'in circles':>10}  calls")
    for row in reversed(ROWS):
        for room in row:
            own = [path for path in calls if room_of(path) == room]
            circles = [len(k) for k in knots({p: [o for o in calls[p] if room_of(o) == room] for p in own})]
            below = sorted({room_of(o) for p in own for o in calls[p]} - {room})
            print(f"{room:16} {len(own):5} {'+'.join(map(str, circles)) or '-':>10}  {', '.join(below)}")


ABOUT = {
    "tools": "the program",
    "viewer": "window, pictures, films",
    "engine/load": "YAML, MJCF, URDF, SDF to a scene",
    "engine/observe": "sensors, quantities, recorders, expectations",
    "engine/sim": "the step: model and data to the next state",
    "engine/control": "controllers of a scene",
    "engine/compile": "scene to model",
    "engine/scene": "what a user describes, and its checks",
    "solvers": "contact problem to impulses",
    "dynamics": "motion, mass matrices, constraint rows",
    "collision": "shapes to contacts",
    "solvers/la": "BLAS, LAPACK, sparse factors",
    "engine/base": "status, memory, settings, threads, small algebra",
}
COLOURS = {"engine": "#dfeaf6", "collision": "#e4f2e1", "dynamics": "#e4f2e1", "solvers": "#e4f2e1"}


def draw(calls):
    """Rooms down a diagonal. The line that leaves a room to the right meets the lines that come down to other rooms; a
    dot where they meet is a call. All calls therefore go down."""
    left, right, step, box, high, row = 250, 20, 72, 120, 30, 44
    order = [room for level in reversed(ROWS) for room in reversed(level)]
    edges = {(room_of(path), room_of(other)) for path, others in calls.items() for other in others}
    x = {room: left + i * step for i, room in enumerate(order)}
    y = {room: 16 + i * row for i, room in enumerate(order)}
    width, height = left + (len(order) - 1) * step + box + right, 16 + len(order) * row
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="14">',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
           '<path d="M0 0 8 4 0 8z" fill="#456"/></marker></defs>',
           f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for room in order:
        down = [other for other in order if (room, other) in edges and other != room]
        up = [other for other in order if (other, room) in edges and other != room]
        middle = y[room] + high / 2
        if down:
            out.append(f'<path d="M{x[room] + box:g} {middle:g} H{x[down[-1]] + box / 2:g}" stroke="#9ab" fill="none"/>')
        if up:
            out.append(f'<path d="M{x[room] + box / 2:g} {y[up[0]] + high / 2:g} V{y[room]:g}" stroke="#9ab" fill="none" '
                       'marker-end="url(#tip)"/>')
    for a, b in sorted(edges):
        if a != b:
            out.append(f'<circle cx="{x[b] + box / 2:g}" cy="{y[a] + high / 2:g}" r="4.5" fill="#245"/>')
    for room in order:
        colour = COLOURS.get(room.split("/")[0], "#f3eadb") if "/la" not in room else "#eee"
        out.append(f'<rect x="{x[room]:g}" y="{y[room]:g}" width="{box}" height="{high}" rx="5" fill="{colour}" '
                   'stroke="#345"/>')
        out.append(f'<text x="{x[room] + box / 2:g}" y="{y[room] + 20:g}" text-anchor="middle" fill="#123">{room}</text>')
        out.append(f'<text x="{x[room] - 10:g}" y="{y[room] + 20:g}" text-anchor="end" fill="#567" font-size="13">'
                   f'{ABOUT[room]}</text>')
    return "\n".join([*out, "</svg>", ""])


def svg(calls):
    print(draw(calls), end="")


def drawn(calls):
    """The drawing in the manual is that of the objects at hand. A build without the viewer has fewer of them."""
    if not any(room_of(path) == "viewer" for path in calls):
        sys.exit(77)
    assert draw(calls) == (ROOT / PICTURE).read_text(), f"{PICTURE} is old: tools/tests/links.py svg BUILD . > {PICTURE}"
    print(f"{PICTURE} shows the rooms as they are linked")


if __name__ == "__main__":
    what, BUILD, ROOT = sys.argv[1], *map(lambda p: pathlib.Path(p).resolve(), sys.argv[2:4])
    {"check": check, "table": table, "svg": svg, "drawn": drawn}[what](read_calls(BUILD, ROOT))
