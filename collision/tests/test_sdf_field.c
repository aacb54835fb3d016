// Distance fields against what they stand for: gradients against differences, distances against a search, mass against
// closed forms, drawn surfaces against the field.
#include "geometry.h"
#include "sdf_field.h"

static const double PI = 3.14159265358979323846;

static TriboSdfDef leaf(TriboSdfKind kind, double x, double y, double z) {
  return (TriboSdfDef){.kind = kind, .size = {x, y, z}, .sides = 6, .starts = 1, .quaternion = {0, 0, 0, 1}};
}

static TriboSdfDef bolt_def(void) {
  TriboSdfDef def = leaf(TRIBO_SDF_THREAD, 0.016, 0.03, 0);
  def.pitch = 0.002;
  return def;
}

static TriboSdfDef nut_def(void) {
  TriboSdfDef def = bolt_def();
  def.size[1] = 0.013;
  def.clearance = 1e-4;
  def.across = 0.024;
  return def;
}

static const double bowl_profile[6] = {0, 0, 0.035, 0, 0.07, 0.045};
static TriboSdfDef bowl_def(void) {
  TriboSdfDef def = leaf(TRIBO_SDF_REVOLVED, 0, 0, 0);
  def.profile = bowl_profile;
  def.nprofile = 3;
  def.pad = 0.002;
  return def;
}

static TriboSdf* made(const TriboSdfDef* def) {
  TriboSdf* sdf;
  CHECK_OK(tribo_col_sdf_create(def, 0, NAN, &sdf));
  return sdf;
}

// One of every kind, and trees of them.
enum { KINDS = 14 };
static const char* const kind_names[KINDS] = {"sphere", "box",       "round box",   "capsule",    "cylinder",
                                              "cone",   "ellipsoid", "prism",       "bolt",       "left bolt",
                                              "nut",    "bowl",      "drilled box", "grown union"};
// Number i of them.
static TriboSdf* one_of(int i) {
  TriboSdfDef def = bolt_def(), parts[2], whole = leaf(TRIBO_SDF_SUBTRACT, 0, 0, 0);
  switch (i) {
    case 0: def = leaf(TRIBO_SDF_SPHERE, 0.5, 0, 0); break;
    case 1: def = leaf(TRIBO_SDF_BOX, 0.5, 0.3, 0.7); break;
    case 2: def = leaf(TRIBO_SDF_BOX, 0.5, 0.3, 0.7), def.round = 0.1; break;
    case 3: def = leaf(TRIBO_SDF_CAPSULE, 0.2, 0.6, 0); break;
    case 4: def = leaf(TRIBO_SDF_CYLINDER, 0.2, 0.6, 0), def.round = 0.05; break;
    case 5: def = leaf(TRIBO_SDF_CONE, 0.3, 0.6, 0); break;
    case 6: def = leaf(TRIBO_SDF_ELLIPSOID, 0.3, 0.5, 0.2); break;
    case 7: def = leaf(TRIBO_SDF_PRISM, 0.4, 0.3, 0), def.sides = 5; break;
    case 9: def.left_hand = 1, def.starts = 2; break;
    case 10: def = nut_def(); break;
    case 11: def = bowl_def(); break;
    case 12:
    case 13:
      parts[0] = leaf(TRIBO_SDF_BOX, 0.4, 0.4, 0.2), parts[1] = leaf(TRIBO_SDF_CYLINDER, 0.1, 0.5, 0);
      parts[1].position[0] = 0.05;
      tribo_set3(parts[1].quaternion, 0.1, 0.2, 0);
      whole.kind = i == 12 ? TRIBO_SDF_SUBTRACT : TRIBO_SDF_UNION;
      whole.parts = parts, whole.npart = 2;
      def = whole;
      if (i == 13) {
        def = leaf(TRIBO_SDF_OFFSET, 0, 0, 0);
        def.by = 0.03;
        def.parts = &whole, def.npart = 1;
      }
      break;
    default: break;
  }
  return made(&def);
}

