// Problems as files: what is written is read, every form of a matrix is the same matrix, every bad file has its reason,
// and the answers hold against a judge that reads the files by itself.
#include <hdf5.h>
#include <dirent.h>
#include <stdlib.h>
#include <tribo/solver.h>
#include <unistd.h>

#if TRIBO_HAVE_FCLIB
#include <fclib.h>
#endif

#include "kit.h"
#include "problem_file.h"

enum { MAX = 64 };
static char folder[] = "/tmp/tribo_files_XXXXXX";
static char path[4096];
static const char* where;  // known problems, if there are any

static const char* in_folder(const char* name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

// ---- writing by hand

static void put(hid_t file, const char* name, hid_t type, const void* values, size_t n) {
  hsize_t size = n;
  hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(1, &size, NULL);
  H5Pset_create_intermediate_group(links, 1);
  hid_t set = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(links);
}

static void put_int(hid_t file, const char* group, const char* name, int value) {
  char full[128];
  snprintf(full, sizeof full, "%s/%s", group, name);
  put(file, full, H5T_NATIVE_INT, &value, 1);
}

// a dense matrix, column-major, in one of the three forms: −1 columns, −2 rows, 0 triplets
static void put_matrix(hid_t file, const char* group, const double* A, int rows, int cols, int form) {
  int p[MAX * MAX + 1], index[MAX * MAX], n = 0, outer = form == -2 ? rows : cols, inner = form == -2 ? cols : rows;
  double x[MAX * MAX];
  char full[128];
  for (int j = 0; j < outer; ++j) {
    if (form != 0) {
      p[j] = n;
    }
    for (int i = 0; i < inner; ++i) {
      double a = form == -2 ? A[j + i * rows] : A[i + j * rows];
      if (a != 0) {
        if (form == 0) {
          p[n] = j;
        }
        index[n] = i;
        x[n++] = a;
      }
    }
  }
  if (form != 0) {
    p[outer] = n;
  }
  put_int(file, group, "m", rows);
  put_int(file, group, "n", cols);
  put_int(file, group, "nzmax", n);
  put_int(file, group, "nz", form == 0 ? n : form);
  snprintf(full, sizeof full, "%s/p", group);
  put(file, full, H5T_NATIVE_INT, p, (size_t)(form == 0 ? n : outer + 1));
  snprintf(full, sizeof full, "%s/i", group);
  put(file, full, H5T_NATIVE_INT, index, (size_t)n);
  snprintf(full, sizeof full, "%s/x", group);
  put(file, full, H5T_NATIVE_DOUBLE, x, (size_t)n);
}

// two contacts with a coupled W, in the file's order of rows
static const double mu2[2] = {0.5, 0.2}, q2[6] = {-1, 0.3, 0.1, -2, 0, 0.4};
static double W2[36];

static void make_W(void) {
  KitRandom r = {7};
  double B[36];
  for (int i = 0; i < 36; ++i) {
    B[i] = kit_normal(&r);
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      W2[i + 6 * j] = i == j;
      for (int k = 0; k < 6; ++k) {
        W2[i + 6 * j] += B[i + 6 * k] * B[j + 6 * k];
      }
    }
  }
}

