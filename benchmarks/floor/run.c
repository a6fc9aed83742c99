#define _GNU_SOURCE
#include "run.h"
#include "clock.h"
#include "complain.h"
#include "protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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
	OFF_ID = 24,       /* u32, so that another run's or subject's message is not taken for ours */
	OFF_CHECKSUM = 28, /* u32, CRC-32C, or zero without --checksum */
};

static const uint64_t MAX_DELIVERIES = 100000000; /* 16 bytes each, touched beforehand */
static const uint64_t SERVE_EVERY = 64;           /* messages */
static const int64_t LEAD_NS = SECOND / 4;        /* from the last preparation to t0 */
static const int64_t DRAIN_NS = 5 * SECOND;       /* without news after the last message */

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

/* Zeros, which are there before the first message is: calloc promises pages. */
static void *touched(size_t bytes)
{
	void *p = malloc(bytes + 1); /* a connection may have no message at all */
	if (!p)
		die("no memory for %zu bytes", bytes);
	memset(p, 0xff, bytes);
	return memset(p, 0, bytes);
}

bool run_plan(struct run *r)
{
	const struct options *o = r->o;
	const struct load *l = &o->load;
	uint64_t about = (uint64_t)((double)l->rate * (double)l->length_ns / (double)SECOND);
	if (about > MAX_DELIVERIES / o->fanout) {
		complain("rate, durations and fan-out give about %" PRIu64 " times %u deliveries; %" PRIu64 " are possible",
		         about, o->fanout, MAX_DELIVERIES);
		return false;
	}
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	uint32_t id = (uint32_t)t.tv_nsec ^ (uint32_t)t.tv_sec << 8 ^ (uint32_t)getpid() << 20;

	r->producers = touched(l->divided * sizeof *r->producers);
	r->subscribers = touched((size_t)l->divided * o->fanout * sizeof *r->subscribers);
	for (unsigned i = 0; i < l->divided; i++) {
		struct producer *p = &r->producers[i];
		p->run = r;
		p->id = id + i;
		snprintf(p->subject, sizeof p->subject, "%s.%u", o->subject, i);
		p->total = schedule(l, i, NULL);
		p->due = touched(p->total * sizeof *p->due);
		schedule(l, i, p->due);
		while (p->first < p->total && p->due[p->first] < o->warmup_ns)
			p->first++;
		r->total += p->total;
		r->first += p->first;
		for (unsigned k = 0; k < o->fanout; k++) {
			struct subscriber *s = &r->subscribers[i * o->fanout + k];
			s->of = p;
			s->sent = touched(p->total * sizeof *s->sent);
			s->received = touched(p->total * sizeof *s->received);
		}
	}
	if (r->total == r->first) {
		complain("no message of %" PRIu64 " is due in the window", r->total);
		return false;
	}
	size_t length = o->size - ENVELOPE;
	r->body = touched(length);
	for (size_t i = 0; i < length; i++)
		r->body[i] = (unsigned char)(i * 131 + 7);
	if (o->checksum)
		r->body_crc = r->crc(0, r->body, length);
	return true;
}

static void *publish(void *argument)
{
	struct producer *p = argument;
	const struct run *r = p->run;
	const struct options *o = r->o;
	char text[MAX_SUBJECT + 96];
	size_t head_length = (size_t)head(text, sizeof text, p->subject, o->size);
	size_t length = head_length + o->size + 2;
	unsigned char *frame = touched(length), *envelope = frame + head_length;
	memcpy(frame, text, head_length);
	memcpy(envelope + ENVELOPE, r->body, o->size - ENVELOPE);
	memcpy(frame + length - 2, "\r\n", 2);
	put32(envelope + OFF_ID, p->id);

	/* Timer slack is the kernel's leave to wake us late, by default 50 us. */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	for (uint64_t n = 0; n < p->total; n++) {
		int64_t intended = r->t0 + p->due[n];
		struct timespec due = {.tv_sec = intended / SECOND, .tv_nsec = intended % SECOND};
		/* Answers to what was published, and a PING, may wait for a while; a system
		 * call for them before each message would be a cost of ours. */
		if (n % SERVE_EVERY == SERVE_EVERY - 1)
			serve(&p->c);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		put64(envelope + OFF_SEQUENCE, n);
		put64(envelope + OFF_INTENDED, (uint64_t)intended);
		put64(envelope + OFF_SENT, (uint64_t)now_ns());
		if (o->checksum)
			put32(envelope + OFF_CHECKSUM, r->crc(r->body_crc, envelope, OFF_CHECKSUM));
		send_all(&p->c, frame, length);
		p->handed = n + 1;
	}
	free(frame);
	round_trip(&p->c);
	atomic_store(&p->ended, now_ns());
	return NULL;
}

