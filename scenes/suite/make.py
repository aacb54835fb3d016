"""Writes the scenes of the benchmark suite for mechanisms:   make.py FOLDER

The systems are those of Table II of Tsounis, Grandia, Baecher 2025 (constrained multibody systems with kinematic loops), or stand-ins
with as many bodies, joints and rows and with the mass ratio of a system that is not public. Each is written twice: NAME_max.yaml has free
bodies tied by closures (maximal coordinates), NAME_tree.yaml a spanning tree of joints whose loops closures shut. Both say the same.
"""
import math
import pathlib
import sys

G = 9.81
ROWS = {"hinge": 5, "ball": 3, "universal": 4, "weld": 6, "slider": 5, "cylindrical": 4, "planar": 3}
TREE = {"hinge": "revolute", "ball": "spherical", "universal": "universal", "weld": "fixed", "slider": "prismatic",
        "cylindrical": "cylindrical", "planar": "planar"}
NEEDS_AXIS = {"hinge", "universal", "slider", "cylindrical", "planar"}


def vector(numbers):
    return "[" + ", ".join(f"{x + 0.0:.12g}" for x in numbers) + "]"


class System:
    """Bodies, joints in an order in which each reaches a new body where it can, what drives them, and what must come of it."""

    def __init__(self, says, duration):
        self.says, self.duration = says, duration
        self.gravity, self.ground = (0, 0, -G), None
        self.bodies, self.joints, self.swinging, self.facts = {}, [], [], []

    def box(self, name, at, size, mass, collides=False):
        inertia = [mass * (size[1]**2 + size[2]**2) / 12, mass * (size[0]**2 + size[2]**2) / 12, mass * (size[0]**2 + size[1]**2) / 12]
        self.bodies[name] = (at, mass, inertia, f"box: {vector(size)}", collides)

    def sphere(self, name, at, radius, mass):
        self.bodies[name] = (at, mass, [0.4 * mass * radius**2] * 3, f"sphere: {radius}", True)

    def joint(self, name, kind, a, b, anchor, axis=(0, 1, 0), axis2=None, limit=None, motor=None):
        self.joints.append((name, kind, a, b, anchor, axis, axis2, limit, motor))

    def swing(self, name):
        """Drives a hinge by 0.3 sin πt, as stiffly as makes it follow within 50 ms with what hangs on it."""
        self.swinging.append(name)

    def expect(self, fact):
        self.facts.append(fact)

    def weight(self):
        return G * sum(body[1] for body in self.bodies.values())

    def mass_ratio(self):
        masses = [body[1] for body in self.bodies.values()]
        return max(masses) / min(masses)

    def count(self):
        rows = sum(ROWS[joint[1]] for joint in self.joints)
        return f"{len(self.bodies)} bodies, {len(self.joints)} joints, {rows} rows, masses 1 : {self.mass_ratio():.6g}"

    def stiffness(self, name):
        """ω² I of a swinging hinge, I what its side of the mechanism has about it where everything starts, ω = 40/s."""
        joint = next(j for j in self.joints if j[0] == name)
        outer, grown = {joint[3]}, True
        while grown:
            new = {b for _, _, a, b, *_ in self.joints if a in outer and b not in outer and b != joint[2]}
            grown = bool(new)
            outer |= new
        anchor, axis = joint[4], joint[5]
        length = math.sqrt(sum(x * x for x in axis))
        n = [x / length for x in axis]
        total = 0
        for body in outer:
            at, mass, inertia, *_ = self.bodies[body]
            arm = [p - q for p, q in zip(at, anchor)]
            along = sum(p * q for p, q in zip(arm, n))
            total += sum(i * x * x for i, x in zip(inertia, n)) + mass * (sum(x * x for x in arm) - along**2)
        return 1600 * total


