"""Wrong lines, one for each lab scene and more, which that scene must notice.

    mutants.py write FILE… COPY…       copies of the sources, in which every line of the table has a switch
    mutants.py run PROGRAM LAB         every scene with its mutant: some fact of it must fail

The sources know nothing of it: the copies are compiled into a library for this test alone, and `tribo_mutant` there
chooses which line is wrong.
"""
import concurrent.futures
import pathlib
import subprocess
import sys

# scene, file, the right line (an expression, or a statement with its semicolon), the wrong one
TABLE = [
    ("arch_falls", "compile_shapes.c", "sqrt(a->friction * b->friction)",
     "sqrt(a->friction + b->friction)"),
    ("arch_stands", "rows.c", "tribo_cross3(moment, lever, frame);", "tribo_cross3(moment, point, frame);"),
    ("ball_roll", "mass.c", "0.4 * v * r * r", "v * r * r"),
    ("bolt_nut_locks", "sdf_thread.c", "atan2(x[1], x[0])", "atan2(x[0], x[1])"),
    ("bolt_nut_slides", "sdf_thread.c", "scale * delta", "-scale * delta"),
    ("bolt_nut_slow", "sdf_thread.c", "slope * t->lead / r", "0 * slope"),
    ("bolt_nut_spin", "sdf_thread.c", "(def->left_hand ? -1 : 1)", "(def->left_hand ? 1 : -1)"),
    ("bolt_nut_spin", "sdf_thread.c", "def->starts * P / (2 * PI)", "1.001 * def->starts * P / (2 * PI)"),
    ("bolt_nut_torque", "step.c", "force->def.ramp", "!force->def.ramp"),
    ("bounce_e50", "normal_row.c", "(old + fraction * flight)", "old"),
    ("bounce_e80", "normal_row.c", "(1 - fraction) * flight", "flight"),
    ("bounce_none", "normal_row.c", "gap / o->h", "0"),
    ("capstan", "joint_rows.c", "motor->stiffness * away - motor->damping * motor->velocity",
     "motor->stiffness * away + motor->damping * motor->velocity"),
    ("bowl_swing", "roundness.c", "1 / bent[k] - d", "0"),
    ("cards_fall", "contact_rows.c", "memcpy(d->cones[c].mu, law->mu, (size_t)(law->dim - 1) * sizeof *law->mu);",
     "d->cones[c].mu[0] = d->cones[c].mu[1] = 1;"),
    ("cards_stand", "compile_shapes.c", "m->friction > 0 ? 3 : 1", "1"),
    ("collision", "rows.c", "2.0 * side - 1", "1"),
    ("compliant", "normal_row.c", " d->R[row] = 1 / (o->h * stiff);", "d->R[row] = 1 / stiff;"),
    ("conveyor", "contacts.c", "add_surface(&data->contacts.laws[i], model, c->geom_a, poses, c->point, -1);",
     "add_surface(&data->contacts.laws[i], model, c->geom_a, poses, c->point, 1);"),
    ("corner_pass", "detect.c", "refuted = !hit;", "refuted = 0;"),
    ("cradle", "round.c", "distance - ra - rb", "distance - ra"),
    ("disc_spin", "mass.c", "v * r * r / 2", "v * r * r"),
    ("dominoes", "rows.c", "tribo_mul33tv(own, R, moment);", "tribo_mul33v(own, R, moment);"),
    ("falling_stick", "contact_turn.c", "way[i] = h * hub[i] + (1 + grows) * next[i] - lever[i];",
     "way[i] = h * s->V[k][i];"),
    ("fast_ball", "detect.c", "box->high[k] += (step > 0 ? step : 0) + grow;", "box->high[k] += grow;"),
    ("field_slope", "field.c",
     "tribo_set3(f->points + 3 * v, f->low[0] + i * f->step[0], f->low[1] + j * f->step[1], heights[v]);",
     "tribo_set3(f->points + 3 * v, f->low[0] + i * f->step[0], f->low[1] + j * f->step[1], heights[i * f->ny + j]);"),
    ("four_bar", "closure_rows.c", "tribo_mul33v(p, poses[body].R, local->p);",
     "tribo_mul33tv(p, poses[body].R, local->p);"),
    ("free_top", "free_body.c", "s * (gyro[i] - torque[i])", "-s * torque[i]"),
    ("grain", "contact_rows.c", "tribo_copy3(frame, along);", "tribo_cross3(frame, frame + 6, along);"),
    ("incline_creep", "free_body.c", "(options->gravity[i] + force[i] / body->mass)",
     "(force[i] / body->mass - options->gravity[i])"),
    ("incline_slide", "certificate.c", "tribo_axpy3(view->force, view->force, lambda[0] / h, row->frame);",
     "(void)0;"),
    ("incline_stick", "plane.c", "tribo_col_axis(plane.n, halfspace, 2);",
     "tribo_col_axis(plane.n, halfspace, 0);"),
    ("incline_threshold", "contact_rows.c", "tribo_dyn_rows_apply(system, d, c, data->v_free, g);",
     "tribo_dyn_rows_apply(system, d, c, v, g);"),
    ("joint_friction", "joint_rows.c", "options->h * bound->friction", "bound->friction"),
    ("joint_stop", "joint_rows.c", "upper ? -1 : 1", "1"),
    ("ladder_falls", "forward_step.c", "data->v_free[at + i] + sum", "v[at + i] + sum"),
    ("ladder_stands", "rows.c", "tribo_sub3(lever, point, x);", "tribo_copy3(lever, point);"),
    ("painleve_jam", "free_body.c", "tribo_add3(L, L, torque);", "tribo_sub3(L, L, torque);"),
    ("painleve_slide", "certificate.c", "tribo_scale3(view->force, normal / h, row->frame + 6);",
     "tribo_scale3(view->force, normal, row->frame + 6);"),
    ("rolling_friction", "contact_rows.c", "AXIS(t2, 1);", "AXIS(n, 1);"),
    ("sarrus", "closure_rows.c", "tribo_cross3(axes[n].direction, w, u);",
     "tribo_cross3(axes[n].direction, u, w);"),
    ("slide_stop", "free_body.c", "(1 - split) * h * v_next[i]", "(1 - split) * h * v[i]"),
    ("slider_crank", "loops.c", "kick[i] += minv[i * n + k] * impulse[k];",
     "kick[i] -= minv[i * n + k] * impulse[k];"),
    ("standing", "shape.c", "s->half[i] * scaled[i]", "scaled[i]"),
    ("three_balls", "normal_row.c", "old < -o->bounce_min", "old > o->bounce_min"),
    ("tower_million", "data_build.c", "1 / body->mass", "1"),
    ("atwood", "joint_rows.c", "bound->is_straight && bound->soft.solref[0] == 0", "0"),
    ("atwood", "closure_rows.c", "a * (2 * k[0] + a * (3 * k[1] + a * 4 * k[2]))", "1"),
    ("bead_rod", "tree_drift.c", "(along[i] + turned[i])", "along[i]"),
    ("billiards", "impact_rows.c", "tribo_quat_cayley(half, turn.turn);", "half[0] = half[1] = half[2] = 0, half[3] = 1;"),
    ("dry_spring", "slip_turn.c", "cone->mu[k] *= 1 - turn->fraction;", "(void)0;"),
    ("dry_spring", "joint_rows.c", "cone->hi = (1 - turn) * most - turn * copysign(most, v[bound->v]);", "cone->hi = most;"),
    ("cart_threshold", "controllers.c", "in->time + 0.5 * in->h", "in->time"),
    ("chain_drop", "tree_motion.c", "tribo_add_scaled(tree->n, -1, data->flight.bent + tree->v, v_next);", "(void)0;"),
    ("conical_pendulum", "tree_drift.c", "tribo_mul33v(s, pose->R, w);", "tribo_mul33tv(s, pose->R, w);"),
    ("cradle_pendulums", "normal_row.c", "old < -o->bounce_min", "old > o->bounce_min"),
    ("double_pendulum", "tree_motion.c", "(at->force[k] + change[k] - before[k] - end->weight[k])",
     "(at->force[k] + change[k] - before[k] - at->weight[k])"),
    ("dzhanibekov", "tree_drift.c", "part->njoint == 1 && part->joints->nv == 6 ? 0 : 0.25", "0.25"),
    ("dzhanibekov", "tree_motion.c", "tree->part->njoint == 1 ? fmin(tol, ALONE_TOL) : tol", "1e-6"),
    ("ellipsoid_swing", "tree_drift.c", "tribo_sub3(out[j].d, b->p, a->p);", "tribo_sub3(out[j].d, a->p, b->p);"),
    ("flight_chain", "tree_drift.c", "0.5 * across[i]", "0"),
    ("flight_chain", "tree_drift.c", "1 / (1 + 0.25 * tribo_dot3(g, g))", "1"),
    ("flight_chain", "tree_drift.c", "(along[i] + turned[i])", "along[i]"),
    ("flight_chain", "tree_drift.c", "0.5 * cross[i]", "0"),
    ("flight_chain", "tree_drift.c", "1 / (1 - 0.25 * tribo_dot3(carried, s))", "1"),
    ("flight_chain", "tree_drift.c", "0.5 * h * (a[i] + b[i])", "h * a[i]"),
    ("flight_joints", "tree_drift.c", "2 / (1 + E[0] + E[4] + E[8])", "0.5"),
    ("flight_joints", "tree_drift.c", "tribo_sub3(out[j].d, b->p, a->p);", "tribo_sub3(out[j].d, a->p, b->p);"),
    ("flight_two_links", "tree_drift.c", "0.5 * twice[i]", "0"),
    ("flight_two_links", "tree_drift.c", "2 * tan(0.5 * h * w[0])", "h * w[0]"),
    ("flight_two_links", "tree_drift.c", "tribo_axpy3(along, along, 0.5, turned);", "(void)turned;"),
    ("flight_two_links", "tree_drift.c", "work->P[0][i] -= f[i];", "(void)0;"),
    ("gyroscope", "tree_drift.c", "2 * tan(0.5 * h * w[0])", "h * w[0] * (1 + 1e-3)"),
    ("joint_friction", "tree_motion.c", "(all ? 1 : 0.5) * impulse[k]", "impulse[k]"),
    ("nutation", "tree_drift.c", "h * joint->wheel_inertia * w", "0 * w"),
    ("nutation", "tree_drift.c", "(w + tribo_dot3(axis, g) / h)", "w"),
    ("nutation", "tree_drift.c", "!is_wheel ? work->moved[j].g : joint->parent >= 0 ? work->moved[joint->parent].g : NONE",
     "work->moved[j].g"),
    ("pendulum", "tree_motion.c", "0.5 * h * (at->force[k] - at->weight[k]) + pushed",
     "0.5 * h * (at->force[k] + at->weight[k]) + pushed"),
    ("push_rod", "contact_turn.c", "bent[i] -= mean[i];", "(void)0;"),
    ("push_rod", "contact_turn.c", "tribo_cross3(across, s.w[k], ahead);", "tribo_set3(across, 0, 0, 0);"),
    ("push_rod", "tree_instant.c", "tribo_dyn_factor_solve(&tree->part->dofs, at->factor, v_free);", "(void)0;"),
    ("rod_bounce", "tree_motion.c", "jump[k] - kick[k]", "0"),
    ("rod_bounce", "tree_motion.c", "(1 - split) * options->h", "options->h"),
    ("rod_bounce", "tree_motion.c", "split > 0 && split < 1", "0"),
    ("roll_slope", "mass.c", "0.4 * v * r * r", "v * r * r"),
    ("spring_period", "tree_instant.c", "fmax(split->theta, 1 - M / (h * d))", "split->theta"),
    ("spring_period", "tree_motion.c", "at->extra[k] * w[k] - tribo_dyn_instant_early(tree, options, h, at, k) * v[k]",
     "0.5 * h * tribo_dyn_instant_damping(tree, options, k) * w[k] + 0 * v[k]"),
    ("squeezed_block", "step.c", "tribo_add3(w, w, f);", "tribo_sub3(w, w, f);"),
    ("truck", "contact_turn.c", "tribo_add3(point[1], contact->point, turn->way);",
     "tribo_copy3(point[1], contact->point);"),
    ("truck", "roundness.c", "tribo_col_curvature(&solid, outward, H);", "(void)0;"),
    ("truck", "tree_drift.c", "work->spin[j] - tribo_dot3(column, own) - tribo_dot3(column + 3, own + 3)",
     "work->spin[j]"),
    ("turntable", "tree_motion.c", "0.5 * change[k]", "change[k]"),
    ("wall_bead", "contact_turn.c", "tribo_add3(A, A, m->acc);", "(void)0;"),
    ("wall_bead", "contact_turn.c", "out[6 * k + i] = s[i] + h * (a[i] + b[i]);", "out[6 * k + i] = s[i];"),
    ("wedge", "free_body.c", "(options->gravity[i] + force[i] / body->mass)",
     "(force[i] / body->mass - options->gravity[i])"),
]

