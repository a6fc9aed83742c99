package judge

import (
	"math/rand/v2"
	"strings"
	"testing"

	"sixnines/result"
)

// probed adds a probe of 47 messages a second to a run: of service time p each,
// give or take an eighth, tail of one in fifty. Of the load's messages the
// receive lag is given.
func probed(b *testbed, service, tail, received int64) {
	b.header.Pattern = "deliver"
	rng := rand.New(rand.NewPCG(3, 5))
	for s := range seconds {
		i := b.intervals[s]
		for n := range 47 {
			v := service
			if n == 20 {
				v = tail
			}
			i.share(result.ProbeService).add(v*7/8 + rng.Int64N(v/4))
		}
		if received >= 0 {
			for range perSecond {
				i.share(result.LagReceive).add(received)
			}
		}
	}
	closing := b.intervals[len(b.intervals)-1].v.Vitals
	closing[result.VitalProbeSpan], closing[result.VitalProbeSent], closing[result.VitalProbeMissing] = seconds*0.96e9, 490, 0
}

// ofThree is a healthy run whose messages go to three consumers at once, and are slow by that
// much.
func ofThree(slow int64) *testbed {
	messages := healthyMessages()
	for i := range messages {
		messages[i].service += slow
	}
	b := newTestbed(messages)
	for range 2 {
		for _, m := range messages {
			done := b.at(m.intended + m.response())
			done.v.Counters.Expected++
			done.v.Counters.Received++
			done.share(result.DeliveryResponse).response(m.response(), m.own, m.intended)
			done.share(result.DeliveryService).add(m.service)
		}
	}
	return b
}

