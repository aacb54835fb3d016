#include "solver.h"
void tribo_sol_run_interior(TriboSolver* s) { (void)s; }
void tribo_sol_run_auto(TriboSolver* s) { tribo_sol_run_newton(s); }
