// A run recorded to HDF5 holds the columns and the numbers that the library's own recorder gives, over several chunks.
#include <hdf5.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "kit.h"
#include "record_hdf5.h"

static char said[512];

int cli_wrong(const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(said, sizeof said, format, args);
  va_end(args);
  return EXIT_INPUT;
}

enum { STEPS = 600 };

static TriboModel* falling_ball(void) {
  TriboScene* scene;
  TriboModel* model;
  TriboBodyDef body = tribo_body_default();
  TriboShapeDef shape = tribo_shape_default();
  int id;
  body.name = "ball";
  body.mass = 1;
  shape.kind = TRIBO_SHAPE_SPHERE;
  shape.size[0] = 0.1;
  CHECK_OK(tribo_scene_create(&scene));
  CHECK_OK(tribo_scene_add_body(scene, &body, &id));
  CHECK_OK(tribo_scene_add_shape(scene, id, &shape, NULL));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  return model;
}

static void check_columns(hid_t data) {
  char* names[14];
  hid_t attribute = H5Aopen(data, "columns", H5P_DEFAULT), type = H5Aget_type(attribute);
  assert_true(H5Aread(attribute, type, names) >= 0);
  assert_string_equal(names[0], "t");
  assert_string_equal(names[3], "q.ball.z");
  assert_string_equal(names[13], "v.ball.wz");
  for (int i = 0; i < 14; ++i) {
    H5free_memory(names[i]);
  }
  H5Tclose(type);
  H5Aclose(attribute);
}

static void what_is_written_is_read(void** state) {
  (void)state;
  char path[] = "/tmp/tribo-record-XXXXXX.h5";
  close(mkstemps(path, 3));
  TriboModel* model = falling_ball();
  TriboData* data;
  CHECK_OK(tribo_data_create(model, &data));
  RecordFile* record = record_hdf5_open(model, path);
  assert_non_null(record);
  for (int i = 0; i <= STEPS; ++i) {
    assert_true(record_hdf5_observe(record, data));
    CHECK_OK(tribo_step(model, data, NULL));
  }
  assert_true(record_hdf5_close(record));

  static double rows[STEPS + 1][14];
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, "data", H5P_DEFAULT);
  hid_t space = H5Dget_space(set);
  hsize_t size[2];
  assert_int_equal(H5Sget_simple_extent_dims(space, size, NULL), 2);
  assert_int_equal(size[0], STEPS + 1);
  assert_int_equal(size[1], 14);
  assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
  for (int i = 0; i <= STEPS; ++i) {
    // free fall
    const double t = 1e-3 * i;
    CHECK_NEAR(rows[i][0], t, 1e-15);
    CHECK_NEAR(rows[i][3], -0.5 * 9.81 * t * t, 1e-12);
    CHECK_NEAR(rows[i][10], -9.81 * t, 1e-12);
  }
  check_columns(set);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  unlink(path);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void a_place_that_cannot_be_written_is_named(void** state) {
  (void)state;
  TriboModel* model = falling_ball();
  assert_null(record_hdf5_open(model, "/nowhere/run.h5"));
  assert_non_null(strstr(said, "/nowhere/run.h5: cannot be written"));
  assert_true(record_is_hdf5("a.h5") && record_is_hdf5("a.hdf5") && !record_is_hdf5("a.csv") && !record_is_hdf5(NULL));
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(a_place_that_cannot_be_written_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
