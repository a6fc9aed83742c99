package layout

import (
	"slices"
	"strings"
	"testing"

	"sixnines/scenario"
)

// workload returns a normalised workload.
func workload(t *testing.T, text string) *scenario.Workload {
	t.Helper()
	s, err := scenario.Parse("role.yaml", []byte("workload: {"+text+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return &s.Workload
}

// The parts of all producing agents have each producer and stream once, under its number, and those of all consuming
// agents each consumer and each member of each group.
func TestRolesDivideTheWhole(t *testing.T) {
	for _, text := range []string{
		"rate: 100, producers: 6, topics: 3, consumers: 6",
		"rate: 100, producers: 5, topics: 3, consumers: 7, groups: 3",
		"rate: 100, producers: 4, topics: 1, consumers: 12, groups: 2",
		"rate: 100, producers: 4, topics: 8, consumers: 4, groups: 4",
		"rate: 100, producers: 4, topics: 2, consumers: 8",
	} {
		w := workload(t, text)
		whole := Of(w)
		for n := 1; n <= 4; n++ {
			var producers, consumers, streams []int
			members := make([]int, len(whole.Groups))
			for k := range n {
				s, l, _, err := DivideRole(w, Producing, k, n)
				if err != nil {
					t.Fatal(err)
				}
				producers = append(producers, s.Producers...)
				for p, ids := range l.ByProducer {
					for _, id := range ids {
						st := l.Streams[id]
						if streams = append(streams, st.Number); st.Producer != p || whole.Streams[st.Number].Producer != s.Producers[p] || whole.Streams[st.Number].Topic != st.Topic {
							t.Errorf("%s: stream %d of agent %d of %d is %+v", text, id, k, n, st)
						}
					}
				}
				if s, l, _, err = DivideRole(w, Consuming, k, n); err != nil {
					t.Fatalf("%s, %d of %d: %v", text, k, n, err)
				}
				consumers = append(consumers, s.Consumers...)
				for i, c := range l.Consumers {
					g := l.Groups[c.Group]
					if members[g.Number]++; whole.Consumers[s.Consumers[i]].Group != g.Number || !slices.Equal(g.Topics, whole.Groups[g.Number].Topics) {
						t.Errorf("%s: consumer %d of agent %d of %d is in group %d", text, i, k, n, g.Number)
					}
				}
			}
			slices.Sort(consumers)
			for what, all := range map[string][]int{"producers": producers, "consumers": consumers, "streams": streams} {
				want := map[string]int{"producers": w.Producers, "consumers": w.Consumers, "streams": len(whole.Streams)}[what]
				if len(all) != want || !slices.IsSorted(all) || len(slices.Compact(all)) != want {
					t.Errorf("%s: %d agents have the %s %v", text, n, what, all)
				}
			}
			for g := range members {
				if members[g] != whole.Groups[g].members {
					t.Errorf("%s: group %d has %d members with %d agents", text, g, members[g], n)
				}
			}
		}
	}
}

// What cannot be received by another agent, or leaves an agent without work, is refused with what to do.
func TestRolesAreRefused(t *testing.T) {
	for _, c := range []struct {
		text string
		role Role
		n    int
		want string
	}{
		{"pattern: request-reply, rate: 100", Producing, 1, "and not request-reply"},
		{"pattern: roundtrip, rate: 100", Consuming, 1, "and not roundtrip"},
		{"loop: closed", Producing, 1, "closed loop"},
		{"rate: max", Producing, 1, "no schedule"},
		{"rate: 100, lifetime: keep", Producing, 1, "lifetime"},
		{"rate: 100, producers: 2, consumers: 2", Producing, 3, "--producers 3"},
		{"rate: 100, producers: 2, consumers: 2", Consuming, 3, "--consumers 3"},
		{"rate: 100", "both", 1, `"both"`},
	} {
		if _, _, _, err := DivideRole(workload(t, c.text), c.role, 0, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	if _, _, _, err := DivideRole(workload(t, "rate: 100"), Producing, 1, 1); err == nil {
		t.Error("part 2 of 1 is there")
	}
}
