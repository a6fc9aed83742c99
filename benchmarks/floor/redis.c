/*
 * redislat: the reference client for Redis Pub/Sub, see main.c. Commands are
 * RESP arrays, and so are the messages to a subscriber. The answers to PUBLISH
 * are read by the producer itself, between two messages, see run.c.
 */
#include "complain.h"
#include "protocol.h"

#include <stdio.h>
#include <string.h>

const char program[] = "redislat", broker[] = "Redis Pub/Sub", default_port[] = "6379";
const char ping[] = "*1\r\n$4\r\nPING\r\n";

int subscription(char *text, size_t room, const char *subject)
{
	return snprintf(text, room, "*2\r\n$9\r\nSUBSCRIBE\r\n$%zu\r\n%s\r\n", strlen(subject), subject);
}

int head(char *text, size_t room, const char *subject, size_t size)
{
	return snprintf(text, room, "*3\r\n$7\r\nPUBLISH\r\n$%zu\r\n%s\r\n$%zu\r\n", strlen(subject), subject, size);
}

/* One element of RESP: a line, or what a line announces. */
struct element {
	char type; /* the line's first byte */
	const char *text;
	size_t length; /* of text; of '*', the number of elements that follow */
};

/* The element at *at, which moves behind it. False where it is not complete. */
static bool next_element(struct connection *c, size_t *at, struct element *e)
{
	const char *line = c->buf + *at;
	size_t available = c->end - *at;
	const char *newline = memchr(line, '\n', available);
	if (!newline) {
		if (available > MAX_LINE)
			die("%s: a line longer than %d bytes", c->role, MAX_LINE);
		return false;
	}
	size_t n = (size_t)(newline - line);
	if (n < 2 || line[n - 1] != '\r' || !memchr("*$:+-", line[0], 5))
		die("%s: not a line of RESP: %.*s", c->role, (int)(n < 80 ? n : 80), line);
	*e = (struct element){.type = line[0], .text = line + 1, .length = n - 2};
	*at += n + 1;
	if (e->type != '*' && e->type != '$')
		return true;
	size_t number = 0;
	for (size_t i = 0; i < e->length; i++) {
		if (e->text[i] < '0' || e->text[i] > '9' || i >= 9)
			die("%s: not a length: %.*s", c->role, (int)(n < 80 ? n : 80), line);
		number = number * 10 + (size_t)(e->text[i] - '0');
	}
	e->length = number;
	if (e->type == '*')
		return true;
	if (*at - c->start + number + 2 > c->room)
		die("%s: a string of %zu bytes was not asked for", c->role, number);
	if (c->end - *at < number + 2)
		return false;
	e->text = c->buf + *at;
	if (memcmp(e->text + number, "\r\n", 2) != 0)
		die("%s: a string not followed by CR LF", c->role);
	*at += number + 2;
	return true;
}

static bool is(const struct element *e, const char *word)
{
	return e->length == strlen(word) && memcmp(e->text, word, e->length) == 0;
}

void next_frame(struct connection *c, struct frame *f)
{
	struct element e, of[3] = {{0}};
	size_t at = c->start;

	memset(f, 0, sizeof *f);
	if (!next_element(c, &at, &e))
		return;
	if (e.type == '*') {
		if (e.length == 0 || e.length > 3)
			die("%s: an array of %zu elements was not asked for", c->role, e.length);
		for (size_t i = 0; i < e.length; i++) {
			if (!next_element(c, &at, &of[i]))
				return;
			if (of[i].type == '*')
				die("%s: an array in an array was not asked for", c->role);
		}
	}
	f->kind = FRAME_OTHER;
	if (e.type == '-')
		f->kind = FRAME_ERROR;
	else if (e.type == '+' ? is(&e, "PONG") : e.type == '*' && is(&of[0], "pong"))
		f->kind = FRAME_PONG;
	else if (e.type == '*' && e.length == 3 && is(&of[0], "message")) {
		f->kind = FRAME_MESSAGE;
		f->payload = (const unsigned char *)of[2].text;
		f->payload_length = of[2].length;
	}
	f->text = e.text;
	f->text_length = e.length;
	c->start = at;
}

void answer(struct connection *c, const struct frame *f)
{
	if (f->kind == FRAME_ERROR)
		die("%s: the server says %.*s", c->role, (int)f->text_length, f->text);
}

void greet(struct connection *c, size_t size)
{
	(void)size; /* 512 MiB by default, which is more than --size takes */
	round_trip(c);
}
