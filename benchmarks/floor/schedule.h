/* When the messages of a connection are due. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdint.h>

struct load {
	uint64_t rate;      /* messages a second, over all connections */
	unsigned divided;   /* over so many connections */
	int64_t length_ns;  /* of warm-up and window */
	int poisson;        /* 0: constant */
	uint64_t seed;      /* of Poisson arrivals */
};

/*
 * Counts the messages of one connection, and writes when each is due to due
 * unless that is NULL: nanoseconds from t0, below length_ns.
 *
 * Constant: message n of the whole load is due at floor(n * 1e9 / rate), exact
 * for every n, and belongs to connection n mod divided, so that the connections
 * are staggered. Poisson: each connection has a stream of its own, with
 * exponential gaps of mean divided / rate. Sixnines divides a load likewise.
 */
uint64_t schedule(const struct load *l, unsigned connection, int64_t *due);

#endif
