/* What nats.c and redis.c each have: a broker's protocol, as much of it as a
 * client needs that publishes to one subject or subscribes to one. A program is
 * one of the two and everything else here. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include "connection.h"

enum frame_kind { FRAME_NONE, FRAME_MESSAGE, FRAME_PONG, FRAME_PING, FRAME_INFO, FRAME_OTHER, FRAME_ERROR };

struct frame {
	enum frame_kind kind;
	const char *text; /* the line without CR LF; not terminated; not of MESSAGE */
	size_t text_length;
	const unsigned char *payload; /* of MESSAGE; valid until the next read */
	size_t payload_length;
};

extern const char program[];      /* the program's name */
extern const char broker[];       /* the broker's */
extern const char default_port[]; /* where it listens */
extern const char ping[];         /* is answered by a PONG frame */

/* Greets the broker on a new connection and returns when it has answered. A
 * broker that does not take payloads of size bytes ends the process. */
void greet(struct connection *c, size_t size);

/* Writes what asks for the subject's messages; its length. */
int subscription(char *text, size_t room, const char *subject);

/* Writes what stands before a message's payload; its length. CR LF stands
 * behind the payload. */
int head(char *text, size_t room, const char *subject, size_t size);

/*
 * Takes the next complete frame out of the buffer. FRAME_NONE means that more
 * must be read. A peer that does not speak the protocol ends the process.
 */
void next_frame(struct connection *c, struct frame *f);

/* Answers what a broker may say at any time. An error ends the process. */
void answer(struct connection *c, const struct frame *f);

/* The next frame of this kind; the others are answered. At most ten seconds of
 * waiting. */
void await_frame(struct connection *c, enum frame_kind kind, struct frame *f);

#endif