# Errors of the motion: scene, file, the right line, the wrong one, and the reason that the balance must give in some step
# for not certifying it.
MOTION = [
    ("double_pendulum", "tree_motion.c", "tribo_dyn_factor_solve(&tree->part->dofs, end.factor, v_next);",
     "tribo_dyn_factor_solve(&tree->part->dofs, end.factor, v_next); v_next[0] *= 1.001;", "energy"),
    ("free_top", "free_body.c", "w_next[i] = is_euler ? x[i] : 2 * x[i] - w[i];",
     "w_next[i] = is_euler ? x[i] : 1.001 * (2 * x[i] - w[i]);",
     "energy"),
    ("incline_slide", "forward_step.c", "tribo_dot(minv + i * 6, impulse, 6)",
     "(1.001 * tribo_dot(minv + i * 6, impulse, 6))", "momentum"),
]


def switch(number, right, wrong):
    """The right line, or the wrong one when it is chosen."""
    lead = right[:len(right) - len(right.lstrip())]
    right = right.strip()
    if right.endswith(";"):
        return f"{lead}if (tribo_mutant == {number}) {{ {wrong} }} else {{ {right} }}"
    return f"{lead}(tribo_mutant == {number} ? ({wrong}) : ({right}))"


def write(*files):
    half = len(files) // 2
    entries = [entry[:4] for entry in TABLE + MOTION]
    stands = [0] * len(entries)
    for path, copy in zip(files[:half], files[half:]):
        text = pathlib.Path(path).read_text()
        for i, (_, where, right, wrong) in enumerate(entries):
            if where == pathlib.Path(path).name:
                stands[i] += text.count(right)
                text = text.replace(right, switch(i + 1, right, wrong))
        pathlib.Path(copy).write_text("extern int tribo_mutant;\n" + text)
    for (scene, where, right, _), count in zip(entries, stands):
        assert count == 1, f"mutant of {scene}: '{right}' stands {count} times in {where}, it must be once"


