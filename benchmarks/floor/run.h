/* One measurement: its parameters, its arrays and what was counted. */
#ifndef RUN_H
#define RUN_H

#include "crc32c.h"
#include "wire.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
	ENVELOPE = 32, /* bytes; the smallest payload */
	MAX_SUBJECT = 256,
	MAX_PAYLOAD = 64 << 20, /* the largest max_payload a server accepts */
};

struct options {
	const char *host;
	const char *port;
	const char *subject;
	uint64_t rate;       /* messages a second */
	size_t size;         /* bytes of payload */
	int64_t duration_ns; /* the window */
	int64_t warmup_ns;   /* before it */
	bool checksum;
};

struct run {
	const struct options *o;
	struct connection pub, sub;
	crc_function *crc;
	const char *crc_name;
	uint32_t id;
	uint32_t body_crc;
	uint64_t total; /* messages of warm-up and window */
	uint64_t first; /* the first one of the window */
	int64_t t0;

	/* By sequence number. The publisher writes nothing here: what is kept is
	 * what the message itself brought back. received 0 is "not yet". */
	int64_t *intended, *sent, *received;
	uint64_t arrived, corrupted, duplicated, reordered, foreign;

	/* Set by the publisher when it has ended, read by the reader. */
	_Atomic int64_t ended; /* the instant, or 0 */
	atomic_bool failed;
	uint64_t handed; /* messages sent; read after the publisher was joined */
};

/* Allocates and touches everything, connects twice and subscribes. o, total,
 * first and crc are set by the caller. */
bool run_prepare(struct run *r);

/* Publishes and receives everything. False where nothing can be said of the
 * result; messages missing or harmed are left to the counters. */
bool run_measure(struct run *r);

/* Every message came back once, in order and unharmed. */
bool run_intact(const struct run *r);

#endif
