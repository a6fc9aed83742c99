package report

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/compare"
	"sixnines/internal/engine/actions"
	"sixnines/internal/engine/enginetest"
	"sixnines/result"
	"sixnines/scenario"
)

// playedAct does nothing by itself: what happens to the broker at its instant is played beside it. It describes
// the conditions of a network that an act has.
type playedAct struct{ network *result.Network }

func (playedAct) Do(context.Context, int64) (int64, error) { return 0, nil }

func (playedAct) Undo(context.Context) (int64, error) { return 0, nil }

func (a playedAct) Describe(e *result.Event) {
	if e.Action != nil {
		e.Action.Nodes, e.Action.Network = []int{1}, a.network
	}
}

// stands is when the broker of the golden runs stands still: when no message is due and none on its way arrives, so that
// their order is known.
const stands = 3*time.Second + 300*time.Microsecond

// acted is a run in virtual time whose broker stands still for a second while it is under an action.
func acted(t *testing.T, action, options string, consumers int, network *result.Network) *result.Run {
	t.Helper()
	return enginetest.Verified(t, enginetest.Load{
		Scenario: fmt.Sprintf("name: acted\nseed: 7\ntarget: {driver: mem, nodes: 3, options: {ack: broker, ack_delay: 500us, delay: 1ms, keep: true, %s}}\n"+
			"workload: {rate: 1000/s, consumers: %d}\nphases: {warmup: 0s, duration: 6s, read_back: 10s}\nrecord: {probe: off, interval: 100ms}\n"+
			"actions: [%s]\n", options, consumers, action),
		Actions: []enginetest.Action{{At: stands, Do: (*mem.Broker).Freeze}, {At: stands + time.Second, Do: (*mem.Broker).Thaw}},
		Change:  func(e *driver.Entry) { e.Capabilities.OwnsDialing = false },
		Doer: func(a *scenario.Act) (actions.Doer, error) {
			if a.Kind == scenario.ActionNetwork {
				return playedAct{network}, nil
			}
			return playedAct{}, nil
		},
	})
}

// path is what was counted and measured of a network with a delay of 5 ms each way and loss.
func path() *result.Network {
	times := func(p50 int64) *result.RoundTrips {
		return &result.RoundTrips{Tried: 40, Min: p50 - 4000, P50: p50, P99: p50 + 90_000}
	}
	return &result.Network{Between: []string{"clients", "brokers"}, Direction: "both", Asked: result.Conditions{Delay: 5e6, Loss: 0.01},
		Means: []result.NetworkMeans{
			{Way: "to brokers", Means: "nfqueue", Gave: []string{"delay"}, Packets: 2016, Late: 4_200, LateMost: 310_000},
			{Way: "to brokers", Means: "tcx", Gave: []string{"loss"}, Packets: 2036, Lost: 20},
			{Way: "from brokers", Means: "nfqueue", Gave: []string{"delay"}, Packets: 1950, Late: 3_900, LateMost: 270_000},
			{Way: "from brokers", Means: "tcx", Gave: []string{"loss"}, Packets: 1971, Lost: 21}},
		Before: times(23_000), During: times(10_104_000), After: &result.RoundTrips{Tried: 40, Failed: 2, Min: 19_000, P50: 24_000, P99: 80_000}}
}

// What is shown of actions, of what they cost, of networks and of what was read back, in a terminal, in Markdown and on
// a page: a change of it is seen in these files.
func TestCostsGolden(t *testing.T) {
	for name, run := range map[string]*result.Run{
		"kill":    acted(t, "{at: 3000300us, kill: {node: 1}, restart: 1s}", "duplicate: 5, mark_duplicates: true, after: 3100, every: 1", 1, nil),
		"network": acted(t, "{at: 3000300us, network: {delay: 5ms, loss: 1%}, for: 1s}, {at: 5500ms, disconnect: all}", "", 2, path()),
		"lost":    acted(t, "{at: 3000300us, power: {node: all}, restart: 1s}", "lose_acked: 20, nack: 7, after: 2980, every: 1", 1, nil),
	} {
		t.Run(name, func(t *testing.T) {
			prepared, err := subjects([]*result.Run{run})
			if err != nil {
				t.Fatal(err)
			}
			s := prepared[0]
			tables := slices.DeleteFunc(append([]*table{actionsTable(s), networkTable(s)}, costTables(s)...), func(x *table) bool { return x == nil })
			tables = append(tables, lostTables(s)...)
			var text bytes.Buffer
			for _, width := range []int{80, 120} {
				p := newPrinter(Options{Width: width})
				fmt.Fprintf(&p.buf, "%d COLUMNS\n\n", width)
				p.document(append(actionBlocks(s), gap{}))
				p.document(append(s.named(tables...), messageLines(s)...))
				if err := p.write(&text); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, "costs-"+name+".txt", text.Bytes())
			m := newMarkdown()
			m.document(s.named(tables...))
			var md, page bytes.Buffer
			if err := m.write(&md); err != nil {
				t.Fatal(err)
			}
			golden(t, "costs-"+name+".md", md.Bytes())
			body := document{messageTables(s)}
			for _, x := range tables {
				body = append(body, section(x, onPage))
			}
			if err := writePage(&page, "x", "x", "", nil, body); err != nil {
				t.Fatal(err)
			}
			_, main, _ := strings.Cut(page.String(), "<main>")
			main, _, _ = strings.Cut(main, "</main>")
			golden(t, "costs-"+name+".html", []byte(main))
		})
	}
}

