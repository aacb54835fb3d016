// Asking a picture: what is under the mouse, what touches what, how hard.
#include "list.h"

void tribo_view_camera_ray(const TriboCameraDef* camera, double aspect, double x, double y, double direction[3]) {
  double forward[3], right[3], above[3];
  const double tangent = tan(camera->fov / 2);
  tribo_view_camera_axes(camera, forward, right, above, NULL);
  for (int i = 0; i < 3; ++i) {
    direction[i] = forward[i] + tangent * (x * aspect * right[i] + y * above[i]);
  }
}

// ---- rays

// Does the line meet the box nearer than `nearest`? Slab by slab.
static int hit_box(const double o[3], const double d[3], const double lo[3], const double hi[3], double nearest) {
  double from = 0, to = nearest;
  for (int i = 0; i < 3; ++i) {
    double a = (lo[i] - o[i]) / d[i], b = (hi[i] - o[i]) / d[i];
    if (d[i] == 0) {
      if (o[i] < lo[i] || o[i] > hi[i]) {
        return 0;
      }
      continue;
    }
    from = fmax(from, fmin(a, b));
    to = fmin(to, fmax(a, b));
  }
  return from <= to;
}

// Where the line meets a triangle, from its front or from both sides, INFINITY: nowhere. (Möller and Trumbore's
// barycentric test.)
static double hit_triangle(const double o[3], const double d[3], double p[3][3], int both) {
  double u[3], v[3], s[3], h[3], q[3];
  for (int i = 0; i < 3; ++i) {
    u[i] = p[1][i] - p[0][i], v[i] = p[2][i] - p[0][i], s[i] = o[i] - p[0][i];
  }
  tribo_cross3(h, d, v);
  const double det = tribo_dot3(u, h);
  if (!(both ? det != 0 : det > 0)) {
    return INFINITY;
  }
  tribo_cross3(q, s, u);
  const double a = tribo_dot3(s, h) / det, b = tribo_dot3(d, q) / det, t = tribo_dot3(v, q) / det;
  return a >= 0 && b >= 0 && a + b <= 1 && t > 0 ? t : INFINITY;
}

// The line in the frame of an instance, and the nearest of its triangles there. Marks are made fatter, or nobody would
// hit an arrow.
static double hit_instance(const TriboDrawList* list, const TriboDrawInstance* instance, const double o[3],
                           const double d[3]) {
  double from[3], origin[3], direction[3], nearest = INFINITY;
  for (int i = 0; i < 3; ++i) {
    from[i] = o[i] - instance->position[i];
  }
  tribo_quat_rotate_back(origin, instance->quaternion, from);
  tribo_quat_rotate_back(direction, instance->quaternion, d);
  if (instance->mesh == TRIBO_MESH_PLANE) {
    return direction[2] < 0 && origin[2] > 0 ? -origin[2] / direction[2] : INFINITY;
  }
  const double thickening = instance->overlay ? 2 : 1;
  const TriboDrawMesh* mesh = &list->set.meshes[instance->mesh];
  const unsigned* index = list->set.indices + mesh->first_index;
  const TriboDrawVertex* vertices = list->set.vertices + mesh->first_vertex;
  const float* s = instance->scale;
  for (int t = 0; t < mesh->nindex; t += 3) {
    double p[3][3];
    for (int k = 0; k < 3; ++k) {
      const TriboDrawVertex* v = &vertices[index[t + k]];
      p[k][0] = thickening * v->xyz[0] * s[0], p[k][1] = thickening * v->xyz[1] * s[1];
      p[k][2] = (double)v->xyz[2] * s[2] + (double)v->w * s[3];
    }
    nearest = fmin(nearest, hit_triangle(origin, direction, p, mesh->open));
  }
  return nearest;
}

int tribo_view_pick(const TriboDrawList* list, const double origin[3], const double direction[3], TriboHit* hit) {
  double nearest = INFINITY, nearest_contact = INFINITY;
  int found = 0;
  *hit = (TriboHit){.shape = -1, .body = TRIBO_WORLD, .contact = -1};
  for (int k = 0; k < list->ninstance; ++k) {
    const TriboDrawInstance* instance = &list->instances[k];
    double lo[3], hi[3];
    if (instance->overlay && instance->of < 0) {
      continue;
    }
    // through a glass wall one means what is behind it
    if (!instance->overlay && instance->color[3] < 1 && instance->body == TRIBO_WORLD) {
      continue;
    }
    if (!instance->overlay && instance->mesh != TRIBO_MESH_PLANE) {
      tribo_view_list_box(list, instance, lo, hi);
      if (!hit_box(origin, direction, lo, hi, nearest)) {
        continue;
      }
    }
    const double t = hit_instance(list, instance, origin, direction);
    if (instance->overlay && t < nearest_contact) {
      nearest_contact = t;
      hit->contact = instance->of;
    } else if (!instance->overlay && t < nearest) {
      nearest = t;
      hit->shape = instance->of;
      hit->body = instance->body;
      found = 1;
    }
  }
  hit->distance = hit->contact >= 0 ? nearest_contact : nearest;
  if (isfinite(hit->distance)) {
    for (int i = 0; i < 3; ++i) {
      hit->point[i] = origin[i] + hit->distance * direction[i];
    }
  }
  if (hit->contact >= 0) {
    hit->shape = -1;
    hit->body = TRIBO_WORLD;
  }
  return found || hit->contact >= 0;
}

// ---- contacts

const char* tribo_view_contact_name(const TriboModel* model, int body, int shape) {
  return body != TRIBO_WORLD ? tribo_model_body(model, body)->name
         : shape >= 0        ? tribo_model_shape(model, shape)->name
                             : "world";
}

static double column_value(const TriboContactView* c, TriboContactColumn column) {
  switch (column) {
    case TRIBO_COLUMN_BODIES: return 1e6 * c->body_a + c->body_b;
    case TRIBO_COLUMN_MODE: return c->mode;
    case TRIBO_COLUMN_FORCE: return tribo_norm3(c->force);
    case TRIBO_COLUMN_NORMAL_FORCE: return tribo_dot3(c->force, c->normal);
    case TRIBO_COLUMN_GAP: return c->gap;
    case TRIBO_COLUMN_ISLAND: return c->island;
    default: return 0;
  }
}

// Shell's gaps, each pass by insertion; equal values compare by their place, so the order is one and only.
void tribo_view_contacts_sort(const TriboDrawFacts* facts, TriboContactColumn column, int descending, int* order) {
  const int n = facts->ncontact;
  const double sign = descending ? -1 : 1;
  for (int i = 0; i < n; ++i) {
    order[i] = i;
  }
  for (int gap = n / 2; gap > 0; gap /= 2) {
    for (int i = gap; i < n; ++i) {
      const int moved = order[i];
      const double value = sign * column_value(&facts->contacts[moved], column);
      int k = i;
      for (; k >= gap; k -= gap) {
        const double other = sign * column_value(&facts->contacts[order[k - gap]], column);
        if (other < value || (other == value && order[k - gap] < moved)) {
          break;
        }
        order[k] = order[k - gap];
      }
      order[k] = moved;
    }
  }
}
