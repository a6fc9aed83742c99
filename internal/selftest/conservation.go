package selftest

import (
	"context"
	"fmt"
	"time"

	"sixnines/internal/judge"
	"sixnines/result"
)

// injection is a load with exact numbers of faults, and the counters that it must
// result in.
type injection struct {
	name     string
	options  string // of driver mem
	workload string
	want     func(scheduled int64) map[string]int64 // by the names of result.Counters.Named
}

// injections lists the faults. Every account that want does not name must be zero.
func injections() []injection {
	return []injection{
		{"deliveries", "{lose: 17, duplicate: 5, reorder: 9, corrupt: 3}", "{rate: %d/s, producers: 2}",
			func(n int64) map[string]int64 {
				return map[string]int64{"scheduled": n, "sent": n, "unknown": n, "expected": n, "received": n - 17 - 3,
					"missing": 17, "missing_unknown": 17, "corrupted": 3, "duplicated": 5, "reordered": 9, "censored": 20}
			}},
		{"fan-out to three", "{lose: 4, duplicate: 6, reorder: 8, corrupt: 10}", "{rate: %d/s, consumers: 3}",
			func(n int64) map[string]int64 {
				// A message is censored once for each consumer that did not get it
				// undamaged; delivery.last needs all consumers.
				return map[string]int64{"scheduled": n, "sent": n, "unknown": n, "expected": 3 * n, "received": 3 * (n - 14),
					"missing": 3 * 4, "missing_unknown": 3 * 4, "corrupted": 3 * 10, "duplicated": 3 * 6, "reordered": 3 * 8, "censored": 3 * 14}
			}},
		{"acknowledgements", "{ack: broker, lose: 7, lose_acked: 11, nack: 5, misreport: 3, reject: 4, reorder: 6, duplicate: 2}", "{rate: %d/s}",
			func(n int64) map[string]int64 {
				return map[string]int64{"scheduled": n, "rejected": 4, "sent": n - 4, "nacked": 5 + 3, "unknown": 7, "acked": n - 4 - 8 - 7,
					"expected": n - 4, "received": n - 4 - 7 - 11 - 5, "missing": 7 + 11 + 5, "missing_unknown": 7, "missing_nacked": 5,
					"lost_acked": 11, "duplicated": 2, "reordered": 6, "censored": 7 + 7 + 11}
			}},
	}
}

// accountNames lists the counters that are compared with an injection, in the order
// of the report.
func accountNames() []string {
	return []string{"scheduled", "not_sent", "rejected", "sent", "acked", "nacked", "unknown", "expected", "received", "missing",
		"lost_acked", "missing_nacked", "missing_unknown", "corrupted", "duplicated", "reordered", "censored", "late", "foreign", "violations"}
}

// conservation injects loss, duplication, reordering and corruption by exact
// count, and requires the exact accounts.
func conservation(ctx context.Context, b *Bench) (*Outcome, error) {
	const rate = 2000 // a second
	window, drain := 2*time.Second, time.Second
	if b.Short {
		window, drain = 500*time.Millisecond, 250*time.Millisecond
	}
	var figures []Figure
	for _, i := range injections() {
		b.Say("%s: %s", i.name, i.options)
		run, err := b.RunText(ctx, fmt.Sprintf("phases: {warmup: 100ms, duration: %s, drain: %s}\ntarget: {driver: mem, options: %s}\nworkload: %s",
			window, drain, i.options, fmt.Sprintf(i.workload, rate)), nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", i.name, err)
		}
		figures = append(figures, conserved(i.name, run, i.want(rate*int64(window)/1e9))...)
	}
	return Conclude("a test driver injected an exact number of each fault; every message must be in the right account, to the message", figures...), nil
}

// conserved checks that a run's accounts have the values of want, and zero where want
// has none; that they add up; and that every published figure follows from the file.
func conserved(name string, run *result.Run, want map[string]int64) []Figure {
	var figures []Figure
	others, worst := int64(0), ""
	for _, account := range accountNames() {
		got, ok := run.Counters.Named(account)
		if expected, named := want[account]; named || !ok {
			figures = append(figures, Exactly(name+": "+account, expected, got))
			continue
		}
		if got != 0 {
			others, worst = others+got, account
		}
	}
	rest := Exactly(name+": in all other accounts", 0, others)
	if worst != "" {
		rest.Found += " (" + worst + ")"
	}
	closes, problem := run.Counters.Conserved()
	if closes {
		problem = "they add up"
	}
	figures = append(figures, rest, Exactly(name+": the accounts", "they add up", problem))
	recomputed := "all"
	if problems := judge.Verify(run, run.Header.Tool); len(problems) > 0 {
		recomputed = fmt.Sprintf("%d differ, the first: %v", len(problems), problems[0])
	}
	return append(figures, Exactly(name+": figures that follow from the file", "all", recomputed))
}
