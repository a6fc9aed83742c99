/* One measurement: its parameters, its arrays and what was counted. */
#ifndef RUN_H
#define RUN_H

#include "connection.h"
#include "crc32c.h"
#include "schedule.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
	ENVELOPE = 32, /* bytes; the smallest payload */
	MAX_SUBJECT = 256,
	MAX_PAYLOAD = 64 << 20, /* the largest max_payload that a NATS server accepts */
	MAX_CONNECTIONS = 1024, /* of each kind */
};

struct options {
	const char *host;
	const char *port;
	const char *subject;
	struct load load;
	size_t size;         /* bytes of payload */
	int64_t duration_ns; /* the window */
	int64_t warmup_ns;   /* before it */
	unsigned fanout;     /* subscribers of each subject */
	bool checksum;
};

/* A subject, the connection that publishes to it, and its schedule. */
struct producer {
	struct run *run;
	struct connection c;
	char subject[MAX_SUBJECT + 16];
	uint32_t id;          /* of this subject in this run, in every envelope */
	uint64_t total, first; /* messages of warm-up and window; the first one of the window */
	int64_t *due;         /* from t0, by sequence number */
	uint64_t handed;      /* messages sent; read after the thread was joined */
	_Atomic int64_t ended; /* the instant, or 0 */
};

/* A subscriber to the subject of a producer, and what it received, by sequence
 * number. What is kept is what the message itself brought. */
struct subscriber {
	struct producer *of;
	struct connection c;
	int64_t *sent, *received; /* received 0 is "not yet" */
	uint64_t expected;        /* one above the highest sequence number so far */
	uint64_t arrived, corrupted, duplicated, reordered, foreign;
};

struct run {
	const struct options *o;
	crc_function *crc;
	const char *crc_name;
	unsigned char *body; /* of every message */
	uint32_t body_crc;
	int64_t t0;
	struct producer *producers;     /* load.divided of them */
	struct subscriber *subscribers; /* fanout for each producer, one after the other */
	uint64_t total, first;          /* as of producers, summed */
};

/* Computes the schedule and allocates everything; total and first are known
 * afterwards. False where the load has no message in the window or too many. */
bool run_plan(struct run *r);

/* Connects, subscribes, publishes and receives everything. Messages missing or
 * harmed are left to the counters; any other failure ends the process. */
void run_measure(struct run *r);

#endif
