package vitals

import "testing"

func TestTypicalThread(t *testing.T) {
	const length = 1000
	for _, c := range []struct {
		name    string
		threads []threadTime
		want    threadTime
		ok      bool
	}{
		{"none", nil, threadTime{}, false},
		{"all idle", []threadTime{{0, 0}, {0, 900}}, threadTime{}, false},
		{"one that works", []threadTime{{0, 900}, {600, 200}, {10, 0}}, threadTime{600, 200}, true},
		{"a compiler that waits for processors beside those that serve", []threadTime{{150, 850}, {100, 5}, {120, 10}}, threadTime{120, 10}, true},
		{"most of the work waits", []threadTime{{300, 600}, {100, 0}}, threadTime{300, 600}, true},
		{"more than there was time for", []threadTime{{1200, 1100}}, threadTime{1200, 1100}, true},
	} {
		if got, ok := typical(c.threads, length); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %v; want %+v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