// ∇φ is the slope of φ, but where two faces are equally near; |φ(x) − φ(y)| ≤ Lip |x − y|; and it is of length 1.
static void gradients_are_slopes(void** state) {
  (void)state;
  KitRandom r = {3};
  for (int kind = 0; kind < KINDS; ++kind) {
    TriboSdf* sdf = one_of(kind);
    const double h = 1e-6 * sdf->size;
    int bad = 0, tried = 0;
    for (int i = 0; i < 3000; ++i) {
      double x[3], g[3], other[3], slope[3];
      for (int k = 0; k < 3; ++k) {
        x[k] = kit_uniform(&r, sdf->low[k] - 0.1 * sdf->size, sdf->high[k] + 0.1 * sdf->size);
      }
      const double phi = tribo_col_sdf_value(sdf, x, g);
      // threads are of first order at their surface, and a core further in
      const int is_thread = kind >= 8 && kind <= 10;
      if (is_thread && fabs(phi) > 1e-4) {
        continue;
      }
      CHECK_NEAR(tribo_norm3(g), 1, 1e-12);
      for (int k = 0; k < 3; ++k) {
        double y[3] = {x[0], x[1], x[2]};
        y[k] += h;
        const double up = tribo_col_sdf_value(sdf, y, other);
        y[k] -= 2 * h;
        slope[k] = (up - tribo_col_sdf_value(sdf, y, other)) / (2 * h);
      }
      tribo_sub3(slope, slope, g);
      tried++;
      bad += tribo_norm3(slope) > (is_thread ? 2e-2 : 1e-4);
    }
    // (on the edges of 3000 random points of a grid of differences few lie)
    if (bad > tried / 200 + 3) {
      print_error("%s: %d of %d gradients are not the slope\n", kind_names[kind], bad, tried);
      fail();
    }
    for (int i = 0; i < 3000; ++i) {
      double x[3], y[3], d[3], g[3];
      for (int k = 0; k < 3; ++k) {
        x[k] = kit_uniform(&r, sdf->low[k], sdf->high[k]);
        y[k] = i % 2 ? kit_uniform(&r, sdf->low[k], sdf->high[k]) : x[k] + kit_uniform(&r, -0.01, 0.01) * sdf->size;
      }
      tribo_sub3(d, x, y);
      CHECK_LE(fabs(tribo_col_sdf_value(sdf, x, g) - tribo_col_sdf_value(sdf, y, g)),
               sdf->lip * tribo_norm3(d) + 1e-12);
    }
    tribo_col_sdf_destroy(sdf);
  }
}

// Distance of (r, ζ) to the basic profile, by all of its segments.
static double to_profile(double r, double zeta, double d, double P) {
  const double H = 0.5 * sqrt(3) * P, crest = 0.5 * d, root = 0.5 * d - 0.625 * H;
  const double way[6][2] = {{crest, -P / 16},  {crest, P / 16},      {root, 0.375 * P},
                            {root, 0.625 * P}, {crest, P * 15 / 16}, {crest, P * 17 / 16}};
  double best = INFINITY;
  zeta -= P * nearbyint(zeta / P);
  for (int turn = -2; turn <= 2; ++turn) {
    for (int i = 0; i < 5; ++i) {
      const double *a = way[i], *b = way[i + 1], z = zeta - turn * P;
      const double t = tribo_clamp(((r - a[0]) * (b[0] - a[0]) + (z - a[1]) * (b[1] - a[1])) /
                                       ((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1])),
                                   0, 1);
      best = fmin(best, hypot(r - a[0] - t * (b[0] - a[0]), z - a[1] - t * (b[1] - a[1])));
    }
  }
  return best;
}

// The distance to the helicoid: the least over all half planes about the axis.
static double to_thread(const double x[3], double d, double P) {
  const double at = atan2(x[1], x[0]);
  double best = INFINITY, middle = at, half = 0.1;
  for (int round = 0; round < 4; ++round) {
    double found = middle;
    for (int i = -100; i <= 100; ++i) {
      const double angle = middle + half * i / 100, c = cos(angle), s = sin(angle);
      const double away =
          hypot(to_profile(c * x[0] + s * x[1], x[2] - P * angle / (2 * PI), d, P), c * x[1] - s * x[0]);
      if (away < best) {
        best = away, found = angle;
      }
    }
    middle = found;
    half *= 0.03;
  }
  return best;
}

// A thread's φ is the distance to first order: within 0.2 mm it is right to 0.3 µm, within 0.02 mm to 0.03 µm.
static void a_thread_is_exact_at_its_surface(void** state) {
  (void)state;
  TriboSdfDef def = bolt_def();
  TriboSdf* sdf = made(&def);
  KitRandom r = {11};
  double far = 0, near = 0;
  for (int i = 0; i < 4000; ++i) {
    const double radius = kit_uniform(&r, 0.0066, 0.0083), angle = kit_uniform(&r, -PI, PI);
    const double x[3] = {radius * cos(angle), radius * sin(angle), kit_uniform(&r, -0.012, 0.012)};
    double g[3];
    const double phi = tribo_col_sdf_value(sdf, x, g);
    if (fabs(phi) > 2e-4) {
      continue;
    }
    const double off = fabs(fabs(phi) - to_thread(x, 0.016, 0.002));
    far = fmax(far, off);
    near = fmax(near, fabs(phi) < 2e-5 ? off : 0);
  }
  CHECK_LE(far, 3e-7);
  CHECK_LE(near, 3e-8);
  tribo_col_sdf_destroy(sdf);
}

