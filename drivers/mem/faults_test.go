package mem_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
)

// The counts are exact, in every way in which messages can flow.
func TestFaultsAreExact(t *testing.T) {
	const after, n = 100, 1000
	faults := map[string]any{"lose": 17, "duplicate": 5, "reorder": 9, "corrupt": 3, "after": after}
	groups := map[string][]string{
		"one":     {""},
		"fan-out": {"", "", ""},
		"group":   {"g", "g", "g"},
		"mixed":   {"g", "", "g", "h", "h"},
	}
	for shape, members := range groups {
		for _, producers := range []int{1, 4} {
			for _, more := range []map[string]any{
				{}, {"ack": "broker"}, {"sync": true}, {"sync": true, "ack": "broker"},
				{"delay": "100us", "jitter": "200us"}, {"queue": 2, "every": 1}, {"mark_duplicates": true},
			} {
				t.Run(fmt.Sprintf("%s/%d/%v", shape, producers, more), func(t *testing.T) {
					s := open(t, mem.New(), merged(faults, more))
					observers := map[string]*observer{}
					for id, group := range members {
						name := group
						if group == "" {
							name = fmt.Sprintf("alone %d", id)
						}
						if observers[name] == nil {
							observers[name] = newObserver()
						}
						subscribe(t, s, id, group, observers[name].member())
					}
					v := newVerdicts()
					var sending sync.WaitGroup
					for id := range producers {
						p := connect(t, s, id, v)
						sending.Go(func() {
							if _, err := send(p, uint32(id), n); err != nil {
								t.Error(err)
							}
						})
					}
					sending.Wait()
					v.wait(producers * n)
					for name, o := range observers {
						o.wait(producers*n - 17 + 5)
						check(t, name, o, producers*n, more["mark_duplicates"] == true)
						for k := range o.lacks(producers, n) {
							if producers == 1 && k.seq < after {
								t.Errorf("%s: message %d is missing, though the first %d should be left alone", name, k.seq, after)
							}
						}
					}
					if got := v.count(1, nil); more["ack"] == "broker" && got != producers*n-17 || more["ack"] == nil && got != producers*n {
						t.Errorf("%d messages are acknowledged", got)
					}
				})
			}
		}
	}
}

func check(t *testing.T, name string, o *observer, sent int, marks bool) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	missing := sent - len(o.seen) - len(o.corrupted)
	if missing != 17 || o.duplicated != 5 || len(o.reordered) != 9 || len(o.corrupted) != 3 {
		t.Errorf("%s: %d missing, %d duplicated, %d reordered, %d corrupted; want 17, 5, 9 and 3",
			name, missing, o.duplicated, len(o.reordered), len(o.corrupted))
	}
	if want := map[bool]int{true: 5}[marks]; o.marked != want {
		t.Errorf("%s: %d are marked as redelivered, want %d", name, o.marked, want)
	}
}

// lacks returns the messages that did not come whole.
func (o *observer) lacks(producers, n int) map[key]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := map[key]bool{}
	for id := range uint32(producers) {
		for seq := range uint64(n) {
			if k := (key{id, seq}); o.seen[k] == 0 {
				out[k] = true
			}
		}
	}
	return out
}

