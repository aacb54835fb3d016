"""MJCF files through Tribo and through MuJoCo, compared at random states: masses, inertias, poses, limits, mass matrix,
bias, passive and actuator forces, tendon lengths; and contact-free motion at two step sizes.

    conform.py JUDGES PROBE [--only] [FILE …]      all of gymnasium and of dm_control's suite, and these (or only these)

Prints a table and fails when a file differs that should not. JUDGES is .deps/test-venv (tools/setup --test).
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# MuJoCo needs the interpreter of its own environment
judge = os.path.join(sys.argv[1], "bin", "python")
if os.path.realpath(sys.prefix) != os.path.realpath(sys.argv[1]):
    if not os.path.exists(judge):
        print("skipped: mujoco is not installed (tools/setup --test)")
        sys.exit(77)
    os.execv(judge, [judge] + sys.argv)

import mujoco  # noqa: E402
import numpy as np  # noqa: E402

FREE, BALL, SLIDE, HINGE = (int(getattr(mujoco.mjtJoint, f'mjJNT_{k}')) for k in ('FREE', 'BALL', 'SLIDE', 'HINGE'))
TOLERANCE = 1e-9
STATES = 5
probe = os.path.abspath(sys.argv[2])


def rotation(quat):  # w x y z
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, np.asarray(quat, float))
    return R.reshape(3, 3)


def cross(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def name_of(model, kind, i, what):
    return mujoco.mj_id2name(model, kind, i) or f"{what}{i}"


class Map:
    """Between MuJoCo's coordinates and Tribo's, at a state of MuJoCo."""

    def __init__(self, mj, tribo):
        self.mj, self.tribo = mj, tribo
        self.joints = {j["name"]: j for j in tribo["joints"]}
        self.bodies = {b["name"]: b for b in tribo["bodies"]}

    def state(self, d):
        """q, v and T with v_mujoco = T v, and its rate times v."""
        m = self.mj
        q, v = np.zeros(self.tribo["nq"]), np.zeros(self.tribo["nv"])
        T, rate = np.zeros((m.nv, self.tribo["nv"])), np.zeros(m.nv)
        for j in range(m.njnt):
            name, kind = name_of(m, mujoco.mjtObj.mjOBJ_JOINT, j, "joint"), m.jnt_type[j]
            at, dof = m.jnt_qposadr[j], m.jnt_dofadr[j]
            if kind in (HINGE, SLIDE):
                own = self.joints[name]
                q[own["q"]], v[own["v"]] = d.qpos[at], d.qvel[dof]
                T[dof, own["v"]] = 1
            elif kind == BALL:
                own = self.joints[name]
                w, x, y, z = d.qpos[at:at + 4] / np.linalg.norm(d.qpos[at:at + 4])
                q[own["q"]:own["q"] + 4] = x, y, z, w
                v[own["v"]:own["v"] + 3] = d.qvel[dof:dof + 3]
                T[dof:dof + 3, own["v"]:own["v"] + 3] = np.eye(3)
            else:
                body = name_of(m, mujoco.mjtObj.mjOBJ_BODY, m.jnt_bodyid[j], "body")
                own = self.bodies[body]
                quat = d.qpos[at + 3:at + 7] / np.linalg.norm(d.qpos[at + 3:at + 7])
                R, omega = rotation(quat), d.qvel[dof + 3:dof + 6]
                i, k = own["q"], own["v"]
                q[i + 3:i + 7] = quat[1], quat[2], quat[3], quat[0]
                T[dof + 3:dof + 6, k + 3:k + 6] = np.eye(3)
                v[k + 3:k + 6] = omega
                if i < 7 * self.tribo["nfree"]:  # centre of mass, world axes
                    com = np.array(own["com"])
                    q[i:i + 3] = d.qpos[at:at + 3] + R @ com
                    v[k:k + 3] = d.qvel[dof:dof + 3] + R @ np.cross(omega, com)
                    T[dof:dof + 3, k:k + 3] = np.eye(3)
                    T[dof:dof + 3, k + 3:k + 6] = R @ cross(com)
                    rate[dof:dof + 3] = -R @ np.cross(omega, np.cross(omega, com))
                else:  # frame origin, body axes
                    q[i:i + 3] = d.qpos[at:at + 3]
                    v[k:k + 3] = R.T @ d.qvel[dof:dof + 3]
                    T[dof:dof + 3, k:k + 3] = R
                    rate[dof:dof + 3] = R @ np.cross(omega, v[k:k + 3])
        return q, v, T, rate


def ask(path, states, *more):
    lines = "\n".join(" ".join(f"{x:.17g}" for x in s) for s in states)
    run = subprocess.run([probe, str(path), *map(str, more)], input=lines, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip().splitlines()[-1] if run.stderr else f"exit {run.returncode}")
    out = [json.loads(line) for line in run.stdout.splitlines()]
    return out[0], out[1:], run.stderr


def gap(a, b, least=1e-6):
    """Largest difference relative to the largest entry, or to the least that counts."""
    a, b = np.asarray(a, float).ravel(), np.asarray(b, float).ravel()
    if a.shape != b.shape:
        return np.inf
    return float(np.max(np.abs(a - b), initial=0) / max(np.max(np.abs(b), initial=0), least))


def random_state(m, d, rng, speed):
    mujoco.mj_resetData(m, d)
    for j in range(m.njnt):
        at, kind = m.jnt_qposadr[j], m.jnt_type[j]
        if kind in (HINGE, SLIDE):
            d.qpos[at] += rng.normal(0, 0.5)
        else:
            size = 4 if kind == BALL else 7
            quat = rng.normal(0, 1, 4)
            d.qpos[at + size - 4:at + size] = quat / np.linalg.norm(quat)
            d.qpos[at:at + size - 4] += rng.normal(0, 1, size - 4)
    d.qvel[:] = rng.normal(0, speed, m.nv)
    d.ctrl[:] = rng.normal(0, 0.7, m.nu)
    d.act[:] = rng.normal(0, 0.5, m.na)


def activations(m, d, tribo):
    """Controls and activations in Tribo's order of actuators, which is the file's without those left out."""
    names = {name_of(m, mujoco.mjtObj.mjOBJ_ACTUATOR, i, "actuator"): i for i in range(m.nu)}
    order = [names[a] for a in tribo["actuators"]]
    act = [d.act[m.actuator_actadr[i]] if m.actuator_actadr[i] >= 0 else 0.0 for i in order]
    return [d.ctrl[i] for i in order], act, order


def static_errors(m, tribo):
    worst = {"mass": 0.0, "inertia": 0.0, "limits": 0.0}
    bodies = {b["name"]: b for b in tribo["bodies"]}
    for b in range(1, m.nbody):
        own = bodies.get(name_of(m, mujoco.mjtObj.mjOBJ_BODY, b, "body"))
        if own is None:
            if m.body_weldid[b] != 0 and m.body_mocapid[m.body_rootid[b]] < 0:
                worst["mass"] = np.inf
            continue
        R = rotation(m.body_iquat[b])
        full = R @ np.diag(m.body_inertia[b]) @ R.T
        i = own["inertia"]
        mine = np.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]])
        centre = np.array(own["com"]) - m.body_ipos[b] if m.body_mass[b] > 0 else 0
        worst["mass"] = max(worst["mass"], gap([own["mass"]], [m.body_mass[b]]), float(np.max(np.abs(centre))))
        scale = max(np.max(np.abs(full)), 1e-12)
        worst["inertia"] = max(worst["inertia"], float(np.max(np.abs(mine - full)) / scale))
    joints = {j["name"]: j for j in tribo["joints"]}
    disabled = m.opt.disableflags & (int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT))
    for j in range(m.njnt):
        own = joints.get(name_of(m, mujoco.mjtObj.mjOBJ_JOINT, j, "joint"))
        if own is not None and m.jnt_type[j] >= SLIDE and not disabled:
            mine = (own["lower"], own["upper"])
            theirs = tuple(m.jnt_range[j]) if m.jnt_limited[j] else (-1e300, 1e300)
            worst["limits"] = max(worst["limits"], gap(mine, theirs))
    return worst


def keyframe_errors(m, d, tribo, coordinates):
    """States of the scene against MuJoCo's keyframes: the same numbers in its own coordinates."""
    worst = 0.0
    if len(tribo["states"]) > m.nkey:  # a file may ask for more, empty ones
        return np.inf
    for k, own in enumerate(tribo["states"]):
        mujoco.mj_resetDataKeyframe(m, d, k)
        q, v, _, _ = coordinates.state(d)
        ctrl, act, _ = activations(m, d, tribo)
        worst = max(worst, gap(own["q"], q), gap(own["v"], v), gap(own["ctrl"], ctrl), gap(own["act"], act))
    return worst


