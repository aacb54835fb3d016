// The switch of the mutants: which line of the library is wrong.
#include <tribo/base.h>

TRIBO_API extern int tribo_mutant;
int tribo_mutant;
