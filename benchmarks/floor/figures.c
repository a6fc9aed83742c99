#include "figures.h"
#include "clock.h"
#include "complain.h"
#include "protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void print_histogram(const char *name, int64_t *v, uint64_t n, const char *after)
{
	static const struct { const char *label; uint64_t per_myriad; } points[] = {
		{"50", 5000}, {"90", 9000}, {"99", 9900}, {"99.9", 9990}, {"99.99", 9999},
	};
	printf("\"%s\":{\"count\":%" PRIu64, name, n);
	if (n > 0) {
		long double sum = 0, squares = 0;
		qsort(v, n, sizeof *v, ascending);
		for (uint64_t i = 0; i < n; i++)
			sum += v[i];
		long double mean = sum / n;
		for (uint64_t i = 0; i < n; i++)
			squares += (v[i] - mean) * (v[i] - mean);
		printf(",\"min\":%" PRId64 ",\"max\":%" PRId64 ",\"mean\":%.1Lf,\"stddev\":%.1Lf,\"percentiles\":{",
		       v[0], v[n - 1], mean, sqrtl(squares / n));
		for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
			/* Nearest rank, in integers: ceil(p * n). */
			uint64_t rank = (n * points[i].per_myriad + 9999) / 10000;
			printf("%s\"%s\":%" PRId64, i ? "," : "", points[i].label, v[rank - 1]);
		}
		putchar('}');
	}
	printf("}%s", after);
}

/* What became of the messages of one connection, or of all. */
struct account {
	uint64_t scheduled, sent, expected, received, missing, warmup_received, warmup_missing;
	uint64_t corrupted, duplicated, reordered, foreign;
};

static void add_producer(struct account *a, const struct producer *p)
{
	a->scheduled += p->total - p->first;
	a->sent += p->handed > p->first ? p->handed - p->first : 0;
}

static void add_subscriber(struct account *a, const struct subscriber *s)
{
	uint64_t first = s->of->first;
	a->expected += s->of->total - first;
	for (uint64_t n = 0; n < s->of->total; n++) {
		if (s->received[n] == 0)
			n < first ? a->warmup_missing++ : a->missing++;
		else
			n < first ? a->warmup_received++ : a->received++;
	}
	a->corrupted += s->corrupted;
	a->duplicated += s->duplicated;
	a->reordered += s->reordered;
	a->foreign += s->foreign;
}

static void print_account(const struct account *a)
{
	printf("{\"scheduled\":%" PRIu64 ",\"sent\":%" PRIu64 ",\"expected\":%" PRIu64 ",\"received\":%" PRIu64
	       ",\"missing\":%" PRIu64 ",\"corrupted\":%" PRIu64 ",\"duplicated\":%" PRIu64 ",\"reordered\":%" PRIu64
	       ",\"foreign\":%" PRIu64 "}",
	       a->scheduled, a->sent, a->expected, a->received, a->missing, a->corrupted, a->duplicated,
	       a->reordered, a->foreign);
}

/* The producer's account with those of its subscribers. */
static struct account connection_account(const struct run *r, unsigned i)
{
	struct account a = {0};
	add_producer(&a, &r->producers[i]);
	for (unsigned k = 0; k < r->o->fanout; k++)
		add_subscriber(&a, &r->subscribers[i * r->o->fanout + k]);
	return a;
}

/* The rate of sending in the window, and the share of it that was sent in the
 * worst whole second; 0 where the window has none. Messages are known by their
 * subject's first subscriber. */
static void print_rate(const struct run *r)
{
	int64_t start = r->t0 + r->o->warmup_ns, length = r->o->duration_ns;
	uint64_t seconds = (uint64_t)(length / SECOND), worst = UINT64_MAX, in_window = 0;
	uint64_t *count = calloc(seconds + 1, sizeof *count);
	if (!count)
		die("no memory for the seconds");
	for (unsigned i = 0; i < r->o->load.divided; i++) {
		const struct subscriber *s = &r->subscribers[i * r->o->fanout];
		for (uint64_t n = 0; n < s->of->total; n++) {
			int64_t at = s->sent[n] - start;
			if (s->received[n] == 0 || at < 0 || at >= length)
				continue;
			in_window++;
			count[at / SECOND]++;
		}
	}
	for (uint64_t s = 0; s < seconds; s++)
		if (count[s] < worst)
			worst = count[s];
	free(count);
	printf("\"rate\":{\"asked\":%" PRIu64 ",\"sent\":%.3f,\"worst_second\":%.6f},", r->o->load.rate,
	       (double)in_window * (double)SECOND / (double)length,
	       worst == UINT64_MAX ? 0 : (double)worst / (double)r->o->load.rate);
}

static void print_histograms(const struct run *r, uint64_t received)
{
	int64_t *response = malloc(3 * (received + 1) * sizeof *response);
	if (!response)
		die("no memory for the percentiles");
	int64_t *service = response + received, *lag = service + received;
	uint64_t count = 0;
	for (unsigned i = 0; i < r->o->load.divided * r->o->fanout; i++) {
		const struct subscriber *s = &r->subscribers[i];
		for (uint64_t n = s->of->first; n < s->of->total; n++) {
			if (s->received[n] == 0)
				continue;
			int64_t intended = r->t0 + s->of->due[n];
			response[count] = s->received[n] - intended;
			service[count] = s->received[n] - s->sent[n];
			lag[count] = s->sent[n] - intended;
			count++;
		}
	}
	fputs("\"histograms\":{", stdout);
	print_histogram("delivery.response", response, count, ",");
	print_histogram("delivery.service", service, count, ",");
	print_histogram("lag.own", lag, count, "}}\n");
	free(response);
}

bool print_result(const struct run *r)
{
	const struct options *o = r->o;
	struct account all = {0};
	for (unsigned i = 0; i < o->load.divided; i++)
		add_producer(&all, &r->producers[i]);
	for (unsigned i = 0; i < o->load.divided * o->fanout; i++)
		add_subscriber(&all, &r->subscribers[i]);
	printf("{\"tool\":\"%s\",\"checksum\":\"%s\",\"arrivals\":\"%s\",\"fanout\":%u,\"counters\":", program,
	       o->checksum ? r->crc_name : "off", o->load.poisson ? "poisson" : "constant", o->fanout);
	print_account(&all);
	fputs(",\"connections\":[", stdout);
	for (unsigned i = 0; i < o->load.divided; i++) {
		struct account a = connection_account(r, i);
		fputs(i ? "," : "", stdout);
		print_account(&a);
	}
	printf("],\"warmup\":{\"scheduled\":%" PRIu64 ",\"received\":%" PRIu64 "},", r->first, all.warmup_received);
	print_rate(r);
	print_histograms(r, all.received);
	if (fflush(stdout) != 0 || ferror(stdout))
		die("standard output: %s", strerror(errno));

	uint64_t missing = all.missing + all.warmup_missing;
	if (missing + all.corrupted + all.duplicated + all.reordered + all.foreign == 0)
		return true;
	complain("%" PRIu64 " of %" PRIu64 " messages missing, %" PRIu64 " corrupted, %" PRIu64 " duplicated, %" PRIu64
	         " reordered, %" PRIu64 " foreign",
	         missing, r->total * o->fanout, all.corrupted, all.duplicated, all.reordered, all.foreign);
	return false;
}
