package engine

import (
	"slices"
	"strings"
	"testing"

	"sixnines/drivers/mem"
	"sixnines/internal/judge"
	"sixnines/result"
)

// A message that a sender takes from the schedule and does not send is in no account,
// and the sums say so, of the run and of its file.
func TestForgottenMessagesBreakTheAccounts(t *testing.T) {
	t.Parallel()
	for name, workload := range map[string]string{
		"paced":     "{rate: 3000/s, producers: 2}",
		"poisson":   "{rate: 3000/s, arrivals: poisson}",
		"published": "{rate: 3000/s, pattern: publish}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runVirtually(t, Config{Entry: mem.Entry(), DropEvery: 500, Scenario: parse(t, `
target: {driver: mem, options: {ack: broker}}
phases: {warmup: 100ms, duration: 500ms, drain: 1s}
workload: `+workload)})
			c := r.Counters
			if c.Scheduled-c.Taken != (c.Scheduled)/500 || c.Scheduled == c.Taken || c.Taken != c.Sent {
				t.Errorf("%+v", c)
			}
			if v := r.Summary.Verdict; v.Status != result.Invalid || !slices.ContainsFunc(v.Reasons, func(x result.Reason) bool { return x.Code == "conservation" }) {
				t.Errorf("%+v", v)
			}
			if !slices.ContainsFunc(judge.Verify(r, r.Header.Tool), func(p judge.Problem) bool {
				return p.Where == "counters" && strings.Contains(p.Text, "taken by the senders")
			}) {
				t.Errorf("verify: %v", judge.Verify(r, r.Header.Tool))
			}
		})
	}
}

// However a run ends and whatever goes wrong, each message is in one account.
func TestAccountsCloseWhateverHappens(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"everything wrong": `
target: {driver: mem, options: {ack: broker, lose: 7, lose_acked: 11, nack: 5, misreport: 3, reject: 4, reorder: 6, duplicate: 2, corrupt: 9, corrupt_where: any}}
phases: {warmup: 100ms, duration: 500ms, drain: 300ms}
workload: {rate: 2000/s, producers: 3, consumers: 2}`,
		"damaged heads": `
target: {driver: mem, options: {corrupt: 60, corrupt_where: head, every: 20}}
phases: {warmup: 100ms, duration: 1s, drain: 300ms}
workload: {rate: 2000/s, topics: 2, producers: 2, consumers: 2}`,
		"closed loop": `
target: {driver: mem, options: {ack: broker, lose: 3, nack: 5, reject: 4}}
phases: {warmup: 100ms, duration: 500ms, drain: 300ms}
workload: {loop: closed, outstanding: 4, producers: 3, timeout: 50ms}`,
		"flat out": `
target: {driver: mem, options: {ack: broker, lose: 3, nack: 5, reject: 4}}
phases: {warmup: 100ms, drain: 300ms}
workload: {rate: max, messages: 20000, producers: 2}`,
		"flat out without acknowledgements": `
target: {driver: mem, options: {lose: 3, reject: 4}}
phases: {warmup: 100ms, drain: 300ms}
workload: {rate: max, messages: 20000, producers: 2, consumers: 3}`,
		"blocked": `
target: {driver: mem, options: {ack: broker, queue: 4, stall_after: 500, stall_for: 1s}}
phases: {warmup: 100ms, duration: 1s, drain: 100ms}
workload: {rate: 1000/s, producers: 4, connections: {producers: 4}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "closed loop" || strings.HasPrefix(name, "flat out") {
				conserves(t, measureReally(t, text, mem.Entry()))
				return
			}
			conserves(t, measure(t, text, mem.Entry(), ""))
		})
	}
}

func conserves(t *testing.T, r *result.Run) {
	t.Helper()
	if ok, problem := r.Counters.Conserved(); !ok || r.Counters.Taken == 0 {
		t.Errorf("%s\n%s", problem, show(r))
	}
}
