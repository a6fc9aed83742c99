/* The one clock of this program, and the schedule on it. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

/* CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

/* Offset of message n from t0: floor(n * 1e9 / rate), exact for every n. */
static inline int64_t due_ns(uint64_t n, uint64_t rate)
{
	__extension__ typedef unsigned __int128 wide;
	return (int64_t)((wide)n * (wide)SECOND / rate);
}

/* The number of messages due before offset ns: ceil(ns * rate / 1e9). */
static inline uint64_t due_before(int64_t ns, uint64_t rate)
{
	__extension__ typedef unsigned __int128 wide;
	return (uint64_t)(((wide)ns * rate + (wide)SECOND - 1) / (wide)SECOND);
}

#endif