// What the same action cost in repeated runs: a row for each, and the least, the median and the most. A latency that
// was not back is a lower bound, and a run that does not know has no figure.
func TestRepeatedCostsGolden(t *testing.T) {
	runs := repeatedRuns(4)
	for i, r := range runs {
		r.Header.Actions = []result.Action{{Kind: "kill", Subject: "leader", At: 20e9, Text: "{at: 20s, kill: {node: leader}, restart: 5s}"}}
		r.Summary.Costs = []result.Cost{failover(int64(i+1)*1e9, int64(i)*10)}
	}
	runs[1].Summary.Costs[0].Recovered, runs[1].Summary.Costs[0].NotRecovered = nil, 30e9
	c := &runs[3].Summary.Costs[0]
	c.Effect, c.Why, c.Detected, c.Unavailable, c.Recovered, c.LostAcked = result.ImpactUnknown, "too few messages", nil, nil, nil, nil
	golden(t, "costs-repeats-100.txt", []byte(screenText(t, Options{Width: 100}, runs...)))
	text := terminal(t, Options{Width: 120}, runs...)
	if x := sectionOf(text, "COST OF KILL LEADER AT 20 S"); !strings.Contains(x, "≥ 30.0 s") || !strings.Contains(x, "n/a") || !strings.Contains(x, "median") {
		t.Errorf("%s\n%s", x, text)
	}
	runs[0].Header.Actions = nil // another timeline
	if text := screenText(t, Options{Width: 100}, runs...); strings.Contains(text, "COST OF") {
		t.Errorf("costs of different timelines are side by side:\n%s", text)
	}
}

// failover is what a killed leader cost that was away for a time, ns, and lost so many messages.
func failover(away, lost int64) result.Cost {
	c := result.Cost{Actions: []int{1}, From: 20e9, Over: 25e9, Gone: 25e9, Until: 60e9, Effect: result.ImpactSeen, Detected: &result.Within{Least: 1e6, Most: 2e6},
		Unavailable: &result.Within{Least: away, Most: away + 1e8}, Recovered: &result.Within{Least: away + 1e8, Most: away + 3e8}, LostAcked: &result.CostLost{Count: lost}, Metric: result.DeliveryResponse}
	for _, h := range scenario.Harms() {
		c.Causes = append(c.Causes, string(h))
	}
	return c
}

// What actions cost is compared on the screen, in Markdown, on the page and in JSON.
func TestComparedCosts(t *testing.T) {
	sets := func(side, n int, r *result.Run) {
		r.Header.Actions = []result.Action{{Kind: "kill", Subject: "leader", At: 20e9, Text: "{at: 20s, kill: {node: leader}, restart: 5s}"}}
		r.Summary.Costs = []result.Cost{failover(int64(1+2*side)*1e9+int64(n)*1e6, int64(1-side)*25)}
	}
	c := abSets(t, 10, 1, sets)
	for _, width := range []int{60, 80, 120} {
		golden(t, fmt.Sprintf("compare-failover-%d.txt", width), []byte(compareText(t, c, Options{Width: width})))
	}
	golden(t, "compare-failover-full.txt", []byte(compareText(t, c, Options{Width: 120, Full: true})))
	var md, page, object bytes.Buffer
	if err := CompareMarkdown(&md, c); err != nil {
		t.Fatal(err)
	}
	if err := CompareHTML(&page, []*compare.Comparison{c}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := CompareJSON(&object, c); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare-failover.md", md.Bytes())
	for what, text := range map[string]string{"markdown": md.String(), "page": page.String()} {
		for _, want := range []string{"unavailable", "MORE", "LESS", "lost although acknowledged", "kill leader at"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", what, want)
			}
		}
	}
	if !strings.Contains(object.String(), `"outcome":"more"`) || !strings.Contains(object.String(), `"of":"unavailable"`) {
		t.Errorf("%s", object.String())
	}
	refused := abSets(t, 10, 1, func(side, n int, r *result.Run) {
		if sets(side, n, r); side == 1 {
			r.Header.Actions[0].At = 21e9
		}
	})
	for what, text := range map[string]string{"screen": compareText(t, refused, Options{Width: 80}), "full": compareText(t, refused, Options{Width: 120, Full: true})} {
		if !strings.Contains(text, "the timelines differ") || strings.Contains(text, "MORE") {
			t.Errorf("%s:\n%s", what, text)
		}
	}
}
