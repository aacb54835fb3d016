// Threads: a loop over items, and a team that goes through the same stages together. Results must not depend on who
// does what, nor on how many there are: threads ≤ 1, or where no thread is to be had, it is the caller alone.
//
// Threads are made when they are first needed and stay, asleep, for whoever asks next; they belong to nobody. Nothing
// is allocated after that. Nobody waits for a thread that does not come: a loop ends without it, a team sets out
// without it. Who waits spins for some microseconds and then sleeps; where spinning has been in vain, as on a machine
// whose processors have other things to do, it spins less.
#pragma once

// fn(i, worker, context) for i in 0 … count−1, on at most `threads` workers; each takes the next item that is left.
typedef void TriboParallelFn(int index, int worker, void* context);
void tribo_parallel_for(int count, int threads, TriboParallelFn* fn, void* context);

// fn(team, worker, context) once for every worker 0 … size−1, all at the same time; size is at most `threads`.
typedef struct TriboTeam TriboTeam;
typedef void TriboTeamFn(TriboTeam* team, int worker, void* context);
void tribo_team_run(int threads, TriboTeamFn* fn, void* context);
int tribo_team_size(const TriboTeam* team);
// Nobody goes on before all workers of the team have come here. What they wrote before, all of them see afterwards.
void tribo_team_wait(TriboTeam* team, int worker);
// 1: worker 0 has waited much longer than it worked, for threads that other programs keep from running. The team had
// better leave the rest to it; others may return early. Teams after this one are refused for a while.
int tribo_team_is_held_up(const TriboTeam* team);