// Every sample lies on the surface, that of an edge included.
static void samples_lie_on_the_surface(void** state) {
  (void)state;
  for (int kind = 0; kind < KINDS; ++kind) {
    TriboSdf* sdf = one_of(kind);
    assert_true(sdf->nsample > 0);
    for (int i = 0; i < sdf->nsample; ++i) {
      double g[3];
      CHECK_NEAR(tribo_col_sdf_value(sdf, sdf->samples[i].x, g) + sdf->samples[i].radius, 0,
                 1e-9 * sdf->size + 1e-12 + (sdf->samples[i].radius > 0 ? 2 * sdf->samples[i].radius : 0));
      assert_true(sdf->samples[i].cell >= 0 && sdf->samples[i].cell < sdf->ncell);
    }
    tribo_col_sdf_destroy(sdf);
  }
}

static void check_mass(const TriboSdfDef* def, double volume, double z, double ix, double iz) {
  TriboSdf* sdf = made(def);
  double v, c[3], inertia[9];
  CHECK_OK(tribo_col_sdf_mass(sdf, &v, c, inertia));
  const double size = pow(volume, 1.0 / 3);
  CHECK_NEAR(v / volume, 1, 3e-4);
  CHECK_NEAR(c[0], 0, 1e-4 * size);
  CHECK_NEAR(c[2], z, 1e-4 * size);
  CHECK_NEAR(inertia[0] / ix, 1, 5e-4);
  CHECK_NEAR(inertia[4] / ix, 1, 5e-4);
  CHECK_NEAR(inertia[8] / iz, 1, 5e-4);
  CHECK_NEAR(inertia[1], 0, 1e-4 * ix);
  tribo_col_sdf_destroy(sdf);
}

// Quadrature against closed forms: a cylinder, a revolved capsule, a revolved tube, a box with a hole.
static void masses_are_right(void** state) {
  (void)state;
  TriboSdfDef def = leaf(TRIBO_SDF_CYLINDER, 0.1, 0.3, 0);
  double v = PI * 0.01 * 0.3;
  check_mass(&def, v, 0, v * (3 * 0.01 + 0.09) / 12, v * 0.005);
  // a segment of the axis with a pad is a capsule
  const double axis[4] = {0, 0.1, 0, 0.5};
  def = leaf(TRIBO_SDF_REVOLVED, 0, 0, 0);
  def.profile = axis, def.nprofile = 2, def.pad = 0.1;
  const double size[3] = {0.1, 0.4, 0};
  double centre[3], inertia[9];
  CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_CAPSULE, size, NULL, &v, centre, inertia));
  check_mass(&def, v, 0.3, inertia[0], inertia[8]);
  // a circle with a pad is a torus: V = 2π²Rr², I_z = V(R² + ¾r²), I_x = V(½R² + ⅝r²)
  const double ring[4] = {0.3, 0, 0.3, 2e-9};
  def.profile = ring, def.pad = 0.1;
  v = 2 * PI * PI * 0.3 * 0.01;
  check_mass(&def, v, 0, v * (0.5 * 0.09 + 0.625 * 0.01), v * (0.09 + 0.75 * 0.01));
  // a box without a cylinder along z
  TriboSdfDef parts[2] = {leaf(TRIBO_SDF_BOX, 0.4, 0.4, 0.2), leaf(TRIBO_SDF_CYLINDER, 0.1, 0.3, 0)};
  def = leaf(TRIBO_SDF_SUBTRACT, 0, 0, 0);
  def.parts = parts, def.npart = 2;
  const double a = 0.4 * 0.4 * 0.2, b = PI * 0.01 * 0.2;
  check_mass(&def, a - b, 0, a * (0.16 + 0.04) / 12 - b * (0.03 + 0.04) / 12, a * 0.32 / 12 - b * 0.005);
}