func TestBesideProbe(t *testing.T) {
	const ms = 1_000_000
	slow := func() *testbed { // p50 7 ms
		messages := healthyMessages()
		for i := range messages {
			messages[i].service += 7 * ms
		}
		return newTestbed(messages)
	}
	tests := []struct {
		name   string
		bed    func() *testbed
		want   []string // the percentiles found
		status result.Status
		text   string
	}{
		{"alike", func() *testbed {
			b := newTestbed(healthyMessages())
			probed(b, 90_000, 150_000, 3_000)
			return b
		}, nil, "", ""},
		{"the load waits, and the generator did not", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			return b
		}, []string{"50", "99"}, result.Valid, "own connections, queues or client, not in the broker as a whole; the generator did not cause it"},
		{"the load waits, on a cluster", func() *testbed {
			b := slow()
			b.header.Deployment = &result.Deployment{Nodes: 3}
			probed(b, 90_000, 150_000, 3_000)
			return b
		}, []string{"50", "99"}, result.Valid, "queues or client, or in nodes that serve it but not the probe, not"},
		{"the load waits, on somebody's cluster", func() *testbed {
			b := slow()
			b.header.Broker = map[string]string{"brokers": "3"}
			probed(b, 90_000, 150_000, -1)
			return b
		}, []string{"50", "99"}, result.Suspect, "or in nodes that serve it but not the probe"},
		{"the load waits, at several addresses", func() *testbed {
			b := slow()
			b.header.Scenario = []byte(`{"target":{"driver":"nats","url":"nats://a:1,nats://b:1"}}`)
			probed(b, 90_000, 150_000, 3_000)
			return b
		}, []string{"50", "99"}, result.Valid, "or in nodes that serve it but not the probe"},
		{"the load waits, at one address", func() *testbed {
			b := slow()
			b.header.Scenario = []byte(`{"target":{"driver":"nats","url":"nats://a:1"}}`)
			b.header.Deployment = &result.Deployment{Nodes: 1}
			probed(b, 90_000, 150_000, 3_000)
			return b
		}, []string{"50", "99"}, result.Valid, "queues or client, not in the broker"},
		{"the broker is slow for both", func() *testbed {
			b := slow()
			probed(b, 7*ms, 8*ms, 3_000)
			return b
		}, nil, "", ""},
		{"the receive lag is not known", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, -1)
			return b
		}, []string{"50", "99"}, result.Suspect, "the receive lag is not known"},
		{"the receive lag explains it", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 7*ms)
			for _, i := range b.intervals[:seconds+1] {
				for _, o := range i.share(result.DeliveryResponse).own {
					o.Received = o.Total * 9 / 10
				}
			}
			return b
		}, nil, "", ""},
		{"busy processors", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			for _, i := range b.intervals {
				i.v.Vitals[result.VitalProcessCPU] = 1.6
			}
			return b
		}, []string{"50", "99"}, result.Suspect, "80 % of its 2 processors"},
		{"a broker without a processor", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			b.intervals[4].v.Pauses = []result.Pause{{Start: 2e9, End: 4e9, Source: result.PauseStarved}}
			return b
		}, []string{"50", "99"}, result.Suspect, "the broker lacked a processor of this machine for 20 % of the window"},
		{"a busy sender", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			b.intervals[4].v.Vitals[result.VitalPacerBusy] = 0.8
			return b
		}, []string{"50", "99"}, result.Suspect, "busy for 80 %"},
		{"a busy reader", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			b.intervals[4].v.Vitals[result.VitalReaderBusy] = 0.9
			return b
		}, []string{"50", "99"}, result.Suspect, "its busiest reader of a connection was busy for 90 % of a second"},
		{"goroutines that wait", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			b.intervals[4].v.Vitals[result.VitalGoLatencyP99] = 5 * ms
			return b
		}, []string{"50", "99"}, result.Suspect, "waited 5.00 ms or more for a processor"},
		{"three consumers of each message, and busy processors", func() *testbed {
			b := ofThree(7 * ms)
			probed(b, 3*ms, 4*ms, 3_000)
			for _, i := range b.intervals {
				i.v.Vitals[result.VitalProcessCPU] = 1.6
			}
			return b
		}, []string{"50"}, result.Valid, "each message of this load goes to 3 consumers in turn, and each message of the probe to one"},
		{"three consumers of each message do not explain it", func() *testbed {
			b := ofThree(7 * ms)
			probed(b, 90_000, 150_000, 3_000)
			for _, i := range b.intervals {
				i.v.Vitals[result.VitalProcessCPU] = 1.6
			}
			return b
		}, []string{"50", "99"}, result.Suspect, "80 % of its 2 processors"},
		{"flat out", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			b.header.Mode = result.ModeFlatOut
			return b
		}, nil, "", ""},
		{"a probe of the last third only", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			b.intervals[len(b.intervals)-1].v.Vitals[result.VitalProbeSpan] = 3e9
			return b
		}, nil, "", ""},
		{"a probe that lost one in thirty", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			b.intervals[len(b.intervals)-1].v.Vitals[result.VitalProbeMissing] = 16
			return b
		}, []string{"50"}, result.Valid, ""},
		{"the probe waits", func() *testbed {
			b := newTestbed(healthyMessages())
			probed(b, 3*ms, 4*ms, 3_000)
			return b
		}, []string{"50", "99"}, result.Valid, "nearly idle"},
		{"the load waits, and the probe is on an agent of its own", func() *testbed { // never suspect: it may be the way
			b := slow()
			probed(b, 90_000, 150_000, -1)
			b.header.Fleet = &result.Fleet{Probe: &result.FleetProbe{Name: "m3"}}
			for i := range b.intervals[:seconds] { // one message that did not wait: the ways are alike
				b.intervals[i].share(result.DeliveryService).add(80_000)
			}
			return b
		}, []string{"50", "99"}, result.Valid, "for a probe of the same broker at the same time, on agent m3; the agents of the load have it"},
		{"the way of the load is longer than that of an agent", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			b.header.Fleet = &result.Fleet{Probe: &result.FleetProbe{Name: "m3"}}
			return b
		}, nil, "", ""},
		{"the way of an agent is longer than that of the load", func() *testbed {
			b := newTestbed(healthyMessages())
			probed(b, 600_000, 600_000, 3_000)
			b.header.Fleet = &result.Fleet{Probe: &result.FleetProbe{Name: "m3"}}
			return b
		}, nil, "", ""},
		{"a probe on an agent that was lost", func() *testbed {
			b := slow()
			probed(b, 90_000, 150_000, 3_000)
			b.header.Fleet = &result.Fleet{Probe: &result.FleetProbe{Name: "m3", Lost: true}}
			return b
		}, nil, "", ""},
		{"a tail of the probe's that chance explains", func() *testbed {
			// One in fifty of the load's messages is slow, and of the probe's as well
			// but for a few: its p99 is known within wide limits only.
			messages := healthyMessages()
			for i := range messages {
				if i%50 == 0 {
					messages[i].service += 7 * ms
				}
			}
			b := newTestbed(messages)
			probed(b, 90_000, 90_000, 3_000)
			for s := range 3 {
				b.intervals[s].share(result.ProbeService).add(7 * ms)
			}
			return b
		}, nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := tt.bed().summed(t)
			var found []string
			for _, r := range run.Summary.Verdict.Reasons {
				if r.Code != "probe" {
					continue
				}
				found = append(found, string(r.Percentile))
				if r.Status != tt.status || !strings.Contains(r.Text, tt.text) {
					t.Errorf("%s: %s", r.Status, r.Text)
				}
			}
			if strings.Join(found, " ") != strings.Join(tt.want, " ") {
				t.Errorf("found %v, want %v: %+v", found, tt.want, run.Summary.Verdict.Reasons)
			}
			if problems := Verify(run, run.Header.Tool); len(problems) > 0 {
				t.Errorf("verify: %v", problems)
			}
		})
	}
}