def write(system, name, form, path):
    out = [f"# {system.says.format(form='free bodies tied by closures' if form == 'max' else 'a tree whose loops closures shut')}",
           f"# {system.count()}. Made by make.py."]
    gravity = "" if system.gravity == (0, 0, -G) else f", gravity: {vector(system.gravity)}"
    out.append(f"world: {{dt: 0.001, duration: {system.duration}{gravity}}}")
    out.append("materials: {default: {friction: 0.7}}")
    if system.ground is not None:
        out.append(f"static: [{{plane: [0, 0, 1], position: [0, 0, {system.ground:.12g}]}}]")
    out.append("bodies:")
    for body, (at, mass, inertia, shape, collides) in system.bodies.items():
        out.append(f"  - {{name: {body}, position: {vector(at)}, mass: {mass:.12g}, inertia: {vector(inertia + [0, 0, 0])}, {shape}"
                   + ("" if collides else ", group: 0, mask: 0") + "}")
    reached, joints, closures, motors = {"world"}, [], [], []
    floating = not any("world" in (a, b) for _, _, a, b, *_ in system.joints)
    reached |= {next(iter(system.bodies))} if floating else set()
    for joint, kind, a, b, anchor, axis, axis2, limit, motor in system.joints:
        words = f"anchor: {vector(anchor)}" + (f", axis: {vector(axis)}" if kind in NEEDS_AXIS else "")
        words += f", axis2: {vector(axis2)}" if axis2 else ""
        words += f", lower: {-limit} deg, upper: {limit} deg" if limit else ""
        if form == "tree" and b not in reached and a in reached:
            reached.add(b)
            joints.append(f"  - {{name: {joint}, kind: {TREE[kind]}, parent: {a}, child: {b}, {words}}}")
        else:
            on = "" if a == "world" else f"body_a: {a}, "
            closures.append(f"  - {{name: {joint}, kind: {kind}, {on}body_b: {b}, {words}}}")
        if motor:
            motors.append(f"  - {{joint: {joint}, stiffness: {motor[0]:g}, damping: {motor[1]:g}}}")
    for key, rows in (("joints", joints), ("closures", closures), ("motors", motors)):
        out += [f"{key}:"] + rows if rows else []
    if system.swinging:
        out.append("controllers:")
        for joint in system.swinging:
            stiffness = system.stiffness(joint)
            frames = ", ".join(f"{{at: {0.5 * k:g}, joints: {{{joint}: {0.3 * math.sin(0.5 * math.pi * k):.12g}}}}}"
                               for k in range(int(2 * system.duration) + 1))
            out.append(f"  - {{name: swing_{joint}, law: pd, joints: [{joint}], stiffness: {stiffness:.6g}, "
                       f"damping: {2 * stiffness / 40:.6g}, keyframes: [{frames}]}}")
    out.append("expect:")
    out += [f"  - {{{fact}}}" for fact in system.facts]
    if system.joints:
        out.append("  - {quantity: opening, when: max, max: 1.0e-9}")
    out.append("  - {quantity: certified, when: min, value: 1}")
    path.write_text("\n".join(out) + "\n")


# ---- the systems


def box_on_plane():
    s = System("A cube of 1 kg rests on a plane.", 2)
    s.ground = 0
    s.box("cube", (0, 0, 0.1), (0.2, 0.2, 0.2), 1, True)
    s.expect(f"quantity: contact_force, when: end, value: {s.weight():.9g}, abs: 1.0e-9")
    s.expect("quantity: speed_max, when: max, max: 1.0e-9")
    return s


def boxes_fixed():
    s = System("A cube of 1 kg carries one of 1 t that is welded to it: {form}.", 2)
    s.ground = 0
    s.box("low", (0, 0, 0.1), (0.2, 0.2, 0.2), 1, True)
    s.box("high", (0, 0, 0.3), (0.2, 0.2, 0.2), 1000, True)
    s.joint("weld", "weld", "low", "high", (0, 0, 0.2))
    s.expect(f"quantity: contact_force, when: end, value: {s.weight():.9g}, abs: 1.0e-6")
    s.expect("quantity: speed_max, when: max, max: 1.0e-9")
    return s


