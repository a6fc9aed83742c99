package compare

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

// changes reports whether a comparison says that exactly this was changed.
func changes(c *Comparison, want ...string) bool {
	var got []string
	for _, x := range c.Changes {
		got = append(got, x.String())
	}
	return slices.Equal(got, want)
}

// arms returns the runs of an ab whose B has another scenario, and what else alter
// makes of its header.
func arms(factor float64, scenario string, alter func(h *result.Header)) (a, b []*result.Run) {
	return steady(6, factor, func(side, n int, r *result.Run) {
		r.Header.Trial = &result.Trial{Set: "s", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: n + 1}
		if side == 1 {
			r.Header.Scenario = json.RawMessage(scenario)
			if alter != nil {
				alter(&r.Header)
			}
		}
	})
}

// What an ab was asked to change, and what comes with it, is not called unlike; what
// differs besides is, and refuses a ranking as ever.
func TestUnderTest(t *testing.T) {
	const option = `{"workload":{"rate":"1000/s","consumers":1},"target":{"options":{"linger":"5ms"}},"phases":{"duration":"10s"}}`
	for name, tt := range map[string]struct {
		scenario   string
		alter      func(h *result.Header)
		changes    []string
		follows    []string
		unlike     []string
		outcome    Outcome
		guarantees string
		priced     bool // changes are shown though there is no ranking
	}{
		"option": {option, func(h *result.Header) {
			h.Semantics.Batching = "up to 5ms"
			h.Semantics.Settings = map[string]string{"linger": "5ms"}
		}, []string{"option.linger=5ms"}, []string{"batching"}, nil, Slower, "", false},
		"option, and a broker that is another by accident": {option, func(h *result.Header) { h.Broker = map[string]string{"version": "2"} },
			[]string{"option.linger=5ms"}, nil, []string{"broker version"}, Slower, "", false},
		"the broker": {`{"target":{"url":"nats://b"},"workload":{"rate":"1000/s","consumers":1},"phases":{"duration":"10s"}}`,
			func(h *result.Header) { h.Broker = map[string]string{"version": "2"} }, []string{"target.url=nats://b"}, []string{"broker version"}, nil, Slower, "", false},
		"weaker": {option, func(h *result.Header) { h.Semantics.Durability = "none, messages are not stored" }, []string{"option.linger=5ms"},
			[]string{"durability"}, nil, Unranked, `B gives weaker guarantees: durability "none, messages are not stored" instead of "memory".`, true},
		"stronger": {option, func(h *result.Header) { h.Semantics.Delivery = "at least once" }, []string{"option.linger=5ms"},
			[]string{"delivery guarantee"}, nil, Unranked, `B gives stronger guarantees: delivery guarantee "at least once" instead of "at most once".`, true},
		"words that cannot be ranked": {option, func(h *result.Header) { h.Semantics.Durability = "as the broker is configured" }, []string{"option.linger=5ms"},
			[]string{"durability"}, nil, Unranked, "B gives other guarantees: durability", true},
		"guarantees though only the length was changed": {`{"workload":{"rate":"1000/s","consumers":1},"phases":{"duration":"20s"}}`,
			func(h *result.Header) { h.Semantics.Durability = "none" }, []string{"phases.duration: 10s → 20s"}, nil, []string{"durability"}, Unranked, "", false},
		"rate": {`{"workload":{"rate":"2000/s","consumers":1},"phases":{"duration":"10s"}}`, func(h *result.Header) { h.Rate = 2000 },
			[]string{"workload.rate: 1000/s → 2000/s"}, nil, nil, Unranked, "", true},
		"pattern": {`{"workload":{"rate":"1000/s","consumers":1,"pattern":"publish"},"phases":{"duration":"10s"}}`, func(h *result.Header) { h.Pattern = "publish" },
			[]string{"workload.pattern=publish"}, nil, nil, Unranked, "", false},
	} {
		a, b := arms(1.2, tt.scenario, tt.alter)
		c := compared(t, a, b, standard())
		names := func(list []Difference) (out []string) {
			for _, d := range list {
				out = append(out, d.What)
			}
			slices.Sort(out)
			return out
		}
		if c.Kind != KindAB || !changes(c, tt.changes...) || !slices.Equal(names(c.Follows), tt.follows) || !slices.Equal(names(c.Differences), tt.unlike) {
			t.Errorf("%s: %s, changes %v, follows %v, unlike %v", name, c.Kind, c.Changes, names(c.Follows), names(c.Differences))
		}
		if c.Outcome != tt.outcome || !strings.Contains(c.Guarantees, tt.guarantees) || (c.Guarantees == "") != (tt.guarantees == "") || c.Guarantees != "" && !strings.Contains(c.Text, c.Guarantees) {
			t.Errorf("%s: %s (%s), guarantees %q", name, c.Outcome, c.Text, c.Guarantees)
		}
		// Nobody is called faster for promising less, and no gate decides over it.
		r := c.row("99")
		if c.Refused != "" && (r.Outcome != "" || len(c.Regressions) > 0 || c.Ungated == "" || (r.Shift != nil) != tt.priced || c.Asked != tt.priced) {
			t.Errorf("%s: %+v, regressions %v, gate %q, asked %v", name, r, c.Regressions, c.Ungated, c.Asked)
		}
		o := standard()
		o.RankUnlike = true
		if c := compared(t, a, b, o); c.Outcome != Slower || c.Forced != (tt.outcome == Unranked) || len(c.Regressions) == 0 {
			t.Errorf("%s, ranked because it was asked for: %s, %v", name, c.Outcome, c.Forced)
		}
	}
	// Two sets that nobody made as an ab have nothing under test.
	a, b := arms(1.2, option, func(h *result.Header) { h.Semantics.Durability = "none" })
	for _, r := range append(slices.Clone(a), b...) {
		r.Header.Trial = nil
	}
	if c := compared(t, a, b, standard()); c.Changes != nil || c.Outcome != Unranked || c.Asked || c.row("99").Shift != nil {
		t.Errorf("%v, %s, asked %v", c.Changes, c.Outcome, c.Asked)
	}
}

