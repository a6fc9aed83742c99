package output

import (
	"fmt"
	"testing"
	"time"

	"sixnines/result"
)

// Many events become few records, and each event is counted.
func TestEventsAreBounded(t *testing.T) {
	const n = 100_000
	var l log
	var written []result.Event
	write := func(e result.Event) { written = append(written, e) }
	for i := range n {
		l.add(result.Event{At: int64(i) * int64(time.Millisecond), Kind: "denied", Detail: "no", Count: 2}, write)
		l.add(result.Event{At: int64(i) * int64(time.Millisecond), Kind: "error", Detail: fmt.Sprint("of ", i), Count: 1}, write)
	}
	l.flush(write)
	times, counts := map[result.EventKind]int64{}, map[result.EventKind]int64{}
	for _, e := range written {
		times[e.Kind] += e.Happened()
		counts[e.Kind] += e.Count
		if e.Until() < e.At {
			t.Errorf("%+v ended before it began", e)
		}
	}
	if times["denied"] != n || counts["denied"] != 2*n || times["error"] != n || counts["error"] != n {
		t.Errorf("%v times, %v messages, of %d", times, counts, n)
	}
	if most := eventsApart + 4*eventsEach; len(written) > most {
		t.Errorf("%d records, want at most %d", len(written), most)
	}
}