// What is done to acknowledgements is exact as well, and the deliveries agree.
func TestAcknowledgementFaults(t *testing.T) {
	for _, direct := range []bool{false, true} {
		t.Run(fmt.Sprintf("sync %v", direct), func(t *testing.T) {
			const n = 1000
			s := open(t, mem.New(), map[string]any{"ack": "broker", "sync": direct, "after": 50,
				"lose": 2, "lose_acked": 4, "nack": 3, "misreport": 8, "reject": 6, "double_ack": 5, "ack_lost": 7})
			o, v := newObserver(), newVerdicts()
			subscribe(t, s, 0, "", o.member())
			p := connect(t, s, 0, v)
			rejected, err := send(p, 0, n)
			if err != nil {
				t.Fatal(err)
			}
			v.wait(n - 6 - 7 + 5)
			o.wait(n - 2 - 4 - 3 - 6)
			for _, c := range []struct {
				what      string
				got, want int
			}{
				{"rejected by Send", rejected, 6},
				{"acknowledged once", v.count(1, nil), n - 2 - 3 - 8 - 6 - 5 - 7},
				{"acknowledged twice", v.count(2, nil), 5},
				{"refused", v.count(1, driver.ErrRejected), 3 + 8},
				{"timed out", v.count(1, driver.ErrTimeout), 2},
				{"answered at all", len(v.of), n - 6 - 7},
				{"delivered", o.total, n - 2 - 4 - 3 - 6},
			} {
				if c.got != c.want {
					t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
				}
			}
			lied, lost := 0, 0
			for k, times := range o.seen {
				if errs := v.of[token(k)]; times == 1 && len(errs) == 1 && errs[0] != nil {
					lied++
				}
			}
			for k := range o.lacks(1, n) {
				if errs := v.of[token(k)]; len(errs) == 1 && errs[0] == nil {
					lost++
				}
			}
			if lied != 8 || lost != 4 {
				t.Errorf("%d delivered and refused, %d acknowledged and lost; want 8 and 4", lied, lost)
			}
		})
	}
}

// victims returns which messages of a single producer are hit under the seed.
func victims(t *testing.T, seed int) map[string][]key {
	const n = 600
	s := open(t, mem.New(), map[string]any{"sync": true, "seed": seed, "after": 10, "lose": 10, "reorder": 10, "corrupt": 10, "duplicate": 10})
	o := newObserver()
	subscribe(t, s, 0, "", o.member())
	if _, err := send(connect(t, s, 0, discard{}), 0, n); err != nil {
		t.Fatal(err)
	}
	byKey := func(a, b key) int { return int(a.seq) - int(b.seq) }
	hit := map[string][]key{
		"reordered": o.reordered,
		"corrupted": o.corrupted,
		"lacking":   slices.SortedFunc(maps.Keys(o.lacks(1, n)), byKey),
	}
	for k, times := range o.seen {
		if times > 1 {
			hit["duplicated"] = append(hit["duplicated"], k)
		}
	}
	slices.SortFunc(hit["duplicated"], byKey)
	return hit
}

func TestSeedDecides(t *testing.T) {
	one, again, other := victims(t, 1), victims(t, 1), victims(t, 2)
	if !maps.EqualFunc(one, again, slices.Equal) {
		t.Errorf("the same seed hits %v, then %v", one, again)
	}
	if maps.EqualFunc(one, other, slices.Equal) {
		t.Errorf("two seeds both hit %v", one)
	}
}

func TestCorruptWhere(t *testing.T) {
	for _, test := range []struct {
		where    string
		size     int
		from, to int
	}{
		{"body", 64, 32, 64}, {"head", 64, 0, 32}, {"any", 64, 0, 64}, {"body", 32, 0, 32}, {"head", 8, 0, 8}, {"any", 0, 0, 0},
	} {
		s := open(t, mem.New(), map[string]any{"sync": true, "after": 0, "every": 1, "corrupt": 50, "corrupt_where": test.where})
		subscribe(t, s, 0, "", func(m driver.Message) {
			flipped := 0
			for i, b := range m.Payload {
				if b == 0 {
					continue
				}
				if i < test.from || i >= test.to || b&(b-1) != 0 {
					t.Errorf("%+v: byte %d is damaged to %#x", test, i, b)
				}
				flipped++
			}
			if flipped != min(1, test.size) {
				t.Errorf("%+v: %d bytes are damaged", test, flipped)
			}
		})
		p := connect(t, s, 0, discard{})
		payload := make([]byte, test.size)
		for n := range uint64(50) {
			if err := p.Send(n, payload); err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(payload, func(b byte) bool { return b != 0 }) {
				t.Fatal("the sender's own payload is damaged")
			}
		}
	}
}

// A message that waits to be overtaken, by nobody, does not hold up Close.
func TestReorderWithoutSuccessor(t *testing.T) {
	s := open(t, mem.New(), map[string]any{"after": 0, "every": 1, "reorder": 1})
	subscribe(t, s, 0, "", func(driver.Message) { t.Error("delivered though nothing has overtaken it") })
	p := connect(t, s, 0, discard{})
	if _, err := send(p, 0, 1); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
