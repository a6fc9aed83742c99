package report

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

// TestEveryCounterIsShown counts on reflection so that a counter added to the
// result cannot be forgotten here.
func TestEveryCounterIsShown(t *testing.T) {
	var c result.Counters
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(1000 + i))
	}
	shown := map[int64]bool{c.Taken: true, c.Sent: true, c.BytesSent: true, c.BytesRecv: true} // sums and volumes, told by the rate
	for _, e := range slices.Concat(publishSide(&c, false), deliverySide(&c), otherCounters(&c)) {
		if e.Means == "" {
			t.Errorf("%s is not explained", e.Name)
		}
		shown[e.Value] = true
	}
	for _, f := range fates(&c, false) {
		shown[f.Missing] = true
	}
	for i := range v.NumField() {
		if !shown[v.Field(i).Int()] {
			t.Errorf("the counter %s is shown nowhere", v.Type().Field(i).Name)
		}
	}
}

func TestFates(t *testing.T) {
	for _, test := range []struct {
		name string
		c    result.Counters
		want [3]int64 // arrived of acked, nacked, unknown
	}{
		{"all acked", result.Counters{Acked: 100, Sent: 100, Expected: 250, Received: 240, Missing: 10, LostAcked: 10}, [3]int64{240, 0, 0}},
		{"mixed, one group each", result.Counters{Acked: 90, Nacked: 4, Unknown: 6, Sent: 100, Expected: 100, Received: 91, Missing: 9, LostAcked: 2, MissingNacked: 4, MissingUnknown: 3}, [3]int64{88, 0, 3}},
		{"mixed, three groups each", result.Counters{Acked: 90, Unknown: 10, Sent: 100, Expected: 300, Received: 298, Missing: 2, MissingUnknown: 2}, [3]int64{270, 0, 28}},
		{"mixed, uneven groups", result.Counters{Acked: 90, Unknown: 10, Sent: 100, Expected: 250, Received: 249, Missing: 1, LostAcked: 1}, [3]int64{-1, 0, -1}},
	} {
		got := fates(&test.c, false)
		for i, f := range got {
			if f.Arrived != test.want[i] {
				t.Errorf("%s: %d of the %s arrived, want %d", test.name, f.Arrived, f.Name, test.want[i])
			}
		}
	}
	if fates(&result.Counters{Sent: 5, Acked: 5}, false) != nil {
		t.Error("nothing was to be delivered, and yet there is a matrix")
	}
}

func TestOmissionComparesLikeWithLike(t *testing.T) {
	prepare := func(runs ...*result.Run) []string {
		s, err := subjects(runs)
		if err != nil {
			t.Fatal(err)
		}
		return omission(s)
	}
	if got := prepare(stalledRun().make(), closedRun().make()); len(got) != 1 || !strings.Contains(got[0], "3,000 times less") {
		t.Errorf("open beside closed: %q", got)
	}
	if got := prepare(stalledRun().make(), openRun().make()); got != nil {
		t.Errorf("open beside open: %q", got)
	}
	other := closedRun().make()
	other.Header.Size = 64
	if got := prepare(stalledRun().make(), other); got != nil {
		t.Errorf("another size is another workload: %q", got)
	}
	one, two := stalledRun().make(), closedRun().make()
	one.Header.ID, two.Header.ID, one.Header.Workload, two.Header.Workload = "1", "1", "events", "users"
	if got := prepare(one, two); got != nil {
		t.Errorf("two workloads of a run are not the same load: %q", got)
	}
	service := closedRun().make()
	delete(service.Summary.Histograms, result.DeliveryResponse)
	if got := prepare(stalledRun().make(), service); len(got) != 1 {
		t.Errorf("a closed loop without response time: %q", got)
	}
}

func TestRunCutShortIsSummarised(t *testing.T) {
	run := stalledRun().make()
	run.Summary = nil
	text := terminal(t, Options{}, run)
	for _, want := range []string{"CUT SHORT", "cut short after 10 s", "p99 ", "max "} {
		if !strings.Contains(text, want) {
			t.Errorf("the table of a run cut short does not say %q:\n%s", want, text)
		}
	}
	if run.Summary != nil {
		t.Error("the report changed the run")
	}
}

// The accounts of a killed run were never closed: that they are open is said, at whatever
// moment it was killed, and is no alarm. Nothing is claimed of what nobody knows.
func TestAccountsOfAKilledRunAreOpen(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 1))
	for i := range 60 {
		run := openRun().make()
		run.Summary, run.Header.Ack, run.Header.Pattern = nil, []string{"none", "broker", "reply"}[i%3], []string{"deliver", "publish", "roundtrip"}[i/3%3]
		n := rng.Int64N(5000)
		c := result.Counters{Scheduled: n + rng.Int64N(9), Sent: n}
		if run.Header.Ack == "broker" {
			c.Acked = n - rng.Int64N(n/2+1)
		}
		if run.Header.Pattern != "publish" {
			c.Expected = n
			c.Received = n - rng.Int64N(n/2+1)
		}
		run.Counters = c
		var page bytes.Buffer
		if err := HTML(&page, []*result.Run{run}, Options{}); err != nil {
			t.Fatal(err)
		}
		other := openRun().make()
		other.Header.ID = "other"
		for _, text := range []string{terminal(t, Options{}, run), terminal(t, Options{Full: true}, run), terminal(t, Options{}, run, other), terminal(t, Options{Full: true}, run, other), page.String()} {
			for _, wrong := range []string{"do not add up", "none lost", "none refused", "nothing lost", "missing 0"} {
				others := strings.Contains(text, "B: nothing lost") || strings.Count(text, "result  ") > 1
				if strings.Contains(text, wrong) && (!others || wrong == "do not add up") {
					t.Fatalf("%+v: says %q:\n%s", c, wrong, text)
				}
			}
			if !strings.Contains(text, "open") {
				t.Fatalf("%+v: does not say that the accounts are open:\n%s", c, text)
			}
		}
	}
}

// Who only consumes what was left has no rate at which messages were sent, also where
// nothing came.
func TestConsumersOnlyPublishNothing(t *testing.T) {
	s := &subject{run: &result.Run{Header: result.Header{Mode: result.ModeConsume}}, sum: &result.Summary{Throughput: &result.Throughput{Until: "the last delivery"}}}
	if lines := throughputLines(s); len(lines) != 1 || len(stoppedLine(s)) != 1 || lines[0].Name != "received" || rateLine(s) != nil {
		t.Errorf("%+v, %+v", lines, rateLine(s))
	}
}
