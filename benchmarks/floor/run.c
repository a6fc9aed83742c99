#define _GNU_SOURCE
#include "run.h"
#include "clock.h"
#include "complain.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * The envelope, first in every payload, as long as Sixnines' own and
 * checksummed the same way: over the body first, then over bytes 0 to 27, so
 * that a sender with a fixed body computes 28 bytes a message.
 */
enum {
	OFF_SEQUENCE = 0,  /* u64 */
	OFF_INTENDED = 8,  /* i64 */
	OFF_SENT = 16,     /* i64 */
	OFF_RUN = 24,      /* u32, so that another run's message is not taken for ours */
	OFF_CHECKSUM = 28, /* u32, CRC-32C, or zero without --checksum */
};

static const int64_t LEAD_NS = SECOND / 10; /* from the last preparation to t0 */
static const int64_t DRAIN_NS = 5 * SECOND; /* without news after the last message */

static void put32(unsigned char *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static void put64(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static uint32_t get32(const unsigned char *p)
{
	uint32_t v = 0;
	for (int i = 3; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static uint64_t get64(const unsigned char *p)
{
	uint64_t v = 0;
	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static bool allocate(struct run *r)
{
	size_t bytes = r->total * sizeof(int64_t);
	int64_t **arrays[] = {&r->intended, &r->sent, &r->received};
	for (int i = 0; i < 3; i++) {
		int64_t *a = malloc(bytes);
		if (!a) {
			complain("no memory for %" PRIu64 " messages", r->total);
			return false;
		}
		/* Not calloc: the pages must be there before the first message is. */
		memset(a, 0xff, bytes);
		memset(a, 0, bytes);
		*arrays[i] = a;
	}
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	r->id = (uint32_t)t.tv_nsec ^ (uint32_t)t.tv_sec << 8 ^ (uint32_t)getpid() << 20;
	return true;
}

/* Between two messages: answers a PING on the publisher's connection, and
 * notices an error, without waiting for either. */
static bool serve_publisher(struct run *r)
{
	struct frame f;
	int got;
	while ((got = read_more(&r->pub, MSG_DONTWAIT)) > 0)
		for (;;) {
			if (!next_frame(&r->pub, &f))
				return false;
			if (f.kind == FRAME_NONE)
				break;
			if (!answer(&r->pub, &f))
				return false;
		}
	return got == 0;
}

static bool publish_all(struct run *r)
{
	const struct options *o = r->o;
	char head[MAX_SUBJECT + 64];
	int head_length = snprintf(head, sizeof head, "PUB %s %zu\r\n", o->subject, o->size);
	size_t length = (size_t)head_length + o->size + 2;
	unsigned char *frame = malloc(length);
	if (!frame) {
		complain("no memory for a frame");
		return false;
	}
	unsigned char *envelope = frame + head_length, *body = envelope + ENVELOPE;
	memcpy(frame, head, (size_t)head_length);
	memset(envelope, 0, ENVELOPE);
	for (size_t i = 0; i < o->size - ENVELOPE; i++)
		body[i] = (unsigned char)(i * 131 + 7);
	memcpy(frame + length - 2, "\r\n", 2);
	put32(envelope + OFF_RUN, r->id);
	if (o->checksum)
		r->body_crc = r->crc(0, body, o->size - ENVELOPE);

	bool good = true;
	for (uint64_t n = 0; n < r->total && good; n++) {
		int64_t intended = r->t0 + due_ns(n, o->rate);
		struct timespec due = {.tv_sec = intended / SECOND, .tv_nsec = intended % SECOND};
		/* Once in a second of the schedule: a server's PING may wait for minutes,
		 * and a system call before each message would be a cost of ours. */
		if (n % o->rate == o->rate - 1)
			good = serve_publisher(r);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		put64(envelope + OFF_SEQUENCE, n);
		put64(envelope + OFF_INTENDED, (uint64_t)intended);
		int64_t sent = now_ns();
		put64(envelope + OFF_SENT, (uint64_t)sent);
		if (o->checksum)
			put32(envelope + OFF_CHECKSUM, r->crc(r->body_crc, envelope, OFF_CHECKSUM));
		good = good && send_all(&r->pub, frame, length);
		if (good)
			r->handed = n + 1;
	}
	free(frame);
	return good && round_trip(&r->pub);
}

static void *publisher(void *argument)
{
	struct run *r = argument;
	/* Timer slack is the kernel's leave to wake us late, by default 50 us. */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	if (!publish_all(r)) {
		serve_publisher(r); /* a server says why before it closes */
		atomic_store(&r->failed, true);
	}
	atomic_store(&r->ended, now_ns());
	return NULL;
}

/* The message was stamped by the caller; what follows is no longer timed, as
 * far as this message is concerned. */
static void record(struct run *r, const struct frame *f, int64_t received, uint64_t *expected)
{
	const unsigned char *p = f->payload;
	if (f->payload_length != r->o->size) {
		r->foreign++;
		return;
	}
	if (r->o->checksum) {
		uint32_t crc = r->crc(0, p + ENVELOPE, r->o->size - ENVELOPE);
		if (r->crc(crc, p, OFF_CHECKSUM) != get32(p + OFF_CHECKSUM)) {
			r->corrupted++;
			return;
		}
	}
	if (get32(p + OFF_RUN) != r->id) {
		r->foreign++;
		return;
	}
	uint64_t n = get64(p + OFF_SEQUENCE);
	int64_t intended = (int64_t)get64(p + OFF_INTENDED);
	if (n >= r->total || intended != r->t0 + due_ns(n, r->o->rate)) {
		r->corrupted++;
		return;
	}
	if (r->received[n] != 0) {
		r->duplicated++;
		return;
	}
	/* RFC 4737: below the next expected one, which late copies do not move. */
	if (n < *expected)
		r->reordered++;
	else
		*expected = n + 1;
	r->intended[n] = intended;
	r->sent[n] = (int64_t)get64(p + OFF_SENT);
	r->received[n] = received;
	r->arrived++;
}

/* Whatever the server sent behind the last message, a second copy for
 * instance, comes before the answer to a PING sent now. */
static bool read_stragglers(struct run *r, uint64_t *expected)
{
	struct frame f;
	int64_t limit = now_ns() + DRAIN_NS;
	if (!send_all(&r->sub, "PING\r\n", 6))
		return false;
	while (now_ns() < limit) {
		if (!next_frame(&r->sub, &f))
			return false;
		if (f.kind == FRAME_PONG)
			return true;
		if (f.kind == FRAME_MSG)
			record(r, &f, now_ns(), expected);
		else if (f.kind == FRAME_NONE ? read_more(&r->sub, 0) < 0 : !answer(&r->sub, &f))
			return false;
	}
	complain("subscriber: no answer from the server at the end");
	return false;
}

/* Reads until everything has arrived, the publisher failed, or nothing has
 * completed the run DRAIN_NS after the last message was handed over. */
static bool read_all(struct run *r)
{
	struct frame f;
	uint64_t expected = 0;
	while (r->arrived < r->total) {
		if (!next_frame(&r->sub, &f))
			return false;
		if (f.kind == FRAME_MSG) {
			record(r, &f, now_ns(), &expected);
			continue;
		}
		if (f.kind != FRAME_NONE) {
			if (!answer(&r->sub, &f))
				return false;
			continue;
		}
		int got = read_more(&r->sub, 0);
		if (got < 0)
			return false;
		if (got == 0) {
			if (atomic_load(&r->failed))
				return false;
			int64_t ended = atomic_load(&r->ended);
			if (ended != 0 && now_ns() - ended > DRAIN_NS)
				return true;
		}
	}
	return read_stragglers(r, &expected);
}

bool run_prepare(struct run *r)
{
	const struct options *o = r->o;
	char line[MAX_SUBJECT + 16];
	int n = snprintf(line, sizeof line, "SUB %s 1\r\n", o->subject);
	return allocate(r) && connect_to(&r->sub, "subscriber", o->host, o->port, o->size) &&
	       connect_to(&r->pub, "publisher", o->host, o->port, o->size) &&
	       send_all(&r->sub, line, (size_t)n) && round_trip(&r->sub);
}

bool run_measure(struct run *r)
{
	pthread_t thread;
	r->t0 = now_ns() + LEAD_NS;
	if (pthread_create(&thread, NULL, publisher, r) != 0) {
		complain("pthread_create failed");
		return false;
	}
	bool complete = read_all(r);
	if (!complete) /* the publisher may sit in a send that nobody takes any more */
		shutdown(r->pub.fd, SHUT_RDWR);
	pthread_join(thread, NULL);
	return complete && !atomic_load(&r->failed);
}

bool run_intact(const struct run *r)
{
	return r->arrived == r->total && r->corrupted + r->duplicated + r->reordered + r->foreign == 0;
}