def nunchaku():
    s = System("Two sticks of 1 kg and a ball of 1 kg between them, on two ball joints, lie on the ground: {form}.", 2)
    s.ground = 0
    s.box("left", (0.25, 0, 0.05), (0.5, 0.1, 0.1), 1, True)
    s.sphere("middle", (0.55, 0, 0.05), 0.05, 1)
    s.box("right", (0.85, 0, 0.05), (0.5, 0.1, 0.1), 1, True)
    s.joint("a", "ball", "left", "middle", (0.5, 0, 0.05))
    s.joint("b", "ball", "middle", "right", (0.6, 0, 0.05))
    s.expect(f"quantity: contact_force, when: end, value: {s.weight():.9g}, abs: 1.0e-6")
    s.expect("quantity: position.x, of: right, when: end, value: 0.85, abs: 1.0e-9")
    return s


def fourbar(fixed):
    s = System(("A parallelogram of bars of 1 kg, its lowest bar welded to the world, falls to the side, gravity being tilted by 3°, until its "
                "hinges stop at 45°: {form}." if fixed else
                "A parallelogram of bars of 1 kg stands on the ground on its lowest bar, gravity being tilted by 0.1°, and falls over: {form}."), 2)
    tilt = math.radians(3 if fixed else 0.1)
    s.gravity = (G * math.sin(tilt), 0, -G * math.cos(tilt))
    s.ground = None if fixed else 0
    c = 0.056
    for name, at, size in (("link1", (0, 0, 0.005), (0.1, 0.01, 0.01)), ("link2", (c, 0, 0.061), (0.01, 0.01, 0.1)),
                           ("link3", (0, 0, 0.117), (0.1, 0.01, 0.01)), ("link4", (-c, 0, 0.061), (0.01, 0.01, 0.1))):
        s.box(name, at, size, 1, not fixed)
    if fixed:
        s.joint("ground", "weld", "world", "link1", (0, 0, 0.005))
    for name, a, b, at in (("j1", "link1", "link2", (c, 0, 0.005)), ("j2", "link2", "link3", (c, 0, 0.117)),
                           ("j3", "link3", "link4", (-c, 0, 0.117)), ("j4", "link4", "link1", (-c, 0, 0.005))):
        s.joint(name, "hinge", a, b, at, limit=45)
    if fixed:
        # link3 goes round with the uprights, whose pins are 0.112 m apart
        s.expect(f"quantity: position.x, of: link3, when: end, value: {0.112 * math.sin(math.pi / 4):.12g}, abs: 1.0e-6")
    else:
        s.expect(f"quantity: contact_force, when: end, value: {s.weight() * math.cos(tilt):.9g}, rel: 1.0e-3")
    s.expect("quantity: speed_max, when: end, max: 1.0e-6")
    return s


