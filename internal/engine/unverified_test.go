package engine

import (
	"os"
	slashed "path"
	"path/filepath"
	"strings"
	"testing"
)

// unverifiable is a field of a result file that does not follow from the rest of the file,
// so judge.Verify cannot compute it. The seal shows a change of it, unless the seal was computed
// again.
type unverifiable struct {
	// path is the path of the field below the type of its record: "header/clock/read_ns".
	// * is any name or index; /** at the end is the field and all below it.
	path string
	// small says that judge.Verify finds a large change, but not a small one.
	small bool
	why   string
}

// unverified lists the fields that judge.Verify cannot compute. docs/reference.md has the same
// list.
func unverified() []unverifiable {
	return []unverifiable{
		{"order/", false, "the order of the records of different workloads, and of events among intervals"},
		{"header/id", false, "a random number; a raw file has it too"},
		{"header/started", false, "the wall clock"},
		{"header/tool/**", false, "which program wrote the file"},
		{"header/from", false, "when the workload began, among several"},
		{"header/background", false, "whether the workload is judged, among several"},
		{"header/broker/**", false, "what the server said of itself"},
		{"header/refusals", false, "how the driver learns of refusals"},
		{"header/managed", false, "which broker was started for the run"},
		{"header/deployment/**", false, "which broker was started for the run, and how"},
		{"header/semantics/**", false, "what the driver said of guarantees and settings; warnings are reasons of the verdict"},
		{"header/clock/**", false, "read from the machine"},
		{"header/machine/**", false, "read from the machine"},
		{"header/cold/**", false, "measured before the load"},
		{"header/trial/**", false, "the place among other runs, which are in other files"},
		{"header/floor/**", false, "measured before the run; ratios to it are computed again"},
		{"header/generator_limit/**", false, "measured before the run"},
		{"header/raw", false, "the name of another file"},
		{"header/left_as", false, "a name at the broker"},
		{"header/scenario/description", false, "free text"},
		{"header/scenario/seed", false, "only random arrivals follow from it"},
		{"header/scenario/target/**", false, "the broker and its options; the driver's name is compared"},
		{"header/scenario/phases/**", false, "warm-up and drain leave no trace; the window is compared"},
		{"header/scenario/record/probe", false, "whether a probe was asked for"},
		{"header/scenario/workload/producers", false, "how the schedule was divided"},
		{"header/scenario/workload/consumers", false, "how deliveries were divided"},
		{"header/scenario/workload/groups", false, "how deliveries were divided"},
		{"header/scenario/workload/topics", false, "how messages were divided"},
		{"header/scenario/workload/connections/**", false, "how messages were divided"},
		{"header/scenario/workload/in_flight/**", false, "a limit that may never have been reached"},
		{"header/scenario/workload/outstanding", false, "of a closed loop"},
		{"header/scenario/workload/think", false, "of a closed loop"},
		{"header/scenario/workload/consumer/**", false, "how consumers behaved; when they came and paused is compared"},
		{"event/**", false, "what clients and the run reported, when and how often"},
		{"event/", false, "what clients and the run reported, when and how often"},
		{"interval/pauses/**", false, "what the meters of the machine saw; what the slowest messages met is computed again"},
		{"interval/vitals/**", false, "readings of the machine; what gates conclude from them is computed again"},
		{"interval/depth/**", false, "what the broker said that it held"},
		{"interval/kept/**", false, "readings of how a backlog came and went; what is concluded from them is computed again"},
		{"interval/levels", false, "how many readings an interval has"},
		{"interval/metrics/*/unanswered/*/*", false, "in which 100 ms messages without an answer were due; how many there are is compared"},
		{"interval/metrics/*/refused/*/*", false, "in which 100 ms refused messages were due; how many there are is compared"},
		{"interval/levels/*/at", true, "readings within an interval are in order of time"},
		{"interval/levels/*/in_flight", false, "counted while messages were under way"},
		{"interval/in_flight", false, "where messages were given up; else it follows from the counters"},
		{"interval/metrics/*/min", false, "of one interval, below its lowest bucket's end; of the run it is compared"},
		{"interval/metrics/*/max", false, "of one interval, above its highest bucket's beginning; of the run it is compared"},
		{"interval/metrics/*/own/*/majority", false, "how many messages were late mostly by the generator, up to all of them"},
		{"interval/metrics/*/own/*/own", false, "a sum of one interval, within what the run's histogram allows; shares of own lag are computed again"},
		{"interval/metrics/*/own/*/recv", false, "a sum of one interval, within what the run's histogram allows; shares of receive lag are computed again"},
		{"interval/metrics/*/own/*/unknown", false, "of how many messages the receive lag is not known, up to all of them; shares of receive lag are computed again"},
		{"interval/metrics/*/own/*/total", false, "a sum of one interval, within what the run's histogram allows"},
		{"interval/metrics/*/slots/**", false, "the slowest message of each 100 ms; the slowest of all, and those in tail, are compared"},
		{"interval/closing/last_acked", false, "an instant that is not the last of these three; the last is compared"},
		{"interval/closing/last_received", false, "an instant that is not the last of these three; the last is compared"},
		{"interval/closing/synced", false, "an instant that is not the last of these three; the last is compared"},
		{"interval/lost/*/*", false, "in which 100 ms lost messages were due; how many there are is compared"},
		{"interval/tail/*/own", false, "how late the generator was with a slow message, up to all of its lag"},
		{"interval/tail/*/sent", false, "when a slow message was sent, between when it was due and when it was done"},
		{"interval/tail/*/producer", false, "which message it was"},
		{"interval/tail/*/consumer", false, "which message it was"},
		{"interval/tail/*/topic", false, "which message it was"},
		{"interval/tail/*/partition", false, "which message it was"},
		{"interval/tail/*/sequence", false, "which message it was"},
	}
}

