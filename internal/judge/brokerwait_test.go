package judge

import (
	"strings"
	"testing"

	"sixnines/internal/vitals"
	"sixnines/result"
)

// How long the broker's threads waited for a processor is told where it is much.
func TestBrokerWaited(t *testing.T) {
	const unsaid = "no network lies between them"
	for name, tt := range map[string]struct {
		busy, waited float64
		end          string
	}{
		"idle":                      {0.05, 0.02, unsaid},
		"busy, and never waiting":   {0.95, 0, unsaid},
		"as beside a plain program": {0.55, 0.11, unsaid},
		"waiting":                   {0.55, 0.2, "the broker's threads ran for 55 % of the time and waited for a processor for 20 %, so that what waited in the broker waited about 1.8 times as long as on processors of its own"},
		"never done":                {0.6, 0.5, "about 40.0 times as long as on processors of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			b.header.SameHost = true
			for _, i := range b.intervals {
				i.v.Vitals[vitalBrokerBusy], i.v.Vitals[vitalBrokerWait] = tt.busy, tt.waited
			}
			v := assessed(Verdict(b.run(t), Inputs{}))
			r := find(v, "same-host")
			if r == nil || r.Status != result.Valid || !strings.HasSuffix(r.Text, tt.end) {
				t.Fatalf("%+v", v.Reasons)
			}
			inPlainWords(t, v)
		})
	}
}

func TestFactsAreNamedAsTheyAreWritten(t *testing.T) {
	for _, f := range vitals.Fingerprint() {
		if f.Name == factProcessors {
			return
		}
	}
	t.Errorf("no fact is called %q", factProcessors)
}
