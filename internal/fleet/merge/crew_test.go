package merge_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine/enginetest"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/integrity"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/semantics"
)

// crossing are loads of which some agents send what others receive. Those with faults have one producing agent: the broker
// makes as many faults for each session.
func crossing() map[string]string {
	text := func(options, workload string) string {
		return fmt.Sprintf("target: {driver: mem, options: {delay: 3ms, ack: broker, ack_delay: 1ms%s}}\n", options) + "workload: {" + workload + "}\n" +
			"phases: {warmup: 100ms, duration: 1s, drain: 1s}\nrecord: {interval: 100ms}\n"
	}
	const faults = ", lose: 3, lose_acked: 2, duplicate: 4, reorder: 3, corrupt: 2, every: 7, give_up: 500ms"
	return map[string]string{
		"plain":          text("", "rate: 1k, producers: 4, topics: 2, consumers: 4"),
		"one group":      text("", "rate: 1k, producers: 4, topics: 1, consumers: 4, groups: 1"),
		"several groups": text("", "rate: 700, producers: 3, topics: 2, consumers: 5, groups: 2"),
		"fan-out":        text("", "rate: 500, arrivals: poisson, producers: 3, topics: 1, consumers: 4"),
		"faults":         text(faults, "rate: 1k, producers: 4, topics: 2, consumers: 2"),
		"faults, groups": text(faults, "rate: 900, producers: 4, topics: 2, consumers: 4, groups: 2"),
		"refused":        text(", nack: 3, every: 11", "rate: 900, producers: 2, topics: 2, consumers: 4, groups: 1"),
		"twice":          text("", "rate: 900, producers: 4, topics: 2, consumers: 4, groups: 1"),
		"twice, faults":  text(faults, "rate: 900, producers: 4, topics: 2, consumers: 6, groups: 2"),
		"unanswered":     text(", lose: 2, every: 5, give_up: 300ms", "rate: 500, producers: 3, topics: 3, consumers: 3, timeout: 400ms"),
	}
}

func crewSources(files []string) (sources []merge.Source) {
	for k, f := range files {
		sources = append(sources, merge.Source{Name: fmt.Sprintf("agent-%d", k), Path: f})
	}
	return sources
}

// What some agents send and others receive has, merged, the accounts and distributions that one process has with the same
// arrivals, whatever the broker loses, repeats, reorders, damages or refuses.
func TestCrewIsTheWhole(t *testing.T) {
	for name, text := range crossing() {
		t.Run(name, func(t *testing.T) {
			producers := 2
			if strings.Contains(text, "every") {
				producers = 1
			}
			load := enginetest.Load{Scenario: text}
			if strings.HasPrefix(name, "twice") {
				load.Scenario = strings.Replace(text, "warmup: 100ms", "warmup: 0s", 1) // messages have the same numbers then
				load.Change = func(e *driver.Entry) { e.Driver = &doubling{Driver: e.Driver, members: map[string][]driver.Deliver{}} }
			}
			whole := enginetest.Verified(t, load)
			files := enginetest.Crew(t, load, producers, 2)
			for _, f := range files {
				run, err := result.Load(f)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range judge.Verify(run, run.Header.Tool) {
					t.Errorf("%s: %s", f, p)
				}
			}
			run := merged(t, crewSources(files))
			if run.Counters != whole.Counters {
				t.Errorf("the counters of agents are\n%+v, of one process\n%+v", run.Counters, whole.Counters)
			}
			for m, x := range whole.Metrics {
				if !m.IsLatency() || m == result.DeliveryLast {
					continue
				}
				y := run.Metrics[m]
				if y == nil {
					t.Errorf("there is no %s", m)
					continue
				}
				if twice := run.Closing.Twice; twice > 0 && strings.HasPrefix(string(m), "delivery") {
					if n := y.Hist.Count() - x.Hist.Count(); n != twice {
						t.Errorf("%s: %d more values than of one process, and %d came twice", m, n, twice)
					}
				} else if fmt.Sprint(buckets(y.Hist)) != fmt.Sprint(buckets(x.Hist)) {
					t.Errorf("%s: of agents %v, of one process %v", m, buckets(y.Hist), buckets(x.Hist))
				}
				if y.Censored.Count() != x.Censored.Count() || y.Refused != x.Refused {
					t.Errorf("%s: %d bounds and %d refused, of one process %d and %d", m, y.Censored.Count(), y.Refused, x.Censored.Count(), x.Refused)
				}
			}
			if run.Header.Rate != whole.Header.Rate || run.Header.Pattern != whole.Header.Pattern || fmt.Sprint(run.Lost) != fmt.Sprint(whole.Lost) {
				t.Errorf("rate %v, %s, lost %v; of one process %v, %s, %v", run.Header.Rate, run.Header.Pattern, run.Lost, whole.Header.Rate, whole.Header.Pattern, whole.Lost)
			}
			if slices.ContainsFunc(run.Header.SetupTimes, func(x result.SetupTime) bool { return x.Name == "first message" }) {
				t.Error("the first message has a latency, by clocks that nobody has compared yet")
			}
			if strings.HasPrefix(name, "twice") && run.Closing.Twice == 0 {
				t.Error("no message came to two agents")
			}
			if a, b := run.Summary.Verdict.Status, whole.Summary.Verdict.Status; a != b {
				t.Errorf("%s %+v, of one process %s", a, run.Summary.Verdict.Reasons, b)
			}
		})
	}
}

