// Ctrl-C while something long runs: it ends at its next look instead of in the middle of a file.
#pragma once

// May be nested; the outermost forgets an interrupt of the past, and the last to end gives Ctrl-C its old meaning.
void interrupt_watch(void);
void interrupt_unwatch(void);
// Whether there was one since the outermost watch began; still true after it has ended.
int interrupt_seen(void);
