/* A TCP connection to a broker, whatever is spoken on it. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_LINE = 64 << 10 }; /* of a protocol in lines: an INFO of NATS with many addresses is the longest */

/*
 * A connection and its read buffer. Each is used by one thread at a time, so
 * nothing here is locked. buf[start, end) is read but not yet consumed.
 * Whatever fails ends the process.
 */
struct connection {
	char role[48]; /* names it in messages */
	int fd;
	char *buf;
	size_t start, end, room;
};

/* Dials, with a read buffer for payloads of size bytes and more. */
void dial(struct connection *c, const char *role, unsigned number, const char *host, const char *port, size_t size);

void send_all(struct connection *c, const void *data, size_t n);

/*
 * Reads what there is behind the buffer's rest. False when nothing came within
 * the socket's timeout of a second (or at once, with MSG_DONTWAIT).
 */
bool read_more(struct connection *c, int flags);

/* Reads and answers what has come, without waiting. */
void serve(struct connection *c);

/* The broker has handled everything sent so far on this connection. */
void round_trip(struct connection *c);

#endif
