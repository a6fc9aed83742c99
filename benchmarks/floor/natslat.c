/*
 * natslat: the reference client. It measures delivery latency through a NATS
 * server with as little between the message and the clock as a program of
 * ordinary privileges can have: plain sockets, the protocol's text, absolute
 * sleeps and arrays. What Sixnines adds to this is Sixnines' own cost.
 *
 * Two connections: one publishes from a thread of its own, one subscribes and
 * is read by the main thread. Message n is due at t0 + floor(n * 1e9 / rate)
 * and three instants of it are kept, all CLOCK_MONOTONIC nanoseconds:
 *
 *   intended   from the schedule
 *   sent       just before the frame is handed to the kernel
 *   received   just after the complete frame was recognised in the read buffer
 *
 * response = received - intended, service = received - sent,
 * lag = sent - intended. Percentiles are exact (sorted array, nearest rank)
 * over the messages due in [warmup, warmup + duration).
 *
 * Exit status: 0 measured, every message arrived once, in order and unharmed;
 * 1 failure, or messages missing, duplicated, reordered or corrupted (the
 * JSON is still printed where there is anything to print); 2 usage.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "complain.h"
#include "figures.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

static const uint64_t MAX_MESSAGES = 100000000; /* 24 bytes each, touched beforehand */

void complain(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("natslat: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

static const char usage_text[] =
	"usage: natslat [options]\n"
	"Delivery latency through a NATS server, measured by a plain C client.\n\n"
	"  --host HOST      server (127.0.0.1)\n"
	"  --port PORT      its port (4222)\n"
	"  --rate N         messages a second, 1 to 10000000 (1000)\n"
	"  --size BYTES     payload, from 32 (256)\n"
	"  --duration SECS  window measured, from 0.001 (10)\n"
	"  --warmup SECS    same load before it, not measured (1)\n"
	"  --subject NAME   subject used (natslat)\n"
	"  --checksum       CRC-32C over every payload, computed and checked\n"
	"  --help           this text\n\n"
	"Prints one JSON object; times are nanoseconds.\n";

static bool parse_whole(const char *flag, const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || v < low || v > high) {
		complain("--%s %s: a whole number from %" PRIu64 " to %" PRIu64 " is needed", flag, text, low, high);
		return false;
	}
	*value = v;
	return true;
}

static bool parse_seconds(const char *flag, const char *text, double low, int64_t *ns)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || !(v >= low) || v > 86400) {
		complain("--%s %s: seconds from %g to 86400 are needed", flag, text, low);
		return false;
	}
	*ns = (int64_t)(v * 1e9 + 0.5);
	return true;
}

static bool subject_valid(const char *s)
{
	size_t n = strlen(s);
	if (n > 0 && n <= MAX_SUBJECT && strcspn(s, " \t\r\n*>") == n && s[0] != '.' && s[n - 1] != '.' && !strstr(s, ".."))
		return true;
	complain("--subject %s: not a subject to publish to", s);
	return false;
}

/* 0: go on; 1: help was given; 2: usage error, already explained. */
static int parse_options(int argc, char **argv, struct options *o)
{
	enum { HOST = 256, PORT, RATE, SIZE, DURATION, WARMUP, SUBJECT, CHECKSUM, HELP };
	static const struct option table[] = {
		{"host", required_argument, NULL, HOST},         {"port", required_argument, NULL, PORT},
		{"rate", required_argument, NULL, RATE},         {"size", required_argument, NULL, SIZE},
		{"duration", required_argument, NULL, DURATION}, {"warmup", required_argument, NULL, WARMUP},
		{"subject", required_argument, NULL, SUBJECT},   {"checksum", no_argument, NULL, CHECKSUM},
		{"help", no_argument, NULL, HELP},               {NULL, 0, NULL, 0},
	};
	uint64_t number;
	bool good = true;
	int flag;
	while (good && (flag = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (flag) {
		case HOST: o->host = optarg; break;
		case PORT:
			good = parse_whole("port", optarg, 1, 65535, &number);
			o->port = optarg;
			break;
		case RATE: good = parse_whole("rate", optarg, 1, 10000000, &o->rate); break;
		case SIZE:
			good = parse_whole("size", optarg, ENVELOPE, MAX_PAYLOAD, &number);
			if (good)
				o->size = number;
			break;
		case DURATION: good = parse_seconds("duration", optarg, 0.001, &o->duration_ns); break;
		case WARMUP: good = parse_seconds("warmup", optarg, 0, &o->warmup_ns); break;
		case SUBJECT:
			good = subject_valid(optarg);
			o->subject = optarg;
			break;
		case CHECKSUM: o->checksum = true; break;
		case HELP: fputs(usage_text, stdout); return 1;
		default: good = false; /* getopt_long has said what is wrong */
		}
	}
	if (good && optind < argc) {
		complain("%s: not an option", argv[optind]);
		good = false;
	}
	if (!good) {
		complain("see natslat --help");
		return EXIT_USAGE;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {.host = "127.0.0.1", .port = "4222", .subject = "natslat", .rate = 1000,
	                    .size = 256, .duration_ns = 10 * SECOND, .warmup_ns = SECOND};
	switch (parse_options(argc, argv, &o)) {
	case 0: break;
	case 1: return EXIT_SUCCESS;
	default: return EXIT_USAGE;
	}
	static struct run r;
	r.o = &o;
	r.total = due_before(o.warmup_ns + o.duration_ns, o.rate);
	r.first = due_before(o.warmup_ns, o.rate);
	if (r.total > MAX_MESSAGES || r.total == r.first) {
		complain("rate and durations give %" PRIu64 " messages in the window, %" PRIu64 " in all; 1 to %" PRIu64 " are possible",
		         r.total - r.first, r.total, MAX_MESSAGES);
		return EXIT_USAGE;
	}
	r.crc = crc_choose(&r.crc_name);
	if (!r.crc) {
		complain("CRC-32C (%s) gives a wrong check value on this machine", r.crc_name);
		return EXIT_FAILURE;
	}
	if (!run_prepare(&r) || !run_measure(&r))
		return EXIT_FAILURE;
	bool printed = print_result(&r), intact = run_intact(&r);
	if (!intact)
		complain("%" PRIu64 " of %" PRIu64 " messages missing, %" PRIu64 " corrupted, %" PRIu64 " duplicated, %" PRIu64
		         " reordered, %" PRIu64 " foreign",
		         r.total - r.arrived, r.total, r.corrupted, r.duplicated, r.reordered, r.foreign);
	return printed && intact ? EXIT_SUCCESS : EXIT_FAILURE;
}
