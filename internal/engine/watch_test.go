package engine

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/drivers/mem"
	"sixnines/drivers/nats"
	"sixnines/result"
)

// The vitals of an interval have what the kernel says of the run's connections.
func TestTCPOfARun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("TCP_INFO is read on Linux only")
	}
	b := startNATS(t)
	r := measure(t, "phases: {warmup: 50ms, duration: 500ms}\nworkload: {rate: 500/s}\nrecord: {interval: 500ms}", nats.Entry(), b.URL)
	v := r.Series[0].Vitals
	if n, ok := v[result.VitalTCPRetransmissions]; !ok || n < 0 || v[result.VitalTCPRTTMax] <= 0 || v[result.VitalTCPRTTMean] > v[result.VitalTCPRTTMax] {
		t.Errorf("%v", v)
	}
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
			return []Usage{{Name: "node-1", Missing: true, Ended: died, Death: "node-1 ended unexpectedly: exit status 3"}}
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

// So is the end of one that ends when the last interval is written: while what it keeps is read back, for example.
func TestBrokerThatEndsInTheEndIsAnEvent(t *testing.T) {
	over := new(brokerEndsWithPath)
	r := measureConfig(t, Config{Entry: mem.Entry(), Path: over, Scenario: parse(t, "workload: {rate: 100/s}\nphases: {warmup: 0s, duration: 300ms}\nrecord: {interval: 100ms}"),
		Usage: func() []Usage {
			if over.ended.IsZero() {
				return []Usage{{Name: "node-1", CPU: time.Second, RSS: 1}}
			}
			return []Usage{{Name: "node-1", Missing: true, Ended: over.ended, Death: "node-1 ended unexpectedly: exit status 3"}}
		}})
	i := slices.IndexFunc(r.Summary.Verdict.Reasons, func(x result.Reason) bool { return x.Code == result.ReasonBrokerEnded })
	if i < 0 || !strings.Contains(r.Summary.Verdict.Reasons[i].Means, "had been resolved by then") {
		t.Errorf("%+v", r.Summary.Verdict.Reasons)
	}
}

// brokerEndsWithPath is a path with whose conditions the broker ends, when clients have left.
type brokerEndsWithPath struct{ ended time.Time }

func (p *brokerEndsWithPath) Network() *result.Network { return new(result.Network) }

func (p *brokerEndsWithPath) End() (*result.Network, error) {
	p.ended = time.Now()
	return new(result.Network), nil
}
