// The rigid bodies of the balance (balance.c): which there are, and how they move at a state.
#include "data_impl.h"

#include <string.h>

#include "math3.h"

static const TriboTreeInfo* tree_of(const TriboModel* model, const BalanceBlock* block) {
  return tribo_dyn_tree_info(model->mechanism.trees[block->tree].tree);
}

// ---- what the model fixes ------------------------------------------------------------------------------------------

static void symmetric(const double six[6], double out[9]) {
  const double xx = six[0], yy = six[1], zz = six[2], xy = six[3], xz = six[4], yz = six[5];
  memcpy(out, (double[9]){xx, xy, xz, xy, yy, yz, xz, yz, zz}, 9 * sizeof *out);
}

static void prepare_free(const TriboModel* model, BalanceWork* work, int body, BalanceBlock* block) {
  const TriboBodyInfo* info = &model->mechanism.bodies[body];
  BalanceBody* out = &work->bodies[work->nbody++];
  *out = (BalanceBody){.body = body, .mass = info->mass};
  symmetric(info->inertia, out->inertia);
  block->tree = -1, block->count = 1;
  block->q_at = info->q_at, block->v_at = info->v_at, block->nq = 7, block->nv = 6;
  block->root = body, block->root_v = info->v_at;
}

static void prepare_tree(const TriboModel* model, BalanceWork* work, int tree, BalanceBlock* block) {
  const ModelTree* own = &model->mechanism.trees[tree];
  const TriboTreeInfo* info = tribo_dyn_tree_info(own->tree);
  int standing = 0;
  block->tree = tree, block->root = block->root_v = -1;
  block->q_at = own->q_at, block->v_at = own->v_at, block->nq = info->nq, block->nv = info->nv;
  for (int i = 0; i < info->nlink; ++i) {
    const TriboLinkInfo* link = info->links + i;
    if (link->nv == 0) {
      continue;
    }
    if (link->parent < 0 || info->links[link->parent].carrier < 0) {
      standing += link->kind != TRIBO_JOINT_FREE || block->root >= 0;
      block->root = own->first_body + i, block->root_v = own->v_at + link->v_at;
    }
    if (link->moved_mass > 0) {
      BalanceBody* out = &work->bodies[work->nbody++];
      *out = (BalanceBody){.body = own->first_body + i, .mass = link->moved_mass};
      tribo_copy3(out->com, link->moved_com);
      memcpy(out->inertia, link->moved_inertia, sizeof out->inertia);
      block->count++;
    }
  }
  block->root = standing ? -1 : block->root;
}

// What a closure ties to the world does not float.
static void find_closed(const TriboModel* model, TriboData* data) {
  BalanceWork* work = &data->balance;
  const TriboSystemInfo* info = tribo_dyn_system_info(model->mechanism.system);
  for (int i = 0; i < work->nblock; ++i) {
    BalanceBlock* block = &work->blocks[i];
    block->is_closed = block->root >= 0;
    if (block->tie < 0) {
      continue;
    }
    for (int k = 0; k < work->nblock; ++k) {
      block->is_closed &= work->blocks[k].tie != block->tie || work->blocks[k].root >= 0;
    }
    for (int c = 0; c < model->nclosure; ++c) {
      const TriboClosureInfo* closure = &model->mechanism.closures[c];
      const int a = closure->body_a < 0 ? -1 : info->body_block[closure->body_a],
                b = closure->body_b < 0 ? -1 : info->body_block[closure->body_b];
      // (what ties joints has no bodies)
      if ((a < 0) != (b < 0) && tribo_dyn_block_cluster(model->mechanism.system, a < 0 ? b : a) == block->tie) {
        block->is_closed = 0;
      }
    }
  }
}

TriboStatus tribo_balance_prepare(const TriboModel* model, TriboData* data) {
  BalanceWork* work = &data->balance;
  const TriboSystemInfo* info = tribo_dyn_system_info(model->mechanism.system);
  // first those by themselves, then one tie after the other
  int last = -1;
  for (int b = 0; b < info->nblock; ++b) {
    last = last > tribo_dyn_block_cluster(model->mechanism.system, b)
               ? last
               : tribo_dyn_block_cluster(model->mechanism.system, b);
  }
  for (int tie = -1; tie <= last; ++tie) {
    for (int b = 0; b < info->nblock; ++b) {
      if (tribo_dyn_block_cluster(model->mechanism.system, b) != tie) {
        continue;
      }
      BalanceBlock* block = &work->blocks[work->nblock++];
      *block = (BalanceBlock){.block = b, .tie = tie, .first = work->nbody};
      if (b < info->nfree) {
        prepare_free(model, work, b, block);
      } else {
        prepare_tree(model, work, b - info->nfree, block);
      }
    }
  }
  find_closed(model, data);
  return TRIBO_OK;
}

// ---- a state -------------------------------------------------------------------------------------------------------

// How a body moves whose frame is at R and turns with w; x and u are known of a free one.
static double finish_motion(const BalanceBody* body, BodyMotion* m) {
  double local[3], spin[3];
  tribo_mul33tv(local, m->R, m->w);
  tribo_mul33v(spin, body->inertia, local);
  tribo_mul33v(m->l, m->R, spin);
  return 0.5 * (body->mass * tribo_dot3(m->u, m->u) + tribo_dot3(local, spin));
}

// How a link moves, from its frame.
static void carry(const BalanceBody* body, const TriboPose* pose, const TriboTwist* twist, BodyMotion* m) {
  double arm[3], swing[3];
  memcpy(m->R, pose->R, sizeof m->R);
  tribo_copy3(m->w, twist->w);
  tribo_mul33v(arm, pose->R, body->com);
  tribo_add3(m->x, pose->p, arm);
  tribo_cross3(swing, twist->w, arm);
  tribo_add3(m->u, twist->v, swing);
}

// How a free body moves.
static void read_free(const double q[7], const double v[6], BodyMotion* m) {
  double unit[4] = {q[3], q[4], q[5], q[6]};
  tribo_quat_normalize(unit);
  tribo_quat_to_mat(m->R, unit);
  tribo_copy3(m->x, q);
  tribo_copy3(m->u, v);
  tribo_mul33v(m->w, m->R, v + 3);
}

// All bodies at q and v, and the kinetic energies of their blocks.
TriboStatus tribo_balance_evaluate(const TriboModel* model, TriboData* data, const double* q, const double* v,
                                   MotionState* state) {
  BalanceWork* work = &data->balance;
  if (model->mechanism.ntree > 0) {
    TRIBO_TRY(tribo_dyn_kinematics(model->mechanism.system, data->dynamics, q, v, work->poses, work->twists));
  }
  for (int b = 0; b < work->nblock; ++b) {
    const BalanceBlock* block = &work->blocks[b];
    double sum = 0;
    for (int i = block->first; i < block->first + block->count; ++i) {
      const BalanceBody* body = &work->bodies[i];
      BodyMotion* m = &state->bodies[i];
      if (block->tree < 0) {
        read_free(q + block->q_at, v + block->v_at, m);
      } else {
        carry(body, &work->poses[body->body], &work->twists[body->body], m);
      }
      sum += finish_motion(body, m);
    }
    const double* armature = block->tree < 0 ? NULL : tree_of(model, block)->armature;
    if (armature != NULL) {
      for (int k = 0; k < block->nv; ++k) {
        sum += 0.5 * armature[k] * v[block->v_at + k] * v[block->v_at + k];
      }
    }
    state->kinetic[b] = sum;
  }
  state->has_bodies = 1;
  return TRIBO_OK;
}