// doubling is a driver that delivers every thirteenth message of a stream to another member of the group as well, a moment later, as
// a broker does that has missed an acknowledgement.
type doubling struct {
	driver.Driver
	mu      sync.Mutex
	members map[string][]driver.Deliver // by run and group
}

func (d *doubling) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return &doublingSession{s, d, t.Run}, err
}

type doublingSession struct {
	driver.Session
	of  *doubling
	run string
}

func (s *doublingSession) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	var mu sync.Mutex // a consumer's messages come one after the other
	one := func(m driver.Message) {
		mu.Lock()
		defer mu.Unlock()
		deliver(m)
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	group := s.run + spec.Group
	number := len(s.of.members[group])
	s.of.members[group] = append(s.of.members[group], one)
	return s.Session.Consumer(ctx, spec, func(m driver.Message) {
		one(m)
		var e integrity.Envelope
		if check := e.Get(m.Payload, true); check == integrity.Good && e.Kind != integrity.Readiness && e.Sequence%13 == 0 {
			copied := m
			copied.Payload = slices.Clone(m.Payload)
			s.of.mu.Lock()
			all := s.of.members[group]
			s.of.mu.Unlock()
			time.AfterFunc(20*time.Millisecond, func() { all[(number+1)%len(all)](copied) })
		}
	})
}

