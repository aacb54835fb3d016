// What acts on a body. All of it together is how its momentum has changed in the last step; gravity and contacts are
// known one by one, and what is left is done by joints, motors, closures, springs, forces of the scene and the mouse.
#include "list.h"

void tribo_view_contact_wrench(const TriboDrawFacts* facts, int body, double force[3], double torque[3]) {
  double centre[3], arm[3], t[3];
  tribo_view_body_centre(facts, body, centre);
  memset(force, 0, 3 * sizeof(double));
  memset(torque, 0, 3 * sizeof(double));
  for (int c = 0; c < facts->ncontact; ++c) {
    const TriboContactView* contact = &facts->contacts[c];
    const double sign = (contact->body_b == body) - (contact->body_a == body);
    for (int i = 0; i < 3; ++i) {
      arm[i] = contact->point[i] - centre[i];
    }
    tribo_cross3(t, arm, contact->force);
    for (int i = 0; i < 3; ++i) {
      force[i] += sign * contact->force[i], torque[i] += sign * t[i];
    }
  }
}

// m v, and R I Rᵀω about the centre of mass.
TriboStatus tribo_view_momenta(const TriboModel* model, TriboData* data, double* out) {
  TriboView quaternion, velocity, omega;
  VIEW_TRY_ENGINE(tribo_data_view(model, data, TRIBO_FIELD_QUATERNION, &quaternion));
  VIEW_TRY_ENGINE(tribo_data_view(model, data, TRIBO_FIELD_VELOCITY, &velocity));
  VIEW_TRY_ENGINE(tribo_data_view(model, data, TRIBO_FIELD_OMEGA, &omega));
  for (int b = 0; b < tribo_model_size(model).nbody; ++b) {
    const TriboBodyInfo* body = tribo_model_body(model, b);
    const double *q = quaternion.values + 4 * b, *I = body->inertia;
    double w[3], *momentum = out + 6 * b;
    tribo_quat_rotate_back(w, q, omega.values + 3 * b);
    const double local[3] = {I[0] * w[0] + I[3] * w[1] + I[4] * w[2], I[3] * w[0] + I[1] * w[1] + I[5] * w[2],
                             I[4] * w[0] + I[5] * w[1] + I[2] * w[2]};
    for (int i = 0; i < 3; ++i) {
      momentum[i] = body->mass * velocity.values[3 * b + i];
    }
    tribo_quat_rotate(momentum + 3, q, local);
  }
  return TRIBO_OK;
}

int tribo_view_body_forces(const TriboDrawFacts* facts, int body, TriboBodyForces* out) {
  *out = (TriboBodyForces){0};
  tribo_view_contact_wrench(facts, body, out->contacts, out->contacts + 3);
  for (int i = 0; i < 3; ++i) {
    out->gravity[i] = tribo_model_body(facts->model, body)->mass * tribo_model_world(facts->model)->gravity[i];
  }
  if (facts->net == NULL) {
    return 0;
  }
  for (int i = 0; i < 6; ++i) {
    out->net[i] = facts->net[6 * body + i];
    out->others[i] = out->net[i] - out->contacts[i] - out->gravity[i];
  }
  return 1;
}