// What drivers say of their guarantees is ranked where their words tell.
func TestStrength(t *testing.T) {
	for _, tt := range []struct{ what, weaker, stronger string }{
		{"durability", "none, messages are not stored", "memory"},
		{"durability", "memory, snapshots now and then (save 60 1)", "append-only file, page cache"},
		{"durability", "page cache; fsync every 2m0s", "fsync per message"},
		{"durability", "append-only file, fsync every second", "append-only file, fsync before the reply"},
		{"durability", "page cache of the leader, not confirmed", "page cache of the leader"},
		{"replication", "none", "3 replicas, majority"},
		{"replication", "2 replicas", "3 replicas, at least 2 in sync"},
		{"acknowledgment", "none", "the leader has written the record"},
		{"delivery guarantee", "at most once", "exactly once into the log, at least once out of it"},
		{"delivery guarantee", "at least once", "exactly once"},
		{"ordering", "none", "per partition"},
	} {
		if w, s := strength(tt.what, tt.weaker), strength(tt.what, tt.stronger); w < 0 || w >= s {
			t.Errorf("%s: %q has %d, %q has %d", tt.what, tt.weaker, w, tt.stronger, s)
		}
	}
	for _, text := range []string{"unknown, the server does not tell", "as the broker is configured, which the protocol does not tell", "append-only file, fsync unknown", "–", "something"} {
		if n := strength("durability", text); n >= 0 {
			t.Errorf("%q has %d", text, n)
		}
	}
}

// The changes that refuse a ranking are known before anything is run, as far as they
// are of the load.
func TestDecisiveChanges(t *testing.T) {
	all := Changed(json.RawMessage(`{"name":"a","workload":{"rate":"1/s","size":"1B","in_flight":{"each":1}},"target":{"driver":"nats"}}`),
		json.RawMessage(`{"name":"b","workload":{"rate":"2/s","size":"1B","topics":3,"in_flight":{"each":2}},"target":{"driver":"kafka","options":{"acks":"0"}}}`))
	var got []string
	for _, c := range DecisiveChanges(all) {
		got = append(got, c.String())
	}
	if len(all) != 5 || !slices.Equal(got, []string{"workload.rate: 1/s → 2/s", "workload.topics=3"}) {
		t.Errorf("%v of %v", got, all)
	}
}