def run(program, lab):
    scenes = {p.stem for p in pathlib.Path(lab).glob("*.yaml")}
    named = [scene for scene, *_ in TABLE]
    assert scenes == set(named), f"a mutant for each scene: {scenes ^ set(named)}"

    def ask(scene, number, *reason):
        return subprocess.run([program, str(number), f"{lab}/{scene}.yaml", *reason], capture_output=True, text=True)

    alive = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        # without a mutant every scene holds
        for scene, answer in zip(sorted(scenes), pool.map(ask, sorted(scenes), [0] * len(scenes))):
            assert answer.returncode == 0, f"{scene} fails without a mutant: {answer.stdout}{answer.stderr}"
        for entry, answer in zip(TABLE, pool.map(ask, named, range(1, len(TABLE) + 1))):
            scene, where, right, wrong = entry
            assert answer.returncode in (0, 1), f"{scene}: {answer.stderr}"
            alive += answer.returncode == 0
            said = answer.stdout.strip() if answer.returncode else "NOT NOTICED"
            print(f"{scene:18} {where:22} {said}")
        for number, (scene, where, _, _, reason) in enumerate(MOTION, len(TABLE) + 1):
            clean, answer = ask(scene, 0, reason), ask(scene, number, reason)
            assert clean.returncode == 0 and answer.returncode in (0, 1), f"{scene}: {clean.stdout}{answer.stderr}"
            alive += answer.returncode == 0
            print(f"{scene:18} {where:22} {answer.stdout.strip() if answer.returncode else 'NOT NOTICED'}")
    count = len(TABLE) + len(MOTION)
    assert not alive, f"{alive} of {count} mutants were not noticed"
    print(f"all {count} mutants were noticed")


{"write": write, "run": run}[sys.argv[1]](*sys.argv[2:])
