// The lab as one HTML page that needs nothing else: what each scene says, its facts, and plots of what they are about.
#pragma once

#include "simulate.h"

typedef struct LabPage LabPage;
LabPage* lab_page_open(void);                        // NULL: no memory
int lab_page_watch(LabPage* page, Simulation* sim);  // before a run, after its judge is made: what to plot. 0: failed
void lab_page_scene(LabPage* page, const Simulation* sim, const char* name);  // after it
// Writes the page. 0 when that failed, complained about already.
int lab_page_close(LabPage* page, const char* path, const char* summary);
