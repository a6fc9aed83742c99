package vitals

import (
	"testing"
)

func TestIdleArguments(t *testing.T) {
	if p, h, err := parseIdleArguments(idleArguments(4_000_000, 5_000_000)); p != 4_000_000 || h != 5_000_000 || err != nil {
		t.Errorf("%d, %d, %v", p, h, err)
	}
	for _, bad := range [][]string{nil, {"1000000"}, {"1000000", "x"}, {"1000", "5000000"}, {"5000000", "1000000"}, {"1000000000", "2000000000"}, {"1000000", "5000000", "1"}} {
		if _, _, err := parseIdleArguments(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// drain takes everything out of an outbox and returns the records.
func drain(o *idleOutbox, stream []byte) (list [][2]int64) {
	stream = append(stream, o.records...)
	o.sent(len(o.records))
	for ; len(stream) >= idleRecord; stream = stream[idleRecord:] {
		due, woke := idleInstants(stream)
		list = append(list, [2]int64{due, woke})
	}
	return list
}

// A generator that does not read loses ordinary wake-ups but no gaps, and gets no partial
// record.
func TestIdleOutboxKeepsGaps(t *testing.T) {
	o := newIdleOutbox(4_000_000, 5_000_000)
	var gaps [][2]int64
	for i := range int64(20_000) {
		due := i * 4_000_000
		woke := due + 10
		if i%100 == 50 {
			woke = due + 5_000_000
			gaps = append(gaps, [2]int64{due, woke})
		}
		if full := o.add(due, woke); full != (i%100 == 50 || len(o.records) >= o.batch*idleRecord) {
			t.Fatalf("wake-up %d: full is %v", i, full)
		} else if full {
			o.refused()
		}
	}
	got := drain(o, nil)
	kept := 0
	for _, r := range got {
		if r[1]-r[0] >= 5_000_000 {
			if r != gaps[kept] {
				t.Fatalf("gap %d is %v, want %v", kept, r, gaps[kept])
			}
			kept++
		}
	}
	if kept != len(gaps) || len(got) > kept+o.batch {
		t.Errorf("%d records, of them %d gaps of %d", len(got), kept, len(gaps))
	}
}

func TestIdleOutboxIsBounded(t *testing.T) {
	o := newIdleOutbox(4_000_000, 5_000_000)
	var stream []byte
	const n = 3 * idleBacklog
	for i := range int64(n) {
		if o.add(i*10_000_000, i*10_000_000+6_000_000); i == 5 {
			stream = append(stream, o.records[:7]...) // a part of a record was written
			o.sent(7)
		}
		o.refused()
	}
	got := drain(o, stream)
	for i, r := range got {
		if r[1]-r[0] != 6_000_000 {
			t.Fatalf("record %d is torn: %v", i, r)
		}
	}
	if last := got[len(got)-1][0]; last != (n-1)*10_000_000 || len(got) < idleBacklog {
		t.Errorf("%d kept, the last of %d", len(got), last)
	}
}
