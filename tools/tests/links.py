"""Who calls whom, read from the objects that were linked (nm), not from what the sources include.

    links.py check BUILD ROOT      no room calls a room above it or beside it; no more than five files of a room call each
                                   other in circles; and both are noticed when they are planted
    links.py table BUILD ROOT      files and calls of each room, and the circles in them
    links.py svg BUILD ROOT        the drawing of the rooms for docs/pictures/rooms.svg
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
]
LEVEL = {room: level for level, row in enumerate(ROWS) for room in row}
LARGEST_KNOT = 5


def room_of(path):
    """The room that a source belongs to: the longest that its path begins with; None: outside the library's rooms."""
    rooms = [room for room in LEVEL if path.startswith(room + "/")]
    return max(rooms, key=len) if rooms else None


def read_calls(build, root):
    """{source: {source it calls: [symbols]}} of every object of the library's rooms."""
    commands = json.loads((build / "compile_commands.json").read_text())
    defined, wanted = {}, {}
    for command in commands:
        source = (pathlib.Path(command["directory"]) / command["file"]).resolve()
        if not source.is_relative_to(root) or "tests" in source.parts or room_of(str(source.relative_to(root))) is None:
            continue
        path = str(source.relative_to(root))
        out = subprocess.run(["nm", pathlib.Path(command["directory"]) / command["output"]], capture_output=True, text=True,
                             check=True).stdout
        wanted[path] = []
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
    six = files["engine/load"][:LARGEST_KNOT + 1]
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


def svg(calls):
    """Rooms as boxes, row above row; an arrow for every pair of rooms of which one calls the other."""
    width, box, high, gap = 900, 190, 46, 42
    place = {}
    shown = list(reversed(ROWS))
    for y, row in enumerate(shown):
        for x, room in enumerate(row):
            left = width / 2 + (x - (len(row) - 1) / 2) * (box + 60) - box / 2
            place[room] = (left, 20 + y * (high + gap))
    edges = collections.Counter()
    files = collections.Counter(map(room_of, calls))
    for path, others in calls.items():
        for other, symbols in others.items():
            if room_of(path) != room_of(other):
                edges[room_of(path), room_of(other)] += len(symbols)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {20 + len(shown) * (high + gap)}" '
           'font-family="sans-serif" font-size="15">',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 8 4 0 8z" fill="#567"/></marker></defs>']
    for (a, b), _ in sorted(edges.items()):
        if b == "engine/base":
            continue  # everybody calls base
        (xa, ya), (xb, yb) = place[a], place[b]
        near = LEVEL[a] - LEVEL[b] == 1
        x1, x2 = xa + box / 2, xb + box / 2
        if near or xa != xb:
            out.append(f'<path d="M{x1:g} {ya + high:g} L{x2:g} {yb:g}" stroke="#567" fill="none" marker-end="url(#tip)"/>')
        else:  # past the rooms in between, on the right
            far = x1 + box / 2 + 18 * (LEVEL[a] - LEVEL[b])
            out.append(f'<path d="M{xa + box:g} {ya + high / 2:g} C{far:g} {ya + high:g} {far:g} {yb:g} {xb + box:g} '
                       f'{yb + high / 2:g}" stroke="#9ab" fill="none" marker-end="url(#tip)"/>')
    for room, (x, y) in place.items():
        out.append(f'<rect x="{x:g}" y="{y:g}" width="{box}" height="{high}" rx="6" fill="#eef3f8" stroke="#345"/>')
        out.append(f'<text x="{x + box / 2:g}" y="{y + 20:g}" text-anchor="middle" fill="#123">{room}</text>')
        out.append(f'<text x="{x + box / 2:g}" y="{y + 38:g}" text-anchor="middle" fill="#678" font-size="11">'
                   f'{files[room]} files</text>')
    print(*out, "</svg>", sep="\n")


if __name__ == "__main__":
    what, build, root = sys.argv[1], *map(lambda p: pathlib.Path(p).resolve(), sys.argv[2:4])
    {"check": check, "table": table, "svg": svg}[what](read_calls(build, root))
