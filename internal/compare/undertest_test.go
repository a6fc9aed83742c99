package compare

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
	"sixnines/semantics"
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

// The requested changes of an ab, and differences that follow from them, are not listed as
// differences; all others are, and may refuse a ranking as usual.
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
		"words without a level": {option, func(h *result.Header) { h.Semantics.Durability = "as the broker is configured" }, []string{"option.linger=5ms"},
			[]string{"durability"}, nil, Unranked, "It is not known whether B gives weaker or stronger guarantees: durability", true},
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
		// A side that promises less is not called faster, and no gate decides about it.
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
	// Two sets that are not from an ab have nothing under test.
	a, b := arms(1.2, option, func(h *result.Header) { h.Semantics.Durability = "none" })
	for _, r := range append(slices.Clone(a), b...) {
		r.Header.Trial = nil
	}
	if c := compared(t, a, b, standard()); c.Changes != nil || c.Outcome != Unranked || c.Asked || c.row("99").Shift != nil {
		t.Errorf("%v, %s, asked %v", c.Changes, c.Outcome, c.Asked)
	}
}

// promising makes both arms of one broker, and B what change makes of it.
func promising(change func(h *result.Header)) (a, b []*result.Run) {
	const option = `{"workload":{"rate":"1000/s","consumers":1},"target":{"options":{"linger":"5ms"}},"phases":{"duration":"10s"}}`
	a, b = arms(1.2, option, nil)
	for i, r := range append(slices.Clone(a), b...) {
		s := &r.Header.Semantics
		s.Durability, s.Replication, s.Ordering, s.Delivery = "memory", "3 replicas, majority", "per partition", "at least once"
		s.Levels = semantics.Levels{Durability: semantics.Memory, Replication: semantics.Replication{Level: semantics.Synchronous, Copies: 3, Confirmed: 2},
			Ordering: semantics.PerPartition, Delivery: semantics.AtLeastOnce}
		if i >= len(a) {
			change(&r.Header)
		}
	}
	return a, b
}

// Guarantees are ranked by the levels that drivers state, whatever their words are.
func TestGuaranteesAreRankedByLevels(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(h *result.Header)
		want   string
	}{
		"less durable": {func(h *result.Header) {
			h.Semantics.Durability, h.Semantics.Levels.Durability = "fsync per message, says the maker", semantics.NotStored
		}, `B gives weaker guarantees: durability "fsync per message, says the maker" instead of "memory".`},
		"more durable": {func(h *result.Header) {
			h.Semantics.Durability, h.Semantics.Levels.Durability = "none of our business", semantics.Synced
		}, `B gives stronger guarantees: durability "none of our business" instead of "memory".`},
		"as durable": {func(h *result.Header) { h.Semantics.Durability = "memory of one node" },
			`B gives different guarantees: durability "memory of one node" instead of "memory".`},
		"not known": {func(h *result.Header) {
			h.Semantics.Durability, h.Semantics.Levels.Durability = "as the broker is configured", semantics.NotKnown
		}, `It is not known whether B gives weaker or stronger guarantees: durability "as the broker is configured" instead of "memory".`},
		"fewer copies are waited for": {func(h *result.Header) {
			h.Semantics.Replication, h.Semantics.Levels.Replication.Level = "3 replicas", semantics.Asynchronous
		}, `B gives weaker guarantees: replication "3 replicas" instead of "3 replicas, majority".`},
		"acknowledged": {func(h *result.Header) { h.Ack, h.Semantics.Acknowledgment = "broker", "none is missing" },
			`B gives stronger guarantees: acknowledgment "none is missing" instead of "–".`},
		"of two kinds": {func(h *result.Header) {
			h.Semantics.Ordering, h.Semantics.Levels.Ordering = "per topic", semantics.PerTopic
			h.Semantics.Delivery, h.Semantics.Levels.Delivery = "at most once", semantics.AtMostOnce
		}, `B gives weaker guarantees: delivery guarantee "at most once" instead of "at least once". ` +
			`B gives stronger guarantees: ordering "per topic" instead of "per partition".`},
	} {
		a, b := promising(tt.change)
		if c := compared(t, a, b, standard()); c.Outcome != Unranked || c.Guarantees != tt.want {
			t.Errorf("%s: %s, %s", name, c.Outcome, c.Guarantees)
		}
	}
}

// Two drivers that state the same levels in different words promise the same, which does not refuse
// a ranking. A level that one of them does not know never counts as the same.
func TestSameLevelsOfTwoDrivers(t *testing.T) {
	find := func(c *Comparison, what string) Difference {
		for _, d := range append(slices.Clone(c.Differences), c.Follows...) {
			if d.What == what {
				return d
			}
		}
		return Difference{}
	}
	for name, tt := range map[string]struct {
		change func(h *result.Header)
		weight Weight // of the durability
		refuse bool
	}{
		"the same level":  {func(h *result.Header) { h.Driver, h.Semantics.Durability = "kafka", "RAM" }, Large, false},
		"another level":   {func(h *result.Header) { h.Driver, h.Semantics.Levels.Durability = "kafka", semantics.Synced }, Decisive, true},
		"B does not know": {func(h *result.Header) { h.Driver, h.Semantics.Levels.Durability = "kafka", semantics.NotKnown }, Decisive, true},
		"of a file before": {func(h *result.Header) {
			h.Driver, h.Semantics.Levels, h.Semantics.Durability = "kafka", semantics.Levels{}, "RAM"
		}, Decisive, true},
		"one driver, and it does not know":     {func(h *result.Header) { h.Semantics.Levels.Durability = semantics.NotKnown }, Large, false},
		"one driver, and it says the same":     {func(h *result.Header) {}, "", false},
		"one driver, of a file before":         {func(h *result.Header) { h.Semantics.Levels = semantics.Levels{} }, "", false},
		"one driver, whose setting is another": {func(h *result.Header) { h.Semantics.Durability = "RAM" }, Decisive, true},
	} {
		a, b := promising(tt.change)
		for _, r := range append(slices.Clone(a), b...) {
			r.Header.Trial = nil
		}
		c := compared(t, a, b, standard())
		if d := find(c, "durability"); d.Weight != tt.weight || (c.Refused != "") != tt.refuse {
			t.Errorf("%s: %+v, %q", name, d, c.Refused)
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