# sensors that read a mean over the last step, which a state alone does not tell
STEPPED = {int(getattr(mujoco.mjtSensor, f"mjSENS_{k}")) for k in ("ACCELEROMETER", "FORCE", "TORQUE", "TOUCH", "CLOCK")}
QUATERNIONS = {int(getattr(mujoco.mjtSensor, f"mjSENS_{k}")) for k in ("BALLQUAT", "FRAMEQUAT")}


def sensor_errors(m, sensordata, tribo, readings):
    """Readings against MuJoCo's, of all sensors with a name that are functions of the state."""
    worst = 0.0
    for name, reading in zip(tribo["sensors"], readings):
        i = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_SENSOR, name)
        if i < 0 or int(m.sensor_type[i]) in STEPPED:
            continue
        theirs = sensordata[m.sensor_adr[i]:m.sensor_adr[i] + m.sensor_dim[i]].copy()
        if int(m.sensor_type[i]) in QUATERNIONS:
            theirs = np.roll(theirs, -1) * (1 if np.dot(np.roll(theirs, -1), reading) > 0 else -1)
        worst = max(worst, float(np.max(np.abs(theirs - reading)) / max(np.max(np.abs(theirs)), 1.0)))
    return worst


def full_mass(m, d):
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    return M


def pose_errors(m, d, tribo, answer):
    position, quaternion = np.array(answer["position"]).reshape(-1, 3), np.array(answer["quaternion"]).reshape(-1, 4)
    worst, frames = 0.0, []
    for i, b in enumerate(tribo["bodies"]):
        x, y, z, w = quaternion[i]
        frames.append((position[i], rotation([w, x, y, z])))
        at = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, b["name"])
        if at < 0 and re.fullmatch(r"body\d+", b["name"]):
            at = int(b["name"][4:])
        if at >= 0:
            worst = max(worst, np.max(np.abs(position[i] - d.xpos[at])),
                        np.max(np.abs(frames[i][1] - d.xmat[at].reshape(3, 3))))
    names = {name_of(m, mujoco.mjtObj.mjOBJ_GEOM, g, "geom"): g for g in range(m.ngeom)}
    if set(names) != {s["name"] for s in tribo["shapes"]}:
        return np.inf
    for s in tribo["shapes"]:
        g = names[s["name"]]
        if m.geom_type[g] == int(mujoco.mjtGeom.mjGEOM_MESH):
            continue  # MuJoCo moves the frame of a mesh
        p, R = frames[s["body"]] if s["body"] >= 0 else (np.zeros(3), np.eye(3))
        x, y, z, w = s["quaternion"]
        # from the geom's own frame: MuJoCo takes frames that agree to 1e-6 for one when it places geoms
        body = m.geom_bodyid[g]
        Q = d.xmat[body].reshape(3, 3)
        worst = max(worst, np.max(np.abs(p + R @ s["position"] - (d.xpos[body] + Q @ m.geom_pos[g]))),
                    np.max(np.abs(R @ rotation([w, x, y, z]) - Q @ rotation(m.geom_quat[g]))))
    return float(worst)


