package watch

import (
	"maps"
	"slices"
	"testing"
	"time"

	"sixnines/result"
)

// Each process counts with what it used since the last look, and so does their sum;
// one that was restarted counts from its restart, one that has ended no longer counts.
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

// A process that was started again may end again.
func TestEndsOfBrokers(t *testing.T) {
	var now []Usage
	var ends []string
	r := &brokerWatch{usage: func() []Usage { return now }, event: func(e result.Event) { ends = append(ends, e.Detail) }}
	first, second := time.Now(), time.Now().Add(time.Second)
	for _, x := range []Usage{{Name: "a"}, {Name: "a", Missing: true, Ended: first, Death: "one"}, {Name: "a", Missing: true, Ended: first, Death: "one"},
		{Name: "a"}, {Name: "a", Missing: true}, {Name: "a"}, {Name: "a", Missing: true, Ended: second, Death: "two"}} {
		now = []Usage{x}
		r.add(map[result.Vital]float64{})
	}
	if !slices.Equal(ends, []string{"one", "two"}) {
		t.Errorf("%v", ends)
	}
}
