// Coal behind plain C; coal_shim.h says what each function promises.
#if defined(__AVX__)
#error "the shims must be compiled for plain x86-64, as the wheels were: Eigen's alignment is part of their ABI"
#endif

#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <coal/collision.h>
#include <coal/contact_patch.h>
#include <coal/mesh_loader/assimp.h>
#include <coal/narrowphase/narrowphase.h>
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

extern "C" {
#include "coal_shim.h"
#include "status.h"
}

// The barrier around each body: no exception passes into C.
#define BARRIER_BEGIN try {
#define BARRIER_END(function)                                                              \
  }                                                                                        \
  catch (const std::bad_alloc&) {                                                          \
    return tribo_fail(TRIBO_NOMEM, "%s: no memory", function);                             \
  }                                                                                        \
  catch (const std::invalid_argument& error) {                                             \
    return tribo_fail(TRIBO_INVALID, "%s: %s", function, one_line(error.what()).c_str());  \
  }                                                                                        \
  catch (const std::exception& error) {                                                    \
    return tribo_fail(TRIBO_INTERNAL, "%s: %s", function, one_line(error.what()).c_str()); \
  }                                                                                        \
  catch (...) {                                                                            \
    return tribo_fail(TRIBO_INTERNAL, "%s: unknown exception", function);                  \
  }