def compare(path):
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    tribo, _, warnings = ask(path, [])
    worst = static_errors(m, tribo)
    rng, coordinates = np.random.default_rng(7), Map(m, tribo)
    worst["keys"] = keyframe_errors(m, d, tribo, coordinates)
    states, expected = [], []
    for _ in range(STATES):
        random_state(m, d, rng, 2)
        mujoco.mj_forward(m, d)
        q, v, T, rate = coordinates.state(d)
        ctrl, act, order = activations(m, d, tribo)
        states.append(np.concatenate([q, v, ctrl, act]))
        M = full_mass(m, d)
        tendons = {name_of(m, mujoco.mjtObj.mjOBJ_TENDON, i, "tendon"): d.ten_length[i] for i in range(m.ntendon)}
        expected.append({
            "mass": T.T @ M @ T, "bias": T.T @ (d.qfrc_bias + M @ rate), "passive": T.T @ d.qfrc_passive,
            "actuation": T.T @ d.qfrc_actuator, "force": d.actuator_force[order],
            "tendon": [tendons[n] for n in tribo["tendons"]], "xpos": d.xpos.copy(), "xmat": d.xmat.copy(),
            "sensordata": d.sensordata.copy()})
    _, answers, _ = ask(path, states)
    labels = {"mass": "M"}
    for e, a in zip(expected, answers):
        for key in ("mass", "bias", "passive", "actuation", "force", "tendon"):
            label = labels.get(key, key)
            # forces that cancel leave the rounding of the weights they are made of
            least = 1e-6 * max(1, 10 * np.max(np.abs(e["mass"]), initial=0)) if key in ("bias", "passive") else 1e-6
            worst[label] = max(worst.get(label, 0.0), gap(a[key], e[key], least))
        worst["sensors"] = max(worst.get("sensors", 0.0), sensor_errors(m, e["sensordata"], tribo, a["sensors"]))
        saved = type("Saved", (), e)
        worst["poses"] = max(worst.get("poses", 0.0), pose_errors(m, saved, tribo, a))
    return worst, warnings


