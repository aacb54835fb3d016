// Making trees, from links in memory and from robot files: a robot and its tools become one list of links.
#include "tree/tree_model.h"

#include "pool.h"

// ---- building ------------------------------------------------------------------------------------------------------

TriboStatus tribo_dyn_tree_build(const TriboLinkDef* links, int nlink, TriboTree** out) {
  if (links == NULL || out == NULL || nlink < 1) {
    return tribo_fail(TRIBO_INVALID, "tribo_dyn_tree_build: links or out is NULL, or nlink (%d) is below 1", nlink);
  }
  *out = NULL;
  TriboStatus status = tribo_dyn_check_links(links, nlink);
  if (status == TRIBO_OK) {
    status = tribo_pin_tree_create(links, nlink, NULL, out);
  }
  if (status != TRIBO_OK) {
    tribo_fail_prefix("tribo_dyn_tree_build: ");
  }
  return status;
}

// ---- files ---------------------------------------------------------------------------------------------------------

// What several files say, one after the other.
typedef struct Joined {
  TriboPool pool;
  TriboRobotFile all;
  TriboLinkDef* links;
  TriboTreeGeom *geoms, *visuals;
  TriboTreeMimic* mimics;
  int (*disabled)[2];
  const char** states;
  TriboRobotValue* values;
} Joined;

static TriboStatus reserve(Joined* j, const TriboRobotFile* const* files, int nfile) {
  size_t n[7] = {0};
  for (int i = 0; i < nfile; ++i) {
    const int counts[7] = {files[i]->nlink,     files[i]->ngeom,  files[i]->nvisual, files[i]->nmimic,
                           files[i]->ndisabled, files[i]->nstate, files[i]->nvalue};
    for (int k = 0; k < 7; ++k) {
      n[k] += (size_t)counts[k];
    }
  }
  j->all.links = j->links = tribo_pool_alloc(&j->pool, n[0], sizeof *j->links);
  j->all.geoms = j->geoms = tribo_pool_alloc(&j->pool, n[1], sizeof *j->geoms);
  j->all.visuals = j->visuals = tribo_pool_alloc(&j->pool, n[2], sizeof *j->visuals);
  j->all.mimics = j->mimics = tribo_pool_alloc(&j->pool, n[3], sizeof *j->mimics);
  j->disabled = tribo_pool_alloc(&j->pool, n[4], sizeof *j->disabled);
  j->all.disabled = (const int(*)[2])j->disabled;
  j->all.states = j->states = tribo_pool_alloc(&j->pool, n[5], sizeof *j->states);
  j->all.values = j->values = tribo_pool_alloc(&j->pool, n[6], sizeof *j->values);
  return j->links != NULL && j->geoms != NULL && j->visuals != NULL && j->mimics != NULL && j->disabled != NULL &&
                 j->states != NULL && j->values != NULL
             ? TRIBO_OK
             : tribo_no_memory("for the links of a robot");
}

static const char* named(Joined* j, const TriboUrdfDef* def, const char* name) {
  return tribo_pool_format(&j->pool, "%s%s", def->prefix != NULL ? def->prefix : "", name);
}

static TriboStatus find_carrier(const Joined* j, const TriboUrdfDef* def, int* parent) {
  for (int i = 0; i < j->all.nlink; ++i) {
    if (strcmp(j->links[i].name, def->parent) == 0) {
      *parent = i;
      return TRIBO_OK;
    }
  }
  return tribo_fail(TRIBO_NOT_FOUND, "%s: there is no link '%s' to attach it to", def->urdf, def->parent);
}

