/* What a run says in numbers. */
#ifndef FIGURES_H
#define FIGURES_H

#include "run.h"

/*
 * Prints the run as one JSON object on standard output, times in nanoseconds,
 * in the shape of `sixnines run --json`, and complains of messages that were
 * not received once, in order and unharmed. False if there were any.
 */
bool print_result(const struct run *r);

#endif