def without_constraints(path, folder):
    """The model with everything switched off that only constraints do; beside links to its neighbours."""
    for entry in path.parent.iterdir():
        if entry != path:
            os.symlink(entry.resolve(), folder / entry.name)
    text = re.sub(r"(<mujoco\b[^>]*>)", r'\1<option><flag constraint="disable"/></option>', path.read_text(), count=1)
    changed = folder / path.name
    changed.write_text(text)
    return changed


def differences(free, m, d, tribo, coordinates, h, steps=20):
    """Velocities of Tribo's Euler minus those of MuJoCo's, after the same time with h and with h/2."""
    found = []
    for level in range(2):
        m.opt.timestep = h / 2**level
        random_state(m, d, np.random.default_rng(3), 1)
        q, v, _, _ = coordinates.state(d)
        ctrl, act, _ = activations(m, d, tribo)
        start = np.concatenate([q, v, ctrl, act])
        for _ in range(steps * 2**level):
            mujoco.mj_step(m, d)
        q, v, _, _ = coordinates.state(d)
        _, answer, _ = ask(free, [start], m.opt.timestep, steps * 2**level)
        found.append(np.linalg.norm(np.array(answer[0]["v"]) - v))
    return found


def motion_ratio(path):
    """How much nearer Tribo's Euler is to MuJoCo's when both halve their step: both are of first order, so 2. Where
    stiff drives make MuJoCo's own steps unstable, or too long to tell, shorter ones decide."""
    with tempfile.TemporaryDirectory() as folder:
        free = without_constraints(path, pathlib.Path(folder))
        m = mujoco.MjModel.from_xml_path(str(free))
        m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        if m.nv == 0:
            return 2.0, 0.0
        d = mujoco.MjData(m)
        tribo, _, _ = ask(free, [])
        ratio, sizes = np.inf, [np.inf]
        for h in (1e-4, 1e-5, 1e-6):
            sizes = differences(free, m, d, tribo, Map(m, tribo), h)
            ratio = sizes[0] / sizes[1] if sizes[0] > 1e-11 else 2.0
            if abs(ratio - 2) <= 0.2:
                break
        return ratio, sizes[0]


def installed():
    site = pathlib.Path(mujoco.__file__).parent.parent
    return (sorted((site / "gymnasium/envs/mujoco/assets").glob("*.xml")) +
            sorted((site / "dm_control/suite").glob("*.xml")))


def main():
    given = sys.argv[3:]
    files = [pathlib.Path(f).resolve() for f in given if f != "--only"] + ([] if "--only" in given else installed())
    os.chdir(tempfile.gettempdir())  # MuJoCo writes a log where it runs
    equal = {}
    for path in files:
        family = "gymnasium" if "gymnasium" in path.parts else "dm_control" if "dm_control" in path.parts else "other"
        good, text = False, ""
        try:
            worst, warnings = compare(path)
            wrong = {k: v for k, v in worst.items() if not v <= TOLERANCE}
            ratio, size = motion_ratio(path)
            good = not wrong and abs(ratio - 2) <= 0.2
            text = f"equal to {max(worst.values()):.0e}, motion {ratio:.2f}" if good else ", ".join(
                f"{k} {v:.1e}" for k, v in wrong.items()) + f", motion {ratio:.2f} ({size:.0e})"
            lost = [re.sub(r"^warning: \S+:(\d+): ", r"line \1: ", w) for w in warnings.splitlines()
                    if "<sensor>" not in w]
            text += "".join(f"\n    {w}" for w in lost) if not good or "-v" in os.environ.get("CONFORM", "") else ""
        except (RuntimeError, ValueError, KeyError) as error:
            # a name that is not there was left out: what the program said tells why
            said = ask(path, [])[2] if isinstance(error, KeyError) else ""
            text = f"there is no {error}: {'; '.join(said.splitlines())}" if said else str(error)
        equal.setdefault(family, []).append(good)
        print(f"{family:10} {path.stem:26} {text}", flush=True)
    failed = False
    for family, results in equal.items():
        share, wanted = sum(results) / len(results), {"gymnasium": 1.0, "dm_control": 1.0, "other": 1.0}[family]
        print(f"{family}: {sum(results)} of {len(results)} equal")
        failed |= share < wanted
    sys.exit(1 if failed else 0)


main()