// Appends the links, shapes, pairs and poses of one file, named with its prefix; a tool hangs on a link of an earlier
// one.
static TriboStatus join(Joined* j, const TriboUrdfDef* def, const TriboRobotFile* file, int index) {
  TriboRobotFile* all = &j->all;
  const int first = all->nlink, first_state = all->nstate;
  int carrier = -1, known = 1;
  if (index > 0) {
    TRIBO_TRY(find_carrier(j, def, &carrier));
  }
  for (int i = 0; i < file->nlink; ++i) {
    TriboLinkDef* link = &j->links[all->nlink++];
    *link = file->links[i];
    link->file = index;
    link->parent = link->parent < 0 ? carrier : link->parent + first;
    link->name = named(j, def, file->links[i].name);
    link->joint_name = named(j, def, link->joint_name != NULL ? link->joint_name : file->links[i].name);
    known = known && link->name != NULL && link->joint_name != NULL;
  }
  for (int i = 0; i < file->ngeom; ++i) {
    j->geoms[all->ngeom] = file->geoms[i];
    j->geoms[all->ngeom++].link += first;
  }
  for (int i = 0; i < file->nvisual; ++i) {
    j->visuals[all->nvisual] = file->visuals[i];
    j->visuals[all->nvisual++].link += first;
  }
  for (int i = 0; i < file->nmimic; ++i) {
    TriboTreeMimic* mimic = &j->mimics[all->nmimic++];
    *mimic = file->mimics[i];
    mimic->joint = named(j, def, mimic->joint);
    mimic->of = named(j, def, mimic->of);
    known = known && mimic->joint != NULL && mimic->of != NULL;
  }
  for (int i = 0; i < file->ndisabled; ++i) {
    j->disabled[all->ndisabled][0] = file->disabled[i][0] + first;
    j->disabled[all->ndisabled++][1] = file->disabled[i][1] + first;
  }
  for (int i = 0; i < file->nstate; ++i) {
    j->states[all->nstate] = named(j, def, file->states[i]);
    known = known && j->states[all->nstate++] != NULL;
  }
  for (int i = 0; i < file->nvalue; ++i) {
    TriboRobotValue* value = &j->values[all->nvalue++];
    *value = file->values[i];
    value->state += first_state;
    value->joint = named(j, def, value->joint);
    known = known && value->joint != NULL;
  }
  return known ? TRIBO_OK : tribo_no_memory("for the links of a robot");
}

static TriboStatus load(const TriboUrdfDef* defs, int ndef, const TriboRobotFile** files, Joined* j, TriboTree** out) {
  for (int i = 0; i < ndef; ++i) {
    TriboUrdfDef def = defs[i];
    def.free_base = i == 0 ? def.free_base : 0;
    TRIBO_TRY(tribo_pin_robot_read(&def, &files[i]));
  }
  TRIBO_TRY(reserve(j, files, ndef));
  j->all.base = files[0]->base;
  for (int i = 0; i < ndef; ++i) {
    TRIBO_TRY(join(j, &defs[i], files[i], i));
  }
  TriboStatus status = tribo_dyn_check_links(j->links, j->all.nlink);
  if (status == TRIBO_OK) {
    status = tribo_pin_tree_create(j->links, j->all.nlink, &j->all, out);
  }
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s: ", defs[0].urdf);
  }
  return status;
}

TriboStatus tribo_dyn_tree_load_urdfs(const TriboUrdfDef* defs, int ndef, TriboTree** out) {
  if (defs == NULL || out == NULL || ndef < 1) {
    return tribo_fail(TRIBO_INVALID, "tribo_dyn_tree_load_urdf: def or out is missing");
  }
  *out = NULL;
  for (int i = 0; i < ndef; ++i) {
    if (defs[i].urdf == NULL || defs[i].npackage_dir < 0 ||
        (defs[i].npackage_dir > 0 && defs[i].package_dirs == NULL) || (defs[i].parent != NULL) != (i > 0)) {
      return tribo_fail(TRIBO_INVALID, "tribo_dyn_tree_load_urdf: urdf, package_dirs or parent of file %d is missing",
                        i);
    }
    TRIBO_TRY(tribo_dyn_check_pose("tribo_dyn_tree_load_urdf: base", &defs[i].base));
  }
  Joined joined = {.all = {.nlink = 0}};
  const TriboRobotFile** files = tribo_pool_alloc(&joined.pool, (size_t)ndef, sizeof *files);
  TriboStatus status =
      files != NULL ? load(defs, ndef, files, &joined, out) : tribo_no_memory("for %d robot files", ndef);
  if (files != NULL) {
    for (int i = 0; i < ndef; ++i) {
      tribo_pin_robot_free(files[i]);
    }
  }
  tribo_pool_clear(&joined.pool);
  return status;
}

TriboStatus tribo_dyn_tree_load_urdf(const TriboUrdfDef* def, TriboTree** out) {
  return tribo_dyn_tree_load_urdfs(def, 1, out);
}

void tribo_dyn_tree_destroy(TriboTree* tree) {
  tribo_pin_tree_destroy(tree);
}

const TriboTreeInfo* tribo_dyn_tree_info(const TriboTree* tree) {
  return tribo_pin_tree_info(tree);
}