/* The message was stamped by the caller; what follows is no longer timed, as
 * far as this message is concerned. */
static void record(struct subscriber *s, const struct frame *f, int64_t received)
{
	const struct run *r = s->of->run;
	const unsigned char *p = f->payload;
	if (f->payload_length != r->o->size) {
		s->foreign++;
		return;
	}
	if (r->o->checksum) {
		uint32_t crc = r->crc(0, p + ENVELOPE, r->o->size - ENVELOPE);
		if (r->crc(crc, p, OFF_CHECKSUM) != get32(p + OFF_CHECKSUM)) {
			s->corrupted++;
			return;
		}
	}
	if (get32(p + OFF_ID) != s->of->id) {
		s->foreign++;
		return;
	}
	uint64_t n = get64(p + OFF_SEQUENCE);
	if (n >= s->of->total || (int64_t)get64(p + OFF_INTENDED) != r->t0 + s->of->due[n]) {
		s->corrupted++;
		return;
	}
	if (s->received[n] != 0) {
		s->duplicated++;
		return;
	}
	/* RFC 4737: below the next expected one, which late copies do not move. */
	if (n < s->expected)
		s->reordered++;
	else
		s->expected = n + 1;
	s->sent[n] = (int64_t)get64(p + OFF_SENT);
	s->received[n] = received;
	s->arrived++;
}

/* Whatever the server sent behind the last message, a second copy for
 * instance, comes before the answer to a PING sent now. */
static void read_stragglers(struct subscriber *s)
{
	struct frame f;
	int64_t limit = now_ns() + DRAIN_NS;
	send_all(&s->c, ping, strlen(ping));
	while (now_ns() < limit) {
		next_frame(&s->c, &f);
		if (f.kind == FRAME_PONG)
			return;
		if (f.kind == FRAME_MESSAGE)
			record(s, &f, now_ns());
		else if (f.kind == FRAME_NONE)
			read_more(&s->c, 0);
		else
			answer(&s->c, &f);
	}
	die("%s: no answer from the server at the end", s->c.role);
}

/* Reads until everything has arrived, or nothing has completed the run DRAIN_NS
 * after the last message was handed over. */
static void *receive(void *argument)
{
	struct subscriber *s = argument;
	struct frame f;
	while (s->arrived < s->of->total) {
		next_frame(&s->c, &f);
		if (f.kind == FRAME_MESSAGE)
			record(s, &f, now_ns());
		else if (f.kind != FRAME_NONE)
			answer(&s->c, &f);
		else if (!read_more(&s->c, 0)) {
			int64_t ended = atomic_load(&s->of->ended);
			if (ended != 0 && now_ns() - ended > DRAIN_NS)
				return NULL;
		}
	}
	read_stragglers(s);
	return NULL;
}

static pthread_t start(void *(*body)(void *), void *argument)
{
	pthread_t thread;
	int failure = pthread_create(&thread, NULL, body, argument);
	if (failure)
		die("pthread_create: %s", strerror(failure));
	return thread;
}

void run_measure(struct run *r)
{
	const struct options *o = r->o;
	unsigned producers = o->load.divided, subscribers = producers * o->fanout;
	for (unsigned i = 0; i < subscribers; i++) {
		struct subscriber *s = &r->subscribers[i];
		char text[MAX_SUBJECT + 64];
		int n = subscription(text, sizeof text, s->of->subject);
		dial(&s->c, "subscriber", i, o->host, o->port, o->size);
		greet(&s->c, o->size);
		send_all(&s->c, text, (size_t)n);
		round_trip(&s->c);
	}
	for (unsigned i = 0; i < producers; i++) {
		dial(&r->producers[i].c, "producer", i, o->host, o->port, o->size);
		greet(&r->producers[i].c, o->size);
	}
	pthread_t *threads = touched((producers + subscribers) * sizeof *threads), *t = threads;
	r->t0 = now_ns() + LEAD_NS;
	for (unsigned i = 0; i < subscribers; i++)
		*t++ = start(receive, &r->subscribers[i]);
	for (unsigned i = 0; i < producers; i++)
		*t++ = start(publish, &r->producers[i]);
	while (t > threads)
		pthread_join(*--t, NULL);
	free(threads);
}
