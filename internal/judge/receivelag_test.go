package judge

import (
	"strings"
	"testing"

	"sixnines/result"
)

// Receive lag of more than half of a percentile makes that percentile and those above it suspect;
// the finding has its size.
func TestReceiveLagIsSuspectByPercentile(t *testing.T) {
	run := newTestbed(healthyMessages()).run(t)
	in := Inputs{}.complete(run)
	s := Summarise(run, in)
	d := s.Histograms[result.DeliveryResponse]
	d.Update("50", func(f *result.Figure) { f.ReceiveShare = new(0.46) })
	d.Update("99", func(f *result.Figure) { f.Value, f.ReceiveShare = 1_000_000, new(0.6) })
	e := newEvidence(run, in, s)
	found := receiveLag(e)
	if len(found) != 1 || found[0].Percentile != "99" || !strings.Contains(found[0].Found, "60 % of delivery.response p99 (1.00 ms), about 600 µs, is receive lag") {
		t.Fatalf("%+v", found)
	}
	if v := e.verdict(found); v.String() != "VALID to p95" || v.Limits[0].Why != "60 % receive lag" {
		t.Errorf("%s: %+v", v, v.Limits)
	}
}

// lain has messages lie unread for a share of their response time, in the first seconds of a run. After
// these the receive lag is not known.
func lain(b *testbed, share float64, known int) {
	for n, i := range b.intervals {
		s := i.shares[result.DeliveryResponse]
		if s == nil {
			continue
		}
		for _, o := range s.own {
			if n < known {
				o.Received = int64(share * float64(o.Total))
			} else {
				o.Unknown = o.Count
			}
		}
	}
}

// Messages whose receive lag is not known, as after a connection was replaced, are left out of its share;
// where they are most of a percentile's, the share is unknown, and a note says so.
func TestUnknownReceiveLagIsNotNone(t *testing.T) {
	for _, tt := range []struct {
		name    string
		known   int // seconds
		share   bool
		status  result.Status // of the finding on receive lag
		verdict string
		says    string
	}{
		{"known throughout", seconds + 4, true, result.Suspect, "SUSPECT", "70 % of delivery.response p"},
		{"lost after six seconds", 6, true, result.Suspect, "SUSPECT", "70 % of delivery.response p"},
		{"lost after a second", 1, false, result.Valid, "VALID", "the receive lag is known for 10 % of 20,000 messages, and for less than half of what is around delivery.response p"},
		{"never known", 0, false, "", "VALID", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			lain(b, 0.7, tt.known)
			run := b.summed(t)
			v := run.Summary.Verdict
			inPlainWords(t, v)
			p50, _ := run.Summary.Histograms[result.DeliveryResponse].At(result.P50)
			if s := p50.ReceiveShare; (s != nil) != tt.share || s != nil && (*s < 0.69 || *s > 0.71) {
				t.Errorf("the share of p50 is %v", s)
			}
			r := find(v, "receive-lag")
			if v.String() != tt.verdict || (r != nil) != (tt.says != "") || r != nil && (r.Status != tt.status || !strings.Contains(r.Text, tt.says)) {
				t.Errorf("%s: %+v", v, v.Reasons)
			}
			if problems := Verify(run, run.Header.Tool); len(problems) > 0 {
				t.Errorf("verify: %v", problems)
			}
		})
	}
}

// A probe beside the load does not clear the generator by the receive lag of the first seconds alone.
func TestTheProbeNeedsTheReceiveLagOfMostMessages(t *testing.T) {
	messages := healthyMessages()
	for i := range messages {
		messages[i].service += 7_000_000
	}
	b := newTestbed(messages)
	probed(b, 90_000, 150_000, -1)
	for _, i := range b.intervals[:2] {
		for range perSecond {
			i.share(result.LagReceive).add(3_000)
		}
	}
	lain(b, 0, 2)
	if r := find(verdictOf(b.run(t), Inputs{}), "probe"); r == nil || r.Status != result.Suspect || !strings.Contains(r.Text, "the receive lag is not known") {
		t.Errorf("%+v", r)
	}
}

// Own and receive lag that are each within their limits are more than half of a percentile together:
// a note as long as it is what waking two threads takes, then SUSPECT.
func TestLagOfBothEndsTogether(t *testing.T) {
	for _, tt := range []struct {
		name     string
		received float64 // share of each message's response
		notes    int
		verdict  string
	}{
		{"less than half", 0.3, 0, "VALID"},
		{"more than half of the median", 0.4, 1, "VALID"},
		{"more than half of the tail", 0.48, 1, "VALID to p95"},
		{"receive lag alone", 0.6, 0, "SUSPECT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			lain(b, tt.received, seconds+4)
			v := verdictOf(b.run(t), Inputs{})
			inPlainWords(t, v)
			notes := 0
			for _, r := range v.Reasons {
				if r.Code == result.ReasonGeneratorShare && r.Status == result.Valid {
					if notes++; r.Percentile != result.P50 || !strings.Contains(r.Text, "less than half of the figure is the system's") {
						t.Errorf("%+v", r)
					}
				}
			}
			if v.String() != tt.verdict || notes != tt.notes {
				t.Errorf("%s, %d notes: %+v", v, notes, v.Reasons)
			}
		})
	}
}
