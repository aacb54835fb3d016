// Vectors, quaternions and rotations against each other.
#include "kit.h"
#include "math3.h"

static void frames_are_right_handed(void** state) {
  (void)state;
  KitRandom r = {1};
  for (int i = 0; i < 1000; ++i) {
    double n[3] = {kit_normal(&r), kit_normal(&r), kit_normal(&r)}, t1[3], t2[3], c[3];
    if (i < 6) {
      tribo_set3(n, 0, 0, 0);
      n[i % 3] = i < 3 ? 1 : -1;
    }
    tribo_normalize3(n);
    tribo_tangents(t1, t2, n);
    tribo_cross3(c, t1, t2);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(c[k], n[k], 1e-14);
    }
    CHECK_NEAR(tribo_norm3(t1), 1, 1e-14);
    CHECK_NEAR(tribo_dot3(t1, n), 0, 1e-14);
  }
}

static void rotations_agree(void** state) {
  (void)state;
  KitRandom r = {2};
  for (int i = 0; i < 200; ++i) {
    double a[4], b[4], ab[4], A[9], B[9], AB[9], C[9];
    kit_rotation(&r, a);
    kit_rotation(&r, b);
    tribo_quat_mul(ab, a, b);
    tribo_quat_to_mat(A, a);
    tribo_quat_to_mat(B, b);
    tribo_quat_to_mat(AB, ab);
    tribo_mul33(C, A, B);
    for (int k = 0; k < 9; ++k) {
      CHECK_NEAR(C[k], AB[k], 1e-14);
    }
    CHECK_NEAR(tribo_det33(A), 1, 1e-14);
    // a vector turned by the quaternion, in place, and back
    double v[3] = {kit_normal(&r), kit_normal(&r), kit_normal(&r)}, turned[3], Av[3];
    tribo_mul33v(Av, A, v);
    tribo_copy3(turned, v);
    tribo_quat_rotate(turned, a, turned);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(turned[k], Av[k], 1e-14);
    }
    tribo_quat_rotate_back(turned, a, turned);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(turned[k], v[k], 1e-14);
    }
    // exp(w) turns v about w: for small angles v + w × v
    double w[3] = {1e-6 * kit_normal(&r), 1e-6 * kit_normal(&r), 1e-6 * kit_normal(&r)}, q[4], c[4];
    tribo_quat_exp(q, w);
    tribo_quat_cayley(c, w);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(q[k], 0.5 * w[k], 1e-16);
      CHECK_NEAR(c[k], q[k], 1e-16);
    }
  }
}

static void inverse_is_the_inverse(void** state) {
  (void)state;
  KitRandom r = {3};
  for (int i = 0; i < 100; ++i) {
    double A[9], B[9] = {0}, C[9];
    for (int k = 0; k < 9; ++k) {
      A[k] = kit_normal(&r) + (k % 4 == 0 ? 4 : 0);
    }
    tribo_inv33(B, A);
    tribo_mul33(C, A, B);
    for (int k = 0; k < 9; ++k) {
      CHECK_NEAR(C[k], k % 4 == 0, 1e-13);
    }
  }
}

static void finite_sees_every_kind(void** state) {
  (void)state;
  double x[4] = {1e308, -1e308, 1e308, 0};
  assert_true(tribo_finite(x, 4));
  x[2] = NAN;
  assert_false(tribo_finite(x, 4));
  x[2] = INFINITY;
  assert_false(tribo_finite(x, 4));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_are_right_handed),
      cmocka_unit_test(rotations_agree),
      cmocka_unit_test(inverse_is_the_inverse),
      cmocka_unit_test(finite_sees_every_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