static hid_t begin_local(const char* name, int form) {
  hid_t file = H5Fcreate(in_folder(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(file >= 0);
  if (form <= 0) {
    put_matrix(file, "/fclib_local/W", W2, 6, 6, form);
  }
  return file;
}

static void end_local(hid_t file, const double* q, size_t nq, const double* mu, size_t nmu, int dim) {
  put(file, "/fclib_local/vectors/q", H5T_NATIVE_DOUBLE, q, nq);
  put(file, "/fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, mu, nmu);
  put_int(file, "/fclib_local", "spacedim", dim);
  H5Fclose(file);
}

static double entry(const TriboProblem* p, int row, int col) {
  for (int e = p->G_col[col]; e < p->G_col[col + 1]; ++e) {
    if (p->G_row[e] == row) {
      return p->G_val[e];
    }
  }
  return 0;
}

// the library's row of a row of the file
static int ours(int i) {
  return i % 3 == 0 ? i + 2 : i - 1;
}

static void check_is_W2(const char* name) {
  ProblemFile p;
  if (!problem_read(in_folder(name), &p)) {
    print_error("%s: %s\n", name, p.reason);
    fail();
  }
  assert_int_equal(p.contacts, 2);
  for (int i = 0; i < 6; ++i) {
    CHECK_NEAR(p.problem.g[ours(i)], q2[i], 0);
    CHECK_NEAR(p.problem.cones[i / 3].mu[i % 2], mu2[i / 3], 0);
    for (int j = 0; j < 6; ++j) {
      CHECK_NEAR(entry(&p.problem, ours(i), ours(j)), 0.5 * (W2[i + 6 * j] + W2[j + 6 * i]), 1e-15);
    }
  }
  problem_free(&p);
}

static void every_form_is_the_same_matrix(void** state) {
  (void)state;
  for (int form = -2; form <= 0; ++form) {
    end_local(begin_local("form.hdf5", form), q2, 6, mu2, 2, 3);
    check_is_W2("form.hdf5");
  }
  // and through our own writer, from the library's order and back
  ProblemFile p;
  char reason[320];
  assert_true(problem_read(in_folder("form.hdf5"), &p));
  assert_true(problem_write(&p.problem, in_folder("again.hdf5"), reason));
  check_is_W2("again.hdf5");
  problem_free(&p);
}

static void asymmetry_is_told(void** state) {
  (void)state;
  make_W();
  double most = 0;
  W2[1] += 0.5;
  for (int i = 0; i < 36; ++i) {
    most = fmax(most, fabs(0.5 * (W2[i] + W2[i % 6 * 6 + i / 6])));
  }
  end_local(begin_local("odd.hdf5", -1), q2, 6, mu2, 2, 3);
  check_is_W2("odd.hdf5");
  ProblemFile p;
  assert_true(problem_read(in_folder("odd.hdf5"), &p));
  CHECK_NEAR(p.asymmetry, 0.5 / most, 1e-12);
  problem_free(&p);
  make_W();
}

// ---- text

static void write_text(const char* name, const char* matrix, const char* tail) {
  FILE* file = fopen(in_folder(name), "w");
  fprintf(file, "3\n2\n%s", matrix);
  for (int i = 0; i < 6; ++i) {
    fprintf(file, "%.17g ", q2[i]);
  }
  fprintf(file, "\n%.17g %.17g\n%s", mu2[0], mu2[1], tail);
  fclose(file);
}

static char text[8192];
static const char* dense_text(void) {
  int at = snprintf(text, sizeof text, "0\n6\n6\n6\t6\n");
  for (int i = 0; i < 36; ++i) {
    at += snprintf(text + at, sizeof text - (size_t)at, "%.17g ", W2[i]);
  }
  return text;
}
static const char* block_text(void) {
  int at = snprintf(text, sizeof text, "1\n6\n6\n4\n2\n2\n3\t6\n3\t6\n3\n4\n0 2 4\n0 1 0 1\n");
  for (int k = 0; k < 4; ++k) {
    at += snprintf(text + at, sizeof text - (size_t)at, "%d\n", k);
    for (int e = 0; e < 9; ++e) {
      at += snprintf(text + at, sizeof text - (size_t)at, "%.17g\n", W2[k / 2 * 3 + e % 3 + 6 * (k % 2 * 3 + e / 3)]);
    }
  }
  return text;
}

static void text_is_read(void** state) {
  (void)state;
  write_text("dense.dat", dense_text(), "");
  check_is_W2("dense.dat");
  write_text("blocks.dat", block_text(), "");
  check_is_W2("blocks.dat");
}

// ---- bad files

static void refuses(const char* name, const char* reason) {
  ProblemFile p;
  if (problem_read(in_folder(name), &p) || strstr(p.reason, reason) == NULL) {
    print_error("%s: '%s', expected '%s'\n", name, p.reason, reason);
    fail();
  }
  problem_free(&p);
}

static void truncate_to(const char* from, const char* to, double fraction) {
  static char bytes[1 << 20];
  FILE* file = fopen(in_folder(from), "rb");
  size_t n = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  file = fopen(in_folder(to), "wb");
  fwrite(bytes, 1, (size_t)(fraction * (double)n), file);
  fclose(file);
}

static void damaged_files_are_refused(void** state) {
  (void)state;
  refuses("nowhere.hdf5", "cannot be read");
  refuses("", "is a folder");
  end_local(begin_local("good.hdf5", -1), q2, 6, mu2, 2, 3);
  truncate_to("good.hdf5", "half.hdf5", 0.5);
  refuses("half.hdf5", "damaged");
  truncate_to("good.hdf5", "empty.hdf5", 0);
  refuses("empty.hdf5", "not an HDF5 file");
  write_text("words.hdf5", "", "");
  refuses("words.hdf5", "not an HDF5 file");
  hid_t file = H5Fcreate(in_folder("other.hdf5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_int(file, "/something", "else", 1);
  H5Fclose(file);
  refuses("other.hdf5", "holds no contact problem");
  // text
  write_text("short.dat", "0\n6\n6\n6 6\n1 2 3\n", "");
  refuses("short.dat", "ends early");
  write_text("word.dat", "0\n6\n6\n6 6\nx ", "");
  refuses("word.dat", "W");
  write_text("more.dat", dense_text(), "1 2 3");
  refuses("more.dat", "H = ");
  write_text("sparse.dat", "2\n6\n6\n", "");
  refuses("sparse.dat", "storage 2");
  write_text("loop.dat", "1\n6\n6\n4\n2\n2\n3 6\n3 6\n3\n4\n0 5 4\n0 1 0 1\n", "");
  refuses("loop.dat", "accepted");
}

static void wrong_numbers_are_refused(void** state) {
  (void)state;
  double bad_q[7] = {0}, bad_mu[3] = {0.5, -0.1, 0};
  end_local(begin_local("bad.hdf5", -1), q2, 5, mu2, 2, 3);
  refuses("bad.hdf5", "q has 5 entries, expected 6");
  end_local(begin_local("bad.hdf5", -1), q2, 6, mu2, 1, 3);
  refuses("bad.hdf5", "q has 6 entries, expected 3");
  end_local(begin_local("bad.hdf5", -1), bad_q, 3, mu2, 1, 3);
  refuses("bad.hdf5", "W is 6 × 6, expected 3 × 3");
  end_local(begin_local("bad.hdf5", -1), q2, 6, bad_mu, 2, 3);
  refuses("bad.hdf5", "mu[1] = -0.1");
  bad_mu[1] = NAN;
  end_local(begin_local("bad.hdf5", -1), q2, 6, bad_mu, 2, 3);
  refuses("bad.hdf5", "mu[1] = nan");
  bad_q[4] = INFINITY;
  end_local(begin_local("bad.hdf5", -1), bad_q, 6, mu2, 2, 3);
  refuses("bad.hdf5", "q[4] = inf is not finite");
  end_local(begin_local("bad.hdf5", -1), q2, 6, mu2, 2, 2);
  refuses("bad.hdf5", "spacedim = 2; accepted is 3");
  W2[8] = NAN;
  end_local(begin_local("bad.hdf5", -1), q2, 6, mu2, 2, 3);
  refuses("bad.hdf5", "W[");
  make_W();
  W2[7] = -1;
  end_local(begin_local("bad.hdf5", -1), q2, 6, mu2, 2, 3);
  refuses("bad.hdf5", "must be at least 0");
  make_W();
  end_local(begin_local("bad.hdf5", 1), q2, 6, mu2, 2, 3);
  refuses("bad.hdf5", "/fclib_local/W/m is missing");
}

static void wrong_matrices_are_refused(void** state) {
  (void)state;
  struct {
    const char *name, *reason;
    int values[8], n;
  } cases[] = {
      {"p", "p[3] = 2 is out of order", {0, 6, 12, 2, 24, 30, 36}, 7},
      {"p", "p has 3 entries, expected 7", {0, 6, 12}, 3},
      {"p", "is out of order", {0, 6, 12, 18, 24, 30, 99}, 7},
      {"i", "expected 36", {0, 1, 2}, 3},
      {"nz", "nz = -3 must be at least -2", {-3}, 1},
      {"m", "m = -1 must be at least 0", {-1}, 1},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char full[64];
    hid_t file = begin_local("bad.hdf5", -1);
    snprintf(full, sizeof full, "/fclib_local/W/%s", cases[k].name);
    H5Ldelete(file, full, H5P_DEFAULT);
    put(file, full, H5T_NATIVE_INT, cases[k].values, (size_t)cases[k].n);
    end_local(file, q2, 6, mu2, 2, 3);
    refuses("bad.hdf5", cases[k].reason);
  }
  hid_t file = begin_local("bad.hdf5", -1);
  int index[36] = {0, 1, 2, 3, 4, 6};
  H5Ldelete(file, "/fclib_local/W/i", H5P_DEFAULT);
  put(file, "/fclib_local/W/i", H5T_NATIVE_INT, index, 36);
  end_local(file, q2, 6, mu2, 2, 3);
  refuses("bad.hdf5", "an index lies outside 6 × 6");
  file = begin_local("bad.hdf5", -1);
  H5Ldelete(file, "/fclib_local/W/x", H5P_DEFAULT);
  put(file, "/fclib_local/W/x", H5T_C_S1, "words", 5);
  end_local(file, q2, 6, mu2, 2, 3);
  refuses("bad.hdf5", "x is not an array of numbers");
}

// ---- global problems

// two bodies of 3 degrees of freedom, the second with a mass matrix that is not symmetric, and one bilateral row
static void global_problems_are_condensed(void** state) {
  (void)state;
  KitRandom r = {3};
  double M[36] = {0}, H[36], G[6], f[6], w[6], b[1] = {0.2};
  for (int i = 0; i < 6; ++i) {
    f[i] = kit_normal(&r);
    w[i] = kit_normal(&r);
    G[i] = kit_normal(&r);
    for (int j = 0; j < 6; ++j) {
      H[i + 6 * j] = (i / 3 == j / 3 || j == 2) ? kit_normal(&r) : 0;
      M[i + 6 * j] = i / 3 == j / 3 ? (i == j ? 4 : i / 3 == 1 ? 0.5 * kit_normal(&r) : 0.3) : 0;
    }
  }
  hid_t file = H5Fcreate(in_folder("global.hdf5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_matrix(file, "/fclib_global/M", M, 6, 6, 0);
  put_matrix(file, "/fclib_global/H", H, 6, 6, -2);
  put_matrix(file, "/fclib_global/G", G, 6, 1, -1);
  put(file, "/fclib_global/vectors/f", H5T_NATIVE_DOUBLE, f, 6);
  put(file, "/fclib_global/vectors/w", H5T_NATIVE_DOUBLE, w, 6);
  put(file, "/fclib_global/vectors/b", H5T_NATIVE_DOUBLE, b, 1);
  put(file, "/fclib_global/vectors/mu", H5T_NATIVE_DOUBLE, mu2, 2);
  put_int(file, "/fclib_global", "spacedim", 3);
  H5Fclose(file);
  ProblemFile p;
  if (!problem_read(in_folder("global.hdf5"), &p)) {
    print_error("%s\n", p.reason);
    fail();
  }
  assert_int_equal(p.problem.nblock, 2);
  assert_int_equal(p.problem.nrow, 7);
  // columns of the symmetric part of A M⁻¹ Aᵀ, A = (Hᵀ; Gᵀ), by solving M v = Aᵀ e with Gauss' elimination; and q
  double A[7][6], V[8][6], Vt[8][6];
  for (int i = 0; i < 7; ++i) {
    for (int k = 0; k < 6; ++k) {
      A[i][k] = i < 6 ? H[k + 6 * i] : G[k];
    }
  }
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < 8; ++i) {
      double m[6][7];
      for (int k = 0; k < 6; ++k) {
        for (int l = 0; l < 6; ++l) {
          m[k][l] = side ? M[l + 6 * k] : M[k + 6 * l];
        }
        m[k][6] = i < 7 ? A[i][k] : f[k];
      }
      for (int k = 0; k < 6; ++k) {
        for (int l = k + 1; l < 6; ++l) {
          for (int c = 6; c >= k; --c) {
            m[l][c] -= m[k][c] * m[l][k] / m[k][k];
          }
        }
      }
      for (int k = 5; k >= 0; --k) {
        double x = m[k][6];
        for (int l = k + 1; l < 6; ++l) {
          x -= m[k][l] * (side ? Vt : V)[i][l];
        }
        (side ? Vt : V)[i][k] = x / m[k][k];
      }
    }
  }
  double lambda[7] = {0}, sigma[7];
  TriboResiduals res;
  for (int j = 0; j < 7; ++j) {
    int oj = j < 6 ? ours(j) : 6;
    lambda[oj] = 1;
    CHECK_OK(tribo_problem_residuals(&p.problem, lambda, sigma, &res));
    lambda[oj] = 0;
    for (int i = 0; i < 7; ++i) {
      double expected = i < 6 ? w[i] : b[0];
      for (int k = 0; k < 6; ++k) {
        expected += A[i][k] * (0.5 * (V[j][k] + Vt[j][k]) + V[7][k]);
      }
      CHECK_NEAR(sigma[i < 6 ? ours(i) : 6], expected, 1e-12);
    }
  }
  assert_true(p.asymmetry > 0.01);
  problem_free(&p);
  // M must be positive definite, H must fit
  M[0] = -4;
  file = H5Fopen(in_folder("global.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "/fclib_global/M", H5P_DEFAULT);
  put_matrix(file, "/fclib_global/M", M, 6, 6, -1);
  H5Fclose(file);
  refuses("global.hdf5", "M is not positive definite");
  file = H5Fopen(in_folder("global.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "/fclib_global/H", H5P_DEFAULT);
  put_matrix(file, "/fclib_global/H", H, 6, 5, -1);
  H5Fclose(file);
  refuses("global.hdf5", "H is 6 × 5, expected 6 × 6");
}

// ---- any cones

static void other_cones_survive(void** state) {
  (void)state;
  TriboCone cones[] = {{.kind = TRIBO_CONE_FRICTION, .row = 0, .dim = 4, .mu = {0.5, 0.3, 0.01}},
                       {.kind = TRIBO_CONE_BOX, .row = 4, .dim = 1, .lo = -INFINITY, .hi = 0.25},
                       {.kind = TRIBO_CONE_NONNEG, .row = 5, .dim = 1}};
  double g[6] = {1, -1, 0.5, -3, 0.1, -0.2}, R[6] = {0, 0, 0, 0.1, 0.2, 0.3}, mass[4] = {2, 1, 1, 3};
  double minv[4] = {0.6, -0.2, -0.2, 0.4}, jac[12] = {1, 0, 0, 1, 1, 1, 2, -1, 1, -1, 0.5, 2};
  int dim[1] = {2}, first[4] = {0, 1, 2, 3}, block[3] = {0, 0, 0};
  size_t at[1] = {0}, term_at[3] = {0, 8, 10};
  TriboProblem q = {
      .nrow = 6, .ncone = 3, .cones = cones, .g = g, .R = R, .nblock = 1, .block_dim = dim, .block_at = at};
  q.mass = mass, q.minv = minv, q.term_first = first, q.term_block = block, q.term_at = term_at, q.jac = jac;
  CHECK_OK(tribo_problem_validate(&q));
  char reason[320];
  assert_true(problem_write(&q, in_folder("cones.hdf5"), reason));
  ProblemFile p;
  if (!problem_read(in_folder("cones.hdf5"), &p)) {
    print_error("%s\n", p.reason);
    fail();
  }
  assert_int_equal(p.problem.ncone, 3);
  for (int c = 0; c < 3; ++c) {
    assert_int_equal(p.cones[c].kind, cones[c].kind);
    assert_int_equal(p.cones[c].dim, cones[c].dim);
    assert_memory_equal(p.cones[c].mu, cones[c].mu, sizeof cones[c].mu);
    assert_true(p.cones[c].lo == cones[c].lo && p.cones[c].hi == cones[c].hi);
  }
  KitRandom r = {5};
  double lambda[6], a[6], b[6];
  TriboResiduals ra, rb;
  for (int i = 0; i < 6; ++i) {
    lambda[i] = kit_normal(&r);
  }
  CHECK_OK(tribo_problem_residuals(&q, lambda, a, &ra));
  CHECK_OK(tribo_problem_residuals(&p.problem, lambda, b, &rb));
  for (int i = 0; i < 6; ++i) {
    CHECK_NEAR(a[i], b[i], 1e-14);
  }
  CHECK_NEAR(ra.natmap_unit, rb.natmap_unit, 1e-13);
  problem_free(&p);
}

// ---- the judge

typedef struct Raw {
  int n;
  int *p, *i;
  double *x, *q, *mu, *r;
} Raw;

static void* get(hid_t file, const char* name, hid_t type, size_t size, size_t* n) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  size_t count = (size_t)H5Sget_simple_extent_npoints(space);
  void* out = malloc(count * size + 1);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
  H5Sclose(space);
  H5Dclose(set);
  *n = count;
  return out;
}

// The natural-map residual of a file's solution, recomputed from its W, q and μ, relative to the largest term.
static double natmap_unit(const char* name) {
  Raw w;
  size_t n, k;
  hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  w.p = get(file, "/fclib_local/W/p", H5T_NATIVE_INT, sizeof(int), &k);
  w.i = get(file, "/fclib_local/W/i", H5T_NATIVE_INT, sizeof(int), &k);
  w.x = get(file, "/fclib_local/W/x", H5T_NATIVE_DOUBLE, sizeof(double), &k);
  w.q = get(file, "/fclib_local/vectors/q", H5T_NATIVE_DOUBLE, sizeof(double), &n);
  w.mu = get(file, "/fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, sizeof(double), &k);
  w.r = get(file, "/solution/r", H5T_NATIVE_DOUBLE, sizeof(double), &k);
  assert_int_equal(n, k);
  H5Fclose(file);
  double* u = malloc(n * sizeof *u);
  double d = 0, top = 0, nq = 0, nr = 0, nu = 0;
  memcpy(u, w.q, n * sizeof *u);
  for (size_t j = 0; j < n; ++j) {
    for (int e = w.p[j]; e < w.p[j + 1]; ++e) {
      u[w.i[e]] += w.x[e] * w.r[j];
      d += w.i[e] == (int)j ? w.x[e] / (double)n : 0;
    }
  }
  for (size_t i = 0; i < n; i += 3) {
    double mu = w.mu[i / 3], y[3], p[3];
    for (int c = 0; c < 3; ++c) {
      y[c] = d * w.r[i + (size_t)c] - u[i + (size_t)c];
      nq += w.q[i + (size_t)c] * w.q[i + (size_t)c];
      nr += w.r[i + (size_t)c] * w.r[i + (size_t)c];
      nu += u[i + (size_t)c] * u[i + (size_t)c];
    }
    y[0] -= mu * hypot(u[i + 1], u[i + 2]);
    double t = hypot(y[1], y[2]);
    double h = t <= mu * y[0] ? y[0] : mu * t <= -y[0] ? 0 : (y[0] + mu * t) / (1 + mu * mu);
    double f = t <= mu * y[0] ? 1 : h > 0 ? mu * h / t : 0;
    p[0] = h, p[1] = f * y[1], p[2] = f * y[2];
    for (int c = 0; c < 3; ++c) {
      double gap = d * w.r[i + (size_t)c] - p[c];
      top += gap * gap;
    }
  }
  void* all[] = {w.p, w.i, w.x, w.q, w.mu, w.r, u};
  for (int i = 0; i < 7; ++i) {
    free(all[i]);
  }
  return sqrt(top) / fmax(sqrt(nq), fmax(d * sqrt(nr), sqrt(nu)));
}

// reads, solves, writes, and has it judged
static double solve_file(TriboSolver* s, const char* from, const char* to, TriboSolveStats* stats) {
  ProblemFile p;
  if (!problem_read(from, &p)) {
    print_error("%s: %s\n", from, p.reason);
    fail();
  }
  double *lambda = calloc((size_t)p.problem.nrow, sizeof(double)),
         *sigma = calloc((size_t)p.problem.nrow, sizeof(double));
  TriboResiduals r;
  CHECK_OK(tribo_solver_solve(s, &p.problem, NULL, lambda, stats));
  CHECK_OK(tribo_problem_residuals(&p.problem, lambda, sigma, &r));
  if (!problem_write_solution(&p, from, to, lambda, sigma)) {
    print_error("%s: %s\n", to, p.reason);
    fail();
  }
  free(lambda);
  free(sigma);
  problem_free(&p);
  return natmap_unit(to);
}

static TriboSolver* whole_problem_solver(void) {
  TriboSolver* s;
  CHECK_OK(tribo_solver_create("auto", &s));
  CHECK_OK(tribo_solver_set(s, "whole", 1));
  CHECK_OK(tribo_solver_set(s, "tol", 1e-8));
  return s;
}

static void solutions_stand_beside_their_problem(void** state) {
  (void)state;
  char from[4096], to[4096];
  TriboSolveStats stats;
  TriboSolver* s = whole_problem_solver();
  end_local(begin_local("in.hdf5", -1), q2, 6, mu2, 2, 3);
  snprintf(from, sizeof from, "%s", in_folder("in.hdf5"));
  snprintf(to, sizeof to, "%s", in_folder("out.hdf5"));
  CHECK_LE(solve_file(s, from, to, &stats), 1e-8);
  // a file that has a solution already gets the new one
  snprintf(from, sizeof from, "%s", in_folder("out2.hdf5"));
  CHECK_LE(solve_file(s, to, from, &stats), 1e-8);
  write_text("in.dat", dense_text(), "");
  snprintf(from, sizeof from, "%s", in_folder("in.dat"));
  CHECK_LE(solve_file(s, from, to, &stats), 1e-8);
  // never onto itself
  ProblemFile p;
  assert_true(problem_read(in_folder("in.hdf5"), &p));
  double zero[6] = {0};
  assert_false(problem_write_solution(&p, path, path, zero, zero));
  assert_non_null(strstr(p.reason, "itself"));
  check_is_W2("in.hdf5");
  problem_free(&p);
#if TRIBO_HAVE_FCLIB
  // the format's own library reads what we write
  struct fclib_local* local = fclib_read_local(to);
  struct fclib_solution* solution = fclib_read_solution(to);
  assert_non_null(local);
  assert_non_null(solution);
  assert_int_equal(local->spacedim, 3);
  assert_int_equal(local->W->n, 6);
  CHECK_NEAR(local->q[3], q2[3], 0);
  assert_true(solution->r[0] > 0);
  fclib_delete_local(local);
  free(local);
  fclib_delete_solutions(solution, 1);
#endif
  tribo_solver_destroy(s);
}

static void known_problems_are_solved(void** state) {
  (void)state;
  DIR* dir = where != NULL ? opendir(where) : NULL;
  if (dir == NULL) {
    print_message("no folder of FCLIB problems (TRIBO_FCLIB): not tried\n");
    skip();
  }
  TriboSolver* s = whole_problem_solver();
  int files = 0, solved = 0;
  for (struct dirent* e; (e = readdir(dir)) != NULL;) {
    size_t n = strlen(e->d_name);
    if (n < 5 || strcmp(e->d_name + n - 5, ".hdf5") != 0) {
      continue;
    }
    char from[4096], to[4096];
    TriboSolveStats stats;
    snprintf(from, sizeof from, "%s/%s", where, e->d_name);
    snprintf(to, sizeof to, "%s", in_folder("judged.hdf5"));
    double residual = solve_file(s, from, to, &stats);
    files++;
    solved += residual <= 1e-8;
    if (residual > 1e-8) {
      print_error("%s: natmap_unit %g\n", e->d_name, residual);
    }
  }
  closedir(dir);
  tribo_solver_destroy(s);
  assert_true(files > 0);
  assert_int_equal(solved, files);
}

static int clean(void** state) {
  (void)state;
  DIR* dir = opendir(folder);
  if (dir != NULL) {
    for (struct dirent* e; (e = readdir(dir)) != NULL;) {
      unlink(in_folder(e->d_name));
    }
  }
  closedir(dir);
  return rmdir(folder);
}

static int prepare(void** state) {
  (void)state;
  make_W();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return mkdtemp(folder) == NULL;
}

int main(int argc, char** argv) {
  where = getenv("TRIBO_FCLIB") != NULL ? getenv("TRIBO_FCLIB") : argc > 1 ? argv[1] : NULL;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_is_the_same_matrix),
      cmocka_unit_test(asymmetry_is_told),
      cmocka_unit_test(text_is_read),
      cmocka_unit_test(damaged_files_are_refused),
      cmocka_unit_test(wrong_numbers_are_refused),
      cmocka_unit_test(wrong_matrices_are_refused),
      cmocka_unit_test(global_problems_are_condensed),
      cmocka_unit_test(other_cones_survive),
      cmocka_unit_test(solutions_stand_beside_their_problem),
      cmocka_unit_test(known_problems_are_solved),
  };
  return cmocka_run_group_tests(tests, prepare, clean);
}
