/* The NATS protocol over a TCP socket, as much of it as a client needs that
 * publishes or subscribes to one subject. */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A connection and its read buffer. Each is used by one thread only, so
 * nothing here is locked. buf[start, end) is read but not yet consumed.
 */
struct connection {
	const char *role;
	int fd;
	char *buf;
	size_t start, end, room;
};

enum frame_kind { FRAME_NONE, FRAME_MSG, FRAME_PING, FRAME_PONG, FRAME_INFO, FRAME_OK, FRAME_ERROR };

struct frame {
	enum frame_kind kind;
	const char *text; /* the line without CR LF; not terminated */
	size_t text_length;
	const unsigned char *payload; /* of MSG; valid until the next read */
	size_t payload_length;
};


/* Connects to host:port, checks that payloads of size bytes are accepted, and
 * returns when the server has taken CONNECT. Role names the connection in
 * messages. */
bool connect_to(struct connection *c, const char *role, const char *host, const char *port, size_t size);

bool send_all(struct connection *c, const void *data, size_t n);

/*
 * Takes the next complete frame out of the buffer. FRAME_NONE means that more
 * must be read. False means that the peer does not speak the protocol.
 */
bool next_frame(struct connection *c, struct frame *f);

/*
 * Reads what there is behind the buffer's rest. Returns 1 when bytes came, 0
 * when none came within the socket's timeout of 100 ms (or at once, with
 * MSG_DONTWAIT), -1 when the connection is over.
 */
int read_more(struct connection *c, int flags);

/* Answers what a server may say at any time. False ends the run. */
bool answer(struct connection *c, const struct frame *f);

/* The server has handled everything sent so far on this connection. */
bool round_trip(struct connection *c);

#endif