namespace {

// tolerances of toolchain measurements: smaller ones make the penetration search return nonsense
constexpr double gjk_tolerance = 1e-10;
constexpr double epa_tolerance = 1e-7;

// Coal's messages span lines and name its own source files: keep the sentence after the last label.
std::string one_line(const char* what) {
  std::string text(what);
  const std::string label = "message: ";
  const size_t at = text.rfind(label);
  if (at != std::string::npos) {
    text.erase(0, at + label.size());
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  for (char& c : text) {
    c = c == '\n' ? ' ' : c;
  }
  return text;
}

coal::Transform3s transform(const TriboPose* pose) {
  using Rows = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  return coal::Transform3s(coal::Matrix3s(Eigen::Map<const Rows>(pose->R)), Eigen::Map<const coal::Vec3s>(pose->p));
}

void store(TriboCoalAnswer* out, double gap, const coal::Vec3s& normal, const coal::Vec3s& point) {
  out->gap = gap;
  Eigen::Map<coal::Vec3s>(out->normal) = normal;
  Eigen::Map<coal::Vec3s>(out->point) = point;
}

coal::ShapeBase* make_shape(TriboShapeKind kind, const double* s) {
  switch (kind) {
    case TRIBO_SHAPE_SPHERE: return new coal::Sphere(s[0]);
    case TRIBO_SHAPE_BOX: return new coal::Box(s[0], s[1], s[2]);
    case TRIBO_SHAPE_CAPSULE: return new coal::Capsule(s[0], s[1]);
    case TRIBO_SHAPE_CYLINDER: return new coal::Cylinder(s[0], s[1]);
    case TRIBO_SHAPE_CONE: return new coal::Cone(s[0], s[1]);
    case TRIBO_SHAPE_HALFSPACE: return new coal::Halfspace(0, 0, 1, 0);
    case TRIBO_SHAPE_ELLIPSOID: return new coal::Ellipsoid(s[0], s[1], s[2]);
    default: throw std::invalid_argument("this shape has no Coal counterpart");
  }
}

}  // namespace

struct TriboCoalShape {
  std::unique_ptr<coal::ShapeBase> shape;
};

struct TriboCoalMesh {
  coal::internal::TriangleAndVertices data;
};

struct TriboCoalQuery {
  coal::GJKSolver solver;
  coal::CollisionRequest request;
  coal::CollisionResult result;
  coal::ContactPatchRequest patch_request;
  coal::ContactPatchResult patch_result;
};

extern "C" {

const char* tribo_coal_version(void) {
  return COAL_VERSION;
}

TriboStatus tribo_coal_shape_create(TriboShapeKind kind, const double size[3], TriboCoalShape** out) noexcept {
  BARRIER_BEGIN
  std::unique_ptr<TriboCoalShape> shape(new TriboCoalShape);
  shape->shape.reset(make_shape(kind, size));
  shape->shape->computeLocalAABB();
  *out = shape.release();
  return TRIBO_OK;
  BARRIER_END("tribo_coal_shape_create")
}

TriboStatus tribo_coal_convex_create(const double* points, int npoint, const int* triangles, int ntriangle,
                                     TriboCoalShape** out) noexcept {
  BARRIER_BEGIN
  auto vertices = std::make_shared<std::vector<coal::Vec3s>>();
  auto faces = std::make_shared<std::vector<coal::Triangle>>();
  vertices->reserve(size_t(npoint));
  faces->reserve(size_t(ntriangle));
  for (int i = 0; i < npoint; ++i) {
    vertices->emplace_back(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
  }
  for (int i = 0; i < ntriangle; ++i) {
    faces->emplace_back(size_t(triangles[3 * i]), size_t(triangles[3 * i + 1]), size_t(triangles[3 * i + 2]));
  }
  std::unique_ptr<TriboCoalShape> shape(new TriboCoalShape);
  shape->shape.reset(new coal::Convex<coal::Triangle>(vertices, unsigned(npoint), faces, unsigned(ntriangle)));
  shape->shape->computeLocalAABB();
  *out = shape.release();
  return TRIBO_OK;
  BARRIER_END("tribo_coal_convex_create")
}

void tribo_coal_shape_destroy(TriboCoalShape* shape) noexcept {
  delete shape;
}

TriboStatus tribo_coal_hull(const double* points, int npoint, TriboCoalMesh** out) noexcept {
  BARRIER_BEGIN
  auto cloud = std::make_shared<std::vector<coal::Vec3s>>();
  cloud->reserve(size_t(npoint));
  for (int i = 0; i < npoint; ++i) {
    cloud->emplace_back(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
  }
  std::unique_ptr<coal::ConvexBase> base(coal::ConvexBase::convexHull(cloud, unsigned(npoint), true));
  const auto* convex = dynamic_cast<const coal::Convex<coal::Triangle>*>(base.get());
  if (convex == nullptr) {
    return tribo_fail(TRIBO_INTERNAL, "tribo_coal_hull: the hull came back without triangles");
  }
  std::unique_ptr<TriboCoalMesh> mesh(new TriboCoalMesh);
  mesh->data.vertices_.assign(convex->points->begin(), convex->points->begin() + convex->num_points);
  mesh->data.triangles_.assign(convex->polygons->begin(), convex->polygons->begin() + convex->num_polygons);
  *out = mesh.release();
  return TRIBO_OK;
  BARRIER_END("tribo_coal_hull")
}

TriboStatus tribo_coal_mesh_load(const char* path, const double scale[3], TriboCoalMesh** out) noexcept {
  BARRIER_BEGIN
  std::unique_ptr<TriboCoalMesh> mesh(new TriboCoalMesh);
  coal::internal::Loader loader;
  try {
    loader.load(path);
    coal::internal::buildMesh(Eigen::Map<const coal::Vec3s>(scale), loader.scene, 0, mesh->data);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return tribo_fail(TRIBO_INVALID, "%s: not a readable mesh: %s", path, one_line(error.what()).c_str());
  }
  *out = mesh.release();
  return TRIBO_OK;
  BARRIER_END("tribo_coal_mesh_load")
}

void tribo_coal_mesh_size(const TriboCoalMesh* mesh, int* npoint, int* ntriangle) noexcept {
  *npoint = int(mesh->data.vertices_.size());
  *ntriangle = int(mesh->data.triangles_.size());
}

void tribo_coal_mesh_copy(const TriboCoalMesh* mesh, double* points, int* triangles) noexcept {
  if (points != nullptr) {
    for (size_t i = 0; i < mesh->data.vertices_.size(); ++i) {
      Eigen::Map<coal::Vec3s>(points + 3 * i) = mesh->data.vertices_[i];
    }
  }
  if (triangles != nullptr) {
    for (size_t i = 0; i < mesh->data.triangles_.size(); ++i) {
      for (size_t k = 0; k < 3; ++k) {
        triangles[3 * i + k] = int(mesh->data.triangles_[i][k]);
      }
    }
  }
}

void tribo_coal_mesh_destroy(TriboCoalMesh* mesh) noexcept {
  delete mesh;
}

// Coal's support point of a box is that of a box larger by 1e-10, or not, for the rest of the process: by whether the
// first direction that it is ever asked about has a zero. So it is asked about one without, before anything else is;
// else the last digits of contacts would depend on what the process did before.
static void ask_first_of_boxes() {
  static const double gap = [] {
    const coal::Sphere ball(1);
    const coal::Box box(1, 1, 1);
    const coal::Matrix3s turned = coal::Quatf(0.8, 0.2, 0.4, 0.4).normalized().toRotationMatrix();
    coal::Vec3s pa, pb, normal;
    return coal::GJKSolver().shapeDistance(ball, coal::Transform3s(), box,
                                           coal::Transform3s(turned, coal::Vec3s(3, 2, 1)), false, pa, pb, normal);
  }();
  (void)gap;
}

TriboStatus tribo_coal_query_create(TriboCoalQuery** out) noexcept {
  BARRIER_BEGIN
  ask_first_of_boxes();
  std::unique_ptr<TriboCoalQuery> query(new TriboCoalQuery);
  query->request.gjk_initial_guess = coal::GJKInitialGuess::DefaultGuess;
  query->request.gjk_tolerance = gjk_tolerance;
  query->request.epa_tolerance = epa_tolerance;
  query->request.num_max_contacts = 1;
  // a patch of stacked boxes keeps its four corners only with a tolerance of several millimetres
  query->patch_request.setPatchTolerance(5e-3);
  query->solver.set(query->request);
  *out = query.release();
  return TRIBO_OK;
  BARRIER_END("tribo_coal_query_create")
}

void tribo_coal_query_destroy(TriboCoalQuery* query) noexcept {
  delete query;
}

TriboStatus tribo_coal_distance(TriboCoalQuery* query, const TriboCoalShape* a, const TriboPose* pose_a,
                                const TriboCoalShape* b, const TriboPose* pose_b, TriboCoalAnswer* out) noexcept {
  BARRIER_BEGIN
  // forget the last query: the support hint would be reused
  query->solver.cached_guess = coal::Vec3s(1, 0, 0);
  query->solver.support_func_cached_guess.setZero();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  coal::Vec3s pa, pb, normal;
  double gap;
  try {
    gap = query->solver.shapeDistance(*a->shape, transform(pose_a), *b->shape, transform(pose_b), true, pa, pb, normal);
  } catch (const std::logic_error&) {
    // an assertion inside the search
    gap = nan;
  }
  const bool found = std::abs(gap) < 1e300 && normal.allFinite() && pa.allFinite() && pb.allFinite();
  if (found) {
    store(out, gap, normal, 0.5 * (pa + pb));
  } else {
    store(out, nan, coal::Vec3s::Constant(nan), coal::Vec3s::Constant(nan));
  }
  return TRIBO_OK;
  BARRIER_END("tribo_coal_distance")
}

TriboStatus tribo_coal_contact(TriboCoalQuery* query, const TriboCoalShape* a, const TriboPose* pose_a,
                               const TriboCoalShape* b, const TriboPose* pose_b, double margin, int* found,
                               TriboCoalAnswer* out, double (*patch)[3], int* npatch) noexcept {
  BARRIER_BEGIN
  const coal::Transform3s tf_a = transform(pose_a), tf_b = transform(pose_b);
  query->request.security_margin = margin;
  query->result.clear();
  coal::collide(a->shape.get(), tf_a, b->shape.get(), tf_b, query->request, query->result);
  *found = query->result.isCollision();
  if (*found) {
    const coal::Contact& contact = query->result.getContact(0);
    store(out, contact.penetration_depth, contact.normal, contact.pos);
  }
  if (patch != nullptr) {
    const int capacity = *npatch;
    *npatch = 0;
    query->patch_result.clear();
    if (*found) {
      coal::computeContactPatch(a->shape.get(), tf_a, b->shape.get(), tf_b, query->result, query->patch_request,
                                query->patch_result);
    }
    if (query->patch_result.numContactPatches() > 0) {
      const coal::ContactPatch& polygon = query->patch_result.getContactPatch(0);
      for (size_t i = 0; i < polygon.size() && *npatch < capacity; ++i) {
        Eigen::Map<coal::Vec3s> slot(patch[(*npatch)++]);
        slot = polygon.getPoint(i);
      }
    }
  }
  return TRIBO_OK;
  BARRIER_END("tribo_coal_contact")
}

}  // extern "C"
