package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sixnines/scenario"
)

// The parts of all agents are the whole, none twice, and each message of a producer has the same topic and as many
// receivers as in the whole.
func TestDivideLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	divided := 0
	for range 20_000 {
		w := &scenario.Workload{Producers: 1 + r.IntN(24), Topics: 1 + r.IntN(12), Consumers: 1 + r.IntN(24),
			Pattern: []scenario.Pattern{scenario.Publish, scenario.Deliver, scenario.RequestReply}[r.IntN(3)]}
		if w.Pattern == scenario.Deliver && r.IntN(2) == 0 {
			w.Groups = 1 + r.IntN(3)
		}
		w.Connections = scenario.Connections{Producers: 1 + r.IntN(8), Consumers: 1 + r.IntN(8)}
		n := 1 + r.IntN(5)
		what := fmt.Sprintf("%d producers, %d topics, %d consumers in %d groups, %s, %d agents", w.Producers, w.Topics, w.Consumers, w.Groups, w.Pattern, n)
		whole := Of(w)
		var producers, topics, consumers []int
		streams := map[[2]int]int{}
		refused := false
		for k := range n {
			s, local, err := Divide(w, k, n)
			if err != nil {
				refused = true
				break
			}
			producers, topics, consumers = append(producers, s.Producers...), append(topics, s.Topics...), append(consumers, s.Consumers...)
			part := Of(local)
			if len(part.Consumers) != len(s.Consumers) {
				t.Fatalf("%s: agent %d has %d consumers, and runs %d", what, k, len(s.Consumers), len(part.Consumers))
			}
			for _, st := range part.Streams {
				streams[[2]int{s.Producers[st.Producer], s.Topics[st.Topic]}] += st.FanOut
			}
		}
		if refused {
			continue
		}
		divided++
		for name, x := range map[string]struct {
			got  []int
			want int
		}{"producers": {producers, w.Producers}, "topics": {topics, w.Topics}, "consumers": {consumers, len(whole.Consumers)}} {
			slices.Sort(x.got)
			for i, v := range x.got {
				if v != i {
					t.Fatalf("%s: the agents' %s are %v", what, name, x.got)
				}
			}
			if len(x.got) != x.want {
				t.Fatalf("%s: %d %s, want %d", what, len(x.got), name, x.want)
			}
		}
		if len(streams) != len(whole.Streams) {
			t.Fatalf("%s: %d streams, want %d", what, len(streams), len(whole.Streams))
		}
		for _, st := range whole.Streams {
			if got, known := streams[[2]int{st.Producer, st.Topic}]; !known || got != st.FanOut {
				t.Fatalf("%s: messages of producer %d to topic %d have %d receivers (%t), want %d", what, st.Producer, st.Topic, got, known, st.FanOut)
			}
		}
	}
	if divided < 2000 {
		t.Errorf("only %d of the drawn workloads could be divided", divided)
	}
}

// What cannot be divided is refused with what would work.
func TestDivideRefuses(t *testing.T) {
	w := func(change func(w *scenario.Workload)) *scenario.Workload {
		w := &scenario.Workload{Producers: 6, Topics: 6, Consumers: 6, Pattern: scenario.Deliver}
		change(w)
		return w
	}
	for _, c := range []struct {
		w    *scenario.Workload
		n    int
		want string
	}{
		{w(func(w *scenario.Workload) { w.Topics = 1 }), 3, "--topics 3"},
		{w(func(w *scenario.Workload) { w.Producers = 2 }), 3, "--producers 3"},
		{w(func(w *scenario.Workload) { w.Consumers = 2 }), 3, "--consumers 3"},
		{w(func(w *scenario.Workload) { w.Messages = 5 }), 2, "phases.duration"},
		{w(func(w *scenario.Workload) { w.Existing = "x" }), 2, "workload.existing"},
		{w(func(w *scenario.Workload) { w.Producers = 4 }), 2, "cannot be divided by 2 agents"},
		{w(func(w *scenario.Workload) { w.Groups, w.Consumers = 3, 4 }), 2, "a group"},
	} {
		if _, _, err := Divide(c.w, c.n-1, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v over %d: got %v, want %s", c.w, c.n, err, c.want)
		}
	}
	for _, k := range []int{-1, 2} {
		if _, _, err := Divide(w(func(*scenario.Workload) {}), k, 2); err == nil {
			t.Errorf("part %d of 2 exists", k)
		}
	}
}