def legs():
    s = System("Two legs of two halves each that share a foot, every half a planar five-bar with an ankle of three hinges. Springs of "
               "50 N m/rad hold them up for a while; then they tip over and lie still: {form}.", 3)
    s.ground = -0.2525
    motor = (50, 1)
    s.box("pelvis", (0, 0, 0.014), (0.085, 0.24, 0.055), 0.6, True)
    for sign, side in ((1, "l"), (-1, "r")):
        s.box(f"foot_{side}", (0.01, sign * 0.065, -0.245), (0.1, 0.05, 0.015), 0.12, True)
    # pins in the plane of a half (x, z): roll, pitch, knee, yaw, ankle, horn, horn and rod, rod and shank
    roll, pitch, knee, yaw, ankle = (0, -0.014), (0.022, -0.014), (0.040, -0.122), (0.0245, -0.204), (0.0195, -0.231)
    horn, tip, end = (0.0465, 0.0145), (0.0884, 0.0325), (0.082, -0.094)
    for sign, side in ((1, "l"), (-1, "r")):
        for y, half in ((0.035 * sign, "i"), (0.095 * sign, "o")):
            def at(p, q=None):
                q = q or p
                return (0.5 * (p[0] + q[0]), y, 0.5 * (p[1] + q[1]))
            of = {part: f"{part}_{side}_{half}" for part in ("hip", "thigh", "shank", "yoke", "cross", "horn", "rod")}
            s.box(of["hip"], at(roll, horn), (0.05, 0.03, 0.05), 0.18)
            s.box(of["thigh"], at(pitch, knee), (0.02, 0.02, 0.11), 0.07)
            s.box(of["shank"], at(knee, yaw), (0.03, 0.02, 0.1), 0.085)
            s.box(of["yoke"], at(yaw, ankle), (0.015, 0.02, 0.03), 0.025)
            s.box(of["cross"], (0.0185, y, -0.231), (0.01, 0.012, 0.01), 0.006)
            s.box(of["horn"], at(horn, tip), (0.045, 0.01, 0.015), 0.013)
            s.box(of["rod"], at(tip, end), (0.012, 0.012, 0.13), 0.016)
            t = f"{side}_{half}"
            s.joint(f"roll_{t}", "hinge", "pelvis", of["hip"], at(roll), (1, 0, 0), motor=motor)
            s.joint(f"pitch_{t}", "hinge", of["hip"], of["thigh"], at(pitch), motor=motor)
            s.joint(f"knee_{t}", "hinge", of["thigh"], of["shank"], at(knee))
            s.joint(f"yaw_{t}", "hinge", of["shank"], of["yoke"], at(yaw), (0, 0, 1))
            s.joint(f"ankle_roll_{t}", "hinge", of["yoke"], of["cross"], at(ankle), (1, 0, 0))
            s.joint(f"horn_{t}", "hinge", of["hip"], of["horn"], at(horn), motor=motor)
            s.joint(f"tip_{t}", "hinge", of["horn"], of["rod"], at(tip))
            s.joint(f"end_{t}", "hinge", of["rod"], of["shank"], at(end))
            s.joint(f"ankle_pitch_{t}", "hinge", of["cross"], f"foot_{side}", at(ankle))
    s.expect(f"quantity: contact_force, when: end, value: {s.weight():.9g}, abs: 1.0e-3")
    return s


