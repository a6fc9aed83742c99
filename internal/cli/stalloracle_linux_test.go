package cli

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"sixnines/internal/vitals/vitalstest"
	"sixnines/result"
)

// A broker that is stalled for D in a window of T, and then works off what has come meanwhile much faster than
// more comes, makes a share 1−p of the messages wait longer than x_p = D − (1−p)·T·(1−ρ), within 3 %. D is as long
// as the stall really was. ρ is taken as 0, the broker taking no time for the backlog. That decides little of p99,
// whatever ρ is. Brokers that are slow to start work off their backlog slowly too: their p90 is not judged.
func TestStallOracleOfBrokers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	every := os.Getenv(faultsVariable) == "all"
	tried := map[string]bool{}
	for _, c := range faultCells() {
		if !every && (c.nodes > 1 || tried[c.product]) || c.lingers {
			continue
		}
		tried[c.product] = true
		t.Run(c.String(), func(t *testing.T) {
			c.installed(t)
			vitalstest.Injected(t, func() (complaint string) {
				const window, rate = 3 * time.Second, 400
				r := c.start(t, fmt.Sprintf("rate: %d/s, size: 128B", rate), "  - {at: 1s, stall: {node: all}, for: 1s}\n", window).ended(t, false)
				var stall float64
				for _, e := range r.Events {
					if e.Kind == result.EventActionOver {
						stall = float64(e.At-e.Action.Began) / 1e9
					}
				}
				n := r.Counters
				if stall == 0 || n.Missing+n.NotSent+n.Rejected != 0 {
					t.Fatalf("stalled for %g s; a stall loses nothing: %+v\n%s", stall, n, r.said)
				}
				got := r.Summary.Histograms[result.DeliveryResponse]
				for p, label := range map[float64]string{0.9: "90", 0.99: "99"} {
					want := stall - (1-p)*window.Seconds()
					have := float64(got.Figures[result.Percentile(label)].Value) / 1e9
					t.Logf("stalled for %.4f s: p%s is %.4f s, the oracle says %.4f: %+.2f %%", stall, label, have, want, 100*(have/want-1))
					if (p > 0.9 || !c.slow) && math.Abs(have-want) > 0.03*want {
						complaint = fmt.Sprintf("p%s is %.4f s, the oracle says %.4f", label, have, want)
					}
				}
				return complaint
			})
		})
	}
}
