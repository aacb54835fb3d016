// Filling a draw list with a state: the facts behind the picture, the bodies, and what is drawn over them.
#include "list.h"

// Bodies that have visuals show either these or what collides; the world shows both, but for shapes that are hidden.
static int is_hidden(const TriboDrawList* list, const TriboModel* model, int id, int body, int collision) {
  const int visual = id >= list->nshape;
  if (body != TRIBO_WORLD) {
    return list->has_visuals[body] && visual == collision;
  }
  return visual ? collision : tribo_model_shape(model, id)->hidden && !collision;
}

// Poses, velocities and contacts of the current state, copied.
static TriboStatus gather_facts(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                const TriboDrawOptions* options) {
  static const TriboField fields[] = {TRIBO_FIELD_POSITION, TRIBO_FIELD_QUATERNION, TRIBO_FIELD_VELOCITY,
                                      TRIBO_FIELD_OMEGA};
  TriboDrawFacts* facts = &list->facts;
  const double** out[] = {&facts->position, &facts->quaternion, &facts->velocity, &facts->omega};
  const TriboContactView* contacts;
  int nbody = tribo_model_size(model).nbody, n;
  if (options->contacts != NULL) {
    contacts = options->contacts, n = options->ncontact;
  } else {
    VIEW_TRY_ENGINE(tribo_data_contacts(model, data, &contacts, &n));
  }
  VIEW_TRY(tribo_view_reserve((void**)&list->numbers, &list->number_capacity, 20 * nbody + 1, sizeof(double)));
  VIEW_TRY(tribo_view_reserve((void**)&list->contacts, &list->contact_capacity, n + 1, sizeof *contacts));
  *facts = (TriboDrawFacts){.model = model,
                            .time = tribo_data_time(data),
                            .hash = tribo_data_hash(model, data),
                            .contacts = list->contacts,
                            .ncontact = n};
  if (n > 0) {
    memcpy(list->contacts, contacts, (size_t)n * sizeof *contacts);
  }
  for (int i = 0, at = 0; i < 4; ++i) {
    TriboView view;
    VIEW_TRY_ENGINE(tribo_data_view(model, data, fields[i], &view));
    *out[i] = memcpy(list->numbers + at, view.values, (size_t)view.count * sizeof(double));
    at += view.count;
  }
  list->depths = list->numbers + 13 * nbody;
  if (options->net != NULL) {
    facts->net = memcpy(list->numbers + 14 * nbody, options->net, 6 * (size_t)nbody * sizeof(double));
  }
  return TRIBO_OK;
}

TriboStatus tribo_view_list_fill(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                 const TriboDrawOptions* options) {
  if (list->nshape != tribo_model_size(model).nshape || list->nvisual != tribo_model_size(model).nvisual) {
    return tribo_view_fail(TRIBO_INVALID, "tribo_view_list_fill: the list was made for another model");
  }
  static const TriboDrawOptions plain = {0};
  options = options != NULL ? options : &plain;
  VIEW_TRY(gather_facts(list, model, data, options));
  const Poses poses = {list->facts.position, list->facts.quaternion};
  list->ninstance = 0;
  list->wireframe = options->overlays >> TRIBO_OVERLAY_WIREFRAME & 1;
  const int collision = options->overlays >> TRIBO_OVERLAY_COLLISION & 1;
  for (int i = 0; i < list->nshape + list->nvisual; ++i) {
    TriboDrawInstance instance;
    tribo_view_list_shape(list, model, i, &poses, &instance);
    if (!is_hidden(list, model, i, instance.body, collision)) {
      VIEW_TRY(tribo_view_list_add(list, &instance));
    }
  }
  VIEW_TRY(tribo_view_list_paint(list, model, data, options));
  return tribo_view_list_overlay(list, model, data, &poses, options);
}
