package judge

import (
	"runtime"
	"strings"
	"testing"

	"sixnines/internal/vitals"
	"sixnines/result"
)

// What the generator takes of a machine that it shares with the broker is told where it is
// much, and where it is known.
func TestSharing(t *testing.T) {
	const unsaid = "no network lies between them"
	for name, tt := range map[string]struct {
		busy, used     float64
		allowed, quota string
		mode           string
		end            string
	}{
		"processors to spare":            {0.5, 0.5, "0-1", "none", result.ModeOpen, unsaid},
		"most of them used up":           {0.7, 0.8, "0-1", "none", result.ModeOpen, "busy for 70 % of the time, 40 % with the generator: what waits for them waits about 2.3 times as long as without it, so give the broker a machine of its own, or lower the rate"},
		"all of them used up":            {1, 1, "0-1", "none", result.ModeOpen, "about 51.0 times as long as without it, so give the broker a machine of its own, or lower the rate"},
		"flat out":                       {0.7, 0.8, "0-1", "none", result.ModeFlatOut, unsaid},
		"the generator has a part":       {0.7, 0.8, "1", "none", result.ModeOpen, unsaid},
		"the generator has a quota":      {0.7, 0.8, "0-1", "1.5 cores", result.ModeOpen, unsaid},
		"nobody says what it has":        {0.7, 0.8, "", "none", result.ModeOpen, unsaid},
		"more ticks of its own than all": {0.5, 1.9, "0-1", "none", result.ModeOpen, "busy for 50 % of the time, 50 % with the generator: what waits for them waits about 2.0 times as long as without it, so give the broker a machine of its own, or lower the rate"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			b.header.SameHost, b.header.Mode = true, tt.mode
			b.header.Machine = append(b.header.Machine, result.Fact{Name: factOnline, Value: "0-1"},
				result.Fact{Name: factAllowed, Value: tt.allowed}, result.Fact{Name: factQuota, Value: tt.quota})
			for _, i := range b.intervals {
				i.v.Vitals[vitalBusy], i.v.Vitals[vitalProcessCPU] = tt.busy, tt.used
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
	facts := map[string]bool{}
	for _, f := range vitals.Fingerprint() {
		facts[f.Name] = true
	}
	for _, name := range []string{factProcessors, factOnline, factAllowed, factQuota} {
		if !facts[name] && (name == factProcessors || runtime.GOOS == "linux") {
			t.Errorf("no fact is called %q", name)
		}
	}
}