def figure(says, planar, rods, serial, welded, heavy, light):
    """A welded base, planar four-bars, stages of push rods and chains of hinged links on a spine of outputs; masses fall geometrically."""
    s = System(says + " Its hinged cranks and links swing by 0.3 sin πt: {form}.", 5)
    count, made = 3 * (planar + rods) + serial, 0

    def mass():
        nonlocal made
        made += 1
        return heavy * (light / heavy) ** (made / count)
    s.box("base", (0, 0, 0), (0.3, 0.3, 0.1), heavy)
    s.joint("fix", "weld", "world", "base", (0, 0, 0))
    last, x, z = "base", 0.0, 0.05
    for i in range(planar + rods):
        crank, rod, out, y = f"crank{i}", f"rod{i}", f"out{i}", 0.02 * (1 if i % 2 else -1) if i >= planar else 0
        s.box(crank, (x - 0.05, 0, z + 0.02), (0.01, 0.01, 0.04), mass())
        s.box(rod, (x, 0.5 * y, z + 0.055), (0.1, 0.01, 0.01), mass())
        s.box(out, (x + 0.05, y, z + 0.035), (0.01, 0.01, 0.07), mass())
        s.joint(f"a{i}", "hinge", last, crank, (x - 0.05, 0, z))
        if i < planar:  # all axes parallel: three rows say nothing new
            s.joint(f"b{i}", "hinge", crank, rod, (x - 0.05, 0, z + 0.04))
            s.joint(f"d{i}", "hinge", last, out, (x + 0.05, 0, z))
            s.joint(f"c{i}", "hinge", rod, out, (x + 0.05, 0, z + 0.07))
        else:  # a crank about y turns an output about x by a rod with a universal joint and a ball
            s.joint(f"b{i}", "universal", crank, rod, (x - 0.05, 0, z + 0.04), (0, 1, 0), (0, 0, 1))
            s.joint(f"d{i}", "hinge", last, out, (x + 0.05, y, z), (1, 0, 0))
            s.joint(f"c{i}", "ball", rod, out, (x + 0.05, y, z + 0.07))
        s.swing(f"a{i}")
        last, x, z = out, x + 0.05, z + 0.07
    for i in range(serial):
        parent, y, down = last if i % 4 == 0 else f"link{i - 1}", 0.05 * (i // 4 + 1), z - 0.05 * (i % 4)
        s.box(f"link{i}", (x, y, down - 0.025), (0.02, 0.02, 0.05), mass())
        kind = "weld" if i >= serial - welded else "hinge"
        s.joint(f"s{i}", kind, parent, f"link{i}", (x, y, down), (0, 1, 0) if i % 2 else (1, 0, 0))
        if kind == "hinge":
            s.swing(f"s{i}")
    return s


def chains(says, count, links, heavy, light, fixed):
    """A base and chains of hinged links of 0.12 m, about x, then y; springs of 200 N m/rad."""
    s = System(says, 3)
    height = 0.05 if fixed else 0.12 * links + 0.05
    s.ground = None if fixed else 0
    s.box("base", (0, 0, height), (0.4, 0.3, 0.1), heavy, not fixed)
    if fixed:
        s.joint("fix", "weld", "world", "base", (0, 0, height))
    for c in range(count):
        x, y = ((0.15 if c % 2 else -0.15), (0.12 if c // 2 else -0.12)) if count > 1 else (0, 0)
        last, up = "base", 1 if fixed else -1
        for i in range(links):
            end = height + up * (0.05 + 0.12 * i)
            name = f"c{c}l{i}"
            s.box(name, (x, y, end + 0.06 * up), (0.04, 0.04, 0.12), heavy * (light / heavy) ** ((i + 1) / links),
                  i == links - 1 and not fixed)
            s.joint(f"j{c}_{i}", "hinge", last, name, (x, y, end), (0, 1, 0) if i else (1, 0, 0), motor=None if fixed else (200, 5))
            if fixed:
                s.swing(f"j{c}_{i}")
            last = name
    if not fixed:
        s.expect(f"quantity: contact_force, when: end, value: {s.weight():.9g}, rel: 1.0e-3")
    return s


SUITE = {
    "box_on_plane": box_on_plane(),
    "boxes_fixed": boxes_fixed(),
    "nunchaku": nunchaku(),
    "fourbar_fixed": fourbar(True),
    "fourbar_free": fourbar(False),
    "arm7": chains("An arm of seven hinges that swing by 0.3 sin πt (as many rows as Arm7D): {form}.", 1, 7, 9.77, 0.5, True),
    "quadruped13": chains("Four legs of three hinges under a base (as many rows as Quadruped): {form}.", 4, 3, 14.535, 0.5, False),
    "biped15": chains("Two legs of seven hinges under a base (as many rows as BDX): {form}.", 2, 7, 12.747, 0.3, False),
    "quadruped21": chains("Four legs of five hinges under a base (as many rows as LIMA): {form}.", 4, 5, 32.139, 0.1, False),
    "legs": legs(),
    "figure22": figure("A figure of 22 bodies (as many rows as Misha).", 2, 0, 15, 0, 9.067, 0.1),
    "figure38": figure("A figure of 38 bodies (as many rows as Gazelle).", 3, 4, 16, 0, 10.1254, 0.01),
    "figure54": figure("A figure of 54 bodies (as many rows as IronMan).", 2, 11, 14, 1, 25.54444, 0.001),
}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    for name, system in SUITE.items():
        for form in ("max", "tree") if system.joints else ("max",):
            write(system, name, form, folder / f"{name}_{form}.yaml")
        print(f"{name:14} {system.count()}")
