// QPCCs as files: what is written is read, and every bad file has its reason.
#include <hdf5.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit.h"
#include "qpcc_file.h"

static char path[] = "/tmp/tribo_qpcc_XXXXXX.qpcc";

// one drive and a contact in the plane, one without friction
static const double A[2] = {1, 0.5}, B[6] = {0.3, 0.1, -0.2, 0.7, 0, 0.4}, b[2] = {-1, 0.5};
static const double C[3] = {0.2, 1, -0.4}, D[9] = {2, 0.1, 0, 0.1, 3, 0.2, 0, 0.2, 1}, g[3] = {0.1, -0.3, 0.2};
static const double lower = -1, upper = 2, mu[2] = {0.5, 0};
static const int dim[2] = {2, 1};
static const TriboQpcc problem = {.na = 1,
                                  .ncon = 2,
                                  .nres = 2,
                                  .A = A,
                                  .B = B,
                                  .b = b,
                                  .C = C,
                                  .D = D,
                                  .g = g,
                                  .lower = &lower,
                                  .upper = &upper,
                                  .mu = mu,
                                  .dim = dim};

static void what_is_written_is_read(void** state) {
  (void)state;
  QpccFile f;
  TriboQpccSolver* solver;
  TriboQpccSolution x;
  char reason[320];
  const TriboQpccSettings settings = tribo_qpcc_settings_default();
  CHECK_OK(tribo_qpcc_create(1, 2, 2, &solver));
  CHECK_OK(tribo_qpcc_solve(solver, &problem, &settings, NULL, &x));
  assert_int_equal(qpcc_file_write(&problem, &x, path, reason), 1);
  assert_int_equal(qpcc_file_read(path, &f), 1);
  const TriboQpcc* p = &f.problem;
  assert_int_equal(p->na, 1);
  assert_int_equal(p->ncon, 2);
  assert_int_equal(p->nres, 2);
  assert_memory_equal(p->A, A, sizeof A);
  assert_memory_equal(p->B, B, sizeof B);
  assert_memory_equal(p->b, b, sizeof b);
  assert_memory_equal(p->C, C, sizeof C);
  assert_memory_equal(p->D, D, sizeof D);
  assert_memory_equal(p->g, g, sizeof g);
  assert_memory_equal(p->mu, mu, sizeof mu);
  assert_memory_equal(p->dim, dim, sizeof dim);
  assert_true(p->lower[0] == lower && p->upper[0] == upper && p->held == NULL && p->group == NULL);
  const double f_before = x.f;
  CHECK_OK(tribo_qpcc_solve(solver, p, &settings, NULL, &x));
  CHECK_NEAR(x.f, f_before, 0);
  tribo_qpcc_destroy(solver);
  qpcc_file_free(&f);
}

static void refused(const char* word) {
  QpccFile f;
  assert_int_equal(qpcc_file_read(path, &f), 0);
  if (strstr(f.reason, word) == NULL) {
    fail_msg("'%s' does not say '%s'", f.reason, word);
  }
  qpcc_file_free(&f);
}

// A dataset goes, or is replaced by one of another size.
static void change(const char* name, int size) {
  char reason[320];
  assert_int_equal(qpcc_file_write(&problem, NULL, path, reason), 1);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, name, H5P_DEFAULT);
  if (size > 0) {
    const double values[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    const hsize_t n = (hsize_t)size;
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
  }
  H5Fclose(file);
}

static void bad_files_have_their_reason(void** state) {
  (void)state;
  change("D", 0);
  refused("D is missing");
  change("g", 2);
  refused("g is 2 × 1, expected 3 × 1");
  change("dim", 2);
  refused("dim[0] = 7");
  change("dim", 3);
  refused("dim has 3 entries for 2 contacts");
  FILE* text = fopen(path, "w");
  fputs("no HDF5\n", text);
  fclose(text);
  refused("no HDF5 file");
}

int main(void) {
  const int fd = mkstemps(path, 5);
  if (fd < 0) {
    return 1;
  }
  close(fd);
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read),
                                     cmocka_unit_test(bad_files_have_their_reason)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(path);
  return failed;
}
