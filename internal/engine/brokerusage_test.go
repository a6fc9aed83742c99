package engine

import (
	"maps"
	"strings"
	"testing"
	"time"

	"sixnines/drivers/mem"
	"sixnines/result"
)

// Each process is weighed by what it used since the last look, and all together;
// one that was restarted counts from its restart, one that has ended counts no more.
func TestBrokerUsage(t *testing.T) {
	var now []Usage
	r := &brokerWatch{usage: func() []Usage { return now }}
	look := func(list ...Usage) map[result.Vital]float64 {
		t.Helper()
		now = list
		v := map[result.Vital]float64{}
		r.add(v)
		return v
	}
	want := func(got, want map[result.Vital]float64) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
	a := func(cpu time.Duration, rss, written int64) Usage {
		return Usage{Name: "a", CPU: cpu, RSS: rss, ReadBytes: 0, WriteBytes: written}
	}
	b := func(cpu time.Duration, rss int64) Usage {
		return Usage{Name: "b", CPU: cpu, RSS: rss, ReadBytes: -1, WriteBytes: -1}
	}
	now = []Usage{a(time.Second, 7, 100)}
	r.add(nil)
	want(look(a(3*time.Second, 8, 150)), map[result.Vital]float64{"broker.cpu": 2, "broker.rss": 8, "broker.read_bytes": 0, "broker.write_bytes": 50})
	// A second one begins: its processor time is known from the next look on.
	want(look(a(4*time.Second, 8, 150), b(time.Second, 2)), map[result.Vital]float64{
		"broker.cpu": 1, "broker.rss": 10, "broker.read_bytes": 0, "broker.write_bytes": 0,
		"broker.a.cpu": 1, "broker.a.rss": 8, "broker.a.read_bytes": 0, "broker.a.write_bytes": 0, "broker.b.rss": 2})
	// The first was restarted, and the system does not tell what the second wrote.
	want(look(a(time.Second/2, 8, 10), b(2*time.Second, 2)), map[result.Vital]float64{
		"broker.cpu": 1.5, "broker.rss": 10, "broker.read_bytes": 0, "broker.write_bytes": 10,
		"broker.a.cpu": 0.5, "broker.a.rss": 8, "broker.a.read_bytes": 0, "broker.a.write_bytes": 10,
		"broker.b.cpu": 1, "broker.b.rss": 2})
	want(look(Usage{Name: "a", Missing: true}, Usage{Name: "b", Missing: true}), map[result.Vital]float64{})
}

// The end of a process that ends by itself is reported once, and the run goes on.
func TestBrokerThatEndsIsAnEvent(t *testing.T) {
	died := time.Now()
	looks := 0
	r := measureConfig(t, Config{Entry: mem.Entry(), Scenario: parse(t, "workload: {rate: 100/s}\nphases: {warmup: 0s, duration: 500ms}\nrecord: {interval: 100ms}"),
		Usage: func() []Usage {
			if looks++; looks == 1 {
				return []Usage{{Name: "node-1", CPU: time.Second, RSS: 1}}
			}
			return []Usage{{Name: "node-1", Missing: true, Ended: died, Death: "node-1 ended by itself: exit status 3"}}
		}})
	var told []string
	for _, e := range r.Events {
		if e.Kind == result.EventBrokerEnded {
			told = append(told, e.Detail)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "exit status 3") {
		t.Errorf("told %q", told)
	}
	if r.Counters.Received != 50 {
		t.Errorf("%+v", r.Counters)
	}
}