// The drawn surface is closed, faces outwards, lies on the field, and holds its volume.
static void surfaces_are_closed(void** state) {
  (void)state;
  for (int kind = 0; kind < KINDS; ++kind) {
    TriboSdf* sdf = one_of(kind);
    const double* p;
    const int* t;
    int npoint, ntriangle;
    double v, c[3], inertia[9], sum = 0, area[3] = {0, 0, 0};
    CHECK_OK(tribo_col_sdf_surface(sdf, &p, &npoint, &t, &ntriangle));
    CHECK_OK(tribo_col_sdf_mass(sdf, &v, c, inertia));
    for (int i = 0; i < ntriangle; ++i) {
      double u[3], w[3], n[3];
      tribo_sub3(u, p + 3 * t[3 * i + 1], p + 3 * t[3 * i]);
      tribo_sub3(w, p + 3 * t[3 * i + 2], p + 3 * t[3 * i]);
      tribo_cross3(n, u, w);
      tribo_add3(area, area, n);
      sum += tribo_dot3(p + 3 * t[3 * i], n) / 6;
    }
    if (tribo_norm3(area) > 1e-9 * sdf->size * sdf->size) {
      print_error("%s\n", kind_names[kind]);
    }
    CHECK_NEAR(tribo_norm3(area), 0, 1e-9 * sdf->size * sdf->size);
    CHECK_NEAR(sum / v, 1, 0.03);
    tribo_col_sdf_destroy(sdf);
  }
}

// What makes no solid is refused with the number that is wrong.
static void bad_fields_are_refused(void** state) {
  (void)state;
  TriboSdf* sdf;
  TriboSdfDef def = bolt_def();
  def.size[1] = 0.001;
  CHECK_FAILS(tribo_col_sdf_create(&def, 0, NAN, &sdf), TRIBO_INVALID, "more than its length = 0.001 m");
  def = bolt_def(), def.size[1] = 3;
  CHECK_FAILS(tribo_col_sdf_create(&def, 0, NAN, &sdf), TRIBO_INVALID, "more than 1000 times its pitch");
  def = bolt_def(), def.size[0] = 0.002;
  CHECK_FAILS(tribo_col_sdf_create(&def, 0, NAN, &sdf), TRIBO_INVALID, "diameter = 0.002 m is too small");
  def = nut_def(), def.across = 0.015;
  CHECK_FAILS(tribo_col_sdf_create(&def, 0, NAN, &sdf), TRIBO_INVALID, "across = 0.015 m");
  def = nut_def(), def.clearance = 1e-3;
  CHECK_FAILS(tribo_col_sdf_create(&def, 0, NAN, &sdf), TRIBO_INVALID, "clearance = 0.001 m");
  def = bowl_def(), def.pad = 0;
  CHECK_FAILS(tribo_col_sdf_create(&def, 0, NAN, &sdf), TRIBO_INVALID, "pad = 0 m");
  def = leaf(TRIBO_SDF_BOX, 1, NAN, 1);
  CHECK_FAILS(tribo_col_sdf_create(&def, 0, NAN, &sdf), TRIBO_INVALID, "size 2 is nan m");
  def = leaf(TRIBO_SDF_PLANE, 0, 0, 0);
  CHECK_FAILS(tribo_col_sdf_create(&def, 0, NAN, &sdf), TRIBO_INVALID, "no end");
  CHECK_FAILS(tribo_col_sdf_create(&def, 23, NAN, &sdf), TRIBO_INVALID, "contacts = 23");
  TriboSdfDef parts[2] = {leaf(TRIBO_SDF_SPHERE, 0.1, 0, 0), leaf(TRIBO_SDF_SPHERE, 0.1, 0, 0)};
  parts[1].position[0] = 1;
  def = leaf(TRIBO_SDF_INTERSECTION, 0, 0, 0);
  def.parts = parts, def.npart = 2;
  CHECK_FAILS(tribo_col_sdf_create(&def, 0, NAN, &sdf), TRIBO_INVALID, "nothing in common");
  TriboSdfDef grown = leaf(TRIBO_SDF_OFFSET, 0, 0, 0);
  parts[1].position[0] = 0.05;
  grown.parts = &def, grown.npart = 1, grown.by = 0.01;
  CHECK_FAILS(tribo_col_sdf_create(&grown, 0, NAN, &sdf), TRIBO_INVALID, "only a bound outside");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_slopes),       cmocka_unit_test(a_thread_is_exact_at_its_surface),
      cmocka_unit_test(samples_lie_on_the_surface), cmocka_unit_test(masses_are_right),
      cmocka_unit_test(surfaces_are_closed),        cmocka_unit_test(bad_fields_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
