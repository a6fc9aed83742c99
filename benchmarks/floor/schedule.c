#include "schedule.h"
#include "clock.h"

#include <math.h>
#include <stddef.h>

static uint64_t constant(const struct load *l, unsigned connection, int64_t *due)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t count = 0;
	for (uint64_t n = connection;; n += l->divided, count++) {
		int64_t at = (int64_t)((wide)n * (wide)SECOND / l->rate);
		if (at >= l->length_ns)
			return count;
		if (due)
			due[count] = at;
	}
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t poisson(const struct load *l, unsigned connection, int64_t *due)
{
	/* A stream's start is drawn, so that no two streams are shifted copies. */
	uint64_t state = l->seed * UINT64_C(0xda942042e4dd58b5) + connection;
	state = next_random(&state);
	double mean = (double)SECOND * l->divided / (double)l->rate, at = 0;
	uint64_t count = 0;
	for (;; count++) {
		double uniform = ((double)(next_random(&state) >> 11) + 1) * 0x1p-53; /* in (0, 1] */
		at -= mean * log(uniform);
		if (at >= (double)l->length_ns)
			return count;
		if (due)
			due[count] = (int64_t)at;
	}
}

uint64_t schedule(const struct load *l, unsigned connection, int64_t *due)
{
	return l->poisson ? poisson(l, connection, due) : constant(l, connection, due);
}