// free reports whether [judge.Verify] may miss a change of a field, by the list of [unverified]; small
// says that the change is small.
func free(field string, small bool) bool {
	for _, u := range unverified() {
		if (small || !u.small) && matches(u.path, field) {
			return true
		}
	}
	return false
}

func matches(pattern, field string) bool {
	if above, below := strings.CutSuffix(pattern, "/**"); below {
		parts := strings.Split(field, "/")
		pattern, field = above, strings.Join(parts[:min(len(parts), strings.Count(above, "/")+1)], "/")
	}
	ok, err := slashed.Match(pattern, field)
	return ok && err == nil
}

// docs/reference.md lists exactly the fields that verify cannot check.
func TestUnverifiedIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "### What verify cannot check\n")
	if section, _, _ = strings.Cut(section, "\n## "); !found {
		t.Fatal("there is no such section")
	}
	var rows, want []string
	for row := range strings.Lines(section) {
		if strings.HasPrefix(row, "| `") {
			rows = append(rows, strings.TrimSpace(row))
		}
	}
	for _, u := range unverified() {
		row := "| `" + u.path + "` | "
		if u.small {
			row += "a small change; "
		}
		want = append(want, row+u.why+" |")
	}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("docs/reference.md has another list; write\n%s", strings.Join(want, "\n"))
	}
}

func TestFree(t *testing.T) {
	for _, tt := range []struct {
		field string
		small bool
		want  bool
	}{
		{"header/clock/read_ns", false, true},
		{"header/clock", false, true},
		{"header/size", false, false},
		{"header/size", true, false},
		{"interval/levels/*/at", true, true},
		{"interval/levels/*/at", false, false},
		{"summary/throughput/per_second", true, false},
		{"event/", false, true},
		{"header/scenario/target/options/*", false, true},
		{"header/scenario/workload/rate", false, false},
	} {
		if got := free(tt.field, tt.small); got != tt.want {
			t.Errorf("%s, small %v: %v", tt.field, tt.small, got)
		}
	}
}