// Of an agent that was lost in mid-run nothing is known beyond its last record. What a lost sender had due is accounted for,
// also what was received of it after that; what a lost receiver may have received is neither lost nor silently fine.
func TestCrewThatLosesAnAgent(t *testing.T) {
	for _, c := range []struct {
		name  string
		dies  bool // it sends nothing any more; else only its records are lost
		agent int
	}{{"plain", false, 0}, {"one group", false, 1}, {"faults, groups", false, 0}, {"fan-out", true, 0}, {"one group", true, 0},
		{"plain", false, 2}, {"one group", false, 3}, {"several groups", false, 2}, {"faults, groups", false, 3}} {
		t.Run(fmt.Sprintf("%s/%d/%v", c.name, c.agent, c.dies), func(t *testing.T) {
			load := enginetest.Load{Scenario: crossing()[c.name]}
			if c.dies {
				load.Abort = 643 * time.Millisecond
			}
			sources := crewSources(enginetest.Crew(t, load, 2, 2))
			before := merged(t, sources)
			cut(t, sources[c.agent].Path, 6)
			run := merged(t, sources)
			n, was := run.Counters, before.Counters
			if ok, problem := n.Conserved(); !ok {
				t.Error(problem)
			}
			if n.Scheduled < was.Scheduled || !run.Header.Fleet.Agents[c.agent].Lost {
				t.Errorf("%d are scheduled, and with all agents %d", n.Scheduled, was.Scheduled)
			}
			x := run.Metrics[result.DeliveryResponse]
			fan := was.Expected / was.Sent
			if all := x.Hist.Count() + x.Censored.Count() + x.Refused - run.Closing.Twice; all != n.Scheduled*fan {
				t.Errorf("%d latencies, bounds and refusals of %d deliveries", all, n.Scheduled*fan)
			}
			v := run.Summary.Verdict
			if v.Status == result.Valid || !slices.ContainsFunc(v.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonAgentLost }) {
				t.Errorf("the verdict is %s: %+v", v, v.Reasons)
			}
			if n.LostAcked > was.LostAcked {
				t.Errorf("%d are lost, and with all agents %d", n.LostAcked, was.LostAcked)
			}
			switch {
			case c.dies: // what was received of it had been sent, and the rest of its schedule was not
				if n.NotSent == 0 || n.Received != was.Received || run.Closing.Unobserved != 0 {
					t.Errorf("%+v, unobserved %d, with all agents %+v", n, run.Closing.Unobserved, was)
				}
			case c.agent < 2:
				if n.NotSent != 0 || n.Received != was.Received || run.Closing.Unobserved != 0 {
					t.Errorf("%+v, unobserved %d, with all agents %+v", n, run.Closing.Unobserved, was)
				}
			case run.Closing.Unobserved == 0 || n.Sent != was.Sent || n.Received >= was.Received || n.Undelivered+n.MissingUnknown+n.MissingNacked < run.Closing.Unobserved:
				t.Errorf("%+v, unobserved %d, with all agents %+v", n, run.Closing.Unobserved, was)
			}
		})
	}
}

// That later messages have come does not prove a loss if a receiver says so.
func TestCrewProvesLosses(t *testing.T) {
	for ordering, lost := range map[semantics.Ordering]int64{semantics.PerTopic: 2, semantics.PerPartition: 0} {
		load := enginetest.Load{Scenario: crossing()["faults"],
			Change: enginetest.Stating(func(s *driver.Semantics) { s.Levels.Ordering = ordering })}
		r := merged(t, crewSources(enginetest.Crew(t, load, 1, 2)))
		n, gone := r.Counters, int64(0)
		for _, slot := range r.Lost {
			gone += slot[1]
		}
		if n.LostAcked != lost || n.LostAcked+n.Undelivered != 2 || gone < 2 { // and those that came damaged in the envelope
			t.Errorf("ordering %s: %d lost, %d undelivered, %d in no backlog", ordering, n.LostAcked, n.Undelivered, gone)
		}
	}
}

// Results of agents with roles that do not belong together, or that have different clocks, are refused.
func TestCrewRefusesOthers(t *testing.T) {
	sources := crewSources(enginetest.Crew(t, enginetest.Load{Scenario: crossing()["plain"]}, 2, 2))
	change := func(k int, from, to string) func() {
		text, err := os.ReadFile(sources[k].Path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte(from)) {
			t.Fatalf("agent %d has no %s", k, from)
		}
		if err := os.WriteFile(sources[k].Path, bytes.Replace(text, []byte(from), []byte(to), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.WriteFile(sources[k].Path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		agent          int
		from, to, want string
	}{
		{3, `"domain":""`, `"domain":"elsewhere"`, "different clocks"},
		{1, `"role":"producers","part":1`, `"role":"producers","part":0`, "part 2 of the producers"},
		{1, `"role":"producers","part":1,"parts":2`, `"part":1`, "has a role"},
		{2, `"parts":2`, `"parts":3`, "of 3 of the consumers"},
		{2, `"stream":0,"new"`, `"stream":99,"new"`, "stream 99"},
		{3, `"new":"`, `"new":"!`, "no set of numbers"},
	} {
		back := change(c.agent, c.from, c.to)
		if _, err := merge.Files(filepath.Join(t.TempDir(), "merged.jsonl"), sources, merge.Whole{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s became %s: %v", c.from, c.to, err)
		}
		back()
	}
}
