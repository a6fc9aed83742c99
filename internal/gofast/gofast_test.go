package gofast

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func BenchmarkAll(b *testing.B) {
	for _, one := range All() {
		b.Run(one.Name, one.Func)
	}
}

// Each is run by the study with any number of processors, and comes to something.
func TestRun(t *testing.T) {
	seen := map[string]bool{}
	for _, one := range All() {
		if seen[one.Name] {
			t.Errorf("there are two called %s", one.Name)
		}
		seen[one.Name] = true
		if strings.HasPrefix(one.Name, "sort") { // a part takes a third of a second
			if r := testing.Benchmark(one.Func); r.N < 1 {
				t.Errorf("%s: %+v", one.Name, r)
			}
			continue
		}
		r, err := one.Run(2, time.Microsecond)
		if strings.HasPrefix(one.Name, "marshal-") && r.Allocs < 1 {
			t.Errorf("%s returns no bytes of its own, and the others do", one.Name)
		}
		if strings.HasPrefix(one.Name, "match-") && r.Allocs > 100 {
			t.Errorf("%s counts its %d subscriptions: %d allocations an operation", one.Name, subscribers, r.Allocs)
		}
		of := parts
		if one.Name == "fsync" {
			of = 1
		}
		if err != nil || r.N < of || r.PerOp <= 0 || r.Processors != 2 || len(r.Parts) != of || r.PerOp != lowerQuartile(r.Parts) {
			t.Errorf("%s: %+v, %v", one.Name, r, err)
		}
	}
}

// What a machine does in up to seven of ten parts changes nothing.
func TestLowerQuartile(t *testing.T) {
	for _, tt := range []struct {
		all  []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 7}, 7},
		{[]float64{12, 11, 10, 14, 13, 15, 16, 17, 19, 18}, 12},
		{[]float64{12, 11, 10, 140, 130, 150, 160, 170, 190, 180}, 12},
	} {
		if got := lowerQuartile(tt.all); got != tt.want {
			t.Errorf("lower quartile of %v: %v, want %v", tt.all, got, tt.want)
		}
	}
}

// The code that stands for a generator's writes and reads what encoding/json does.
func TestCodecs(t *testing.T) {
	p := somebody()
	want, err := json.Marshal(&p)
	if got := p.appendJSON(nil); err != nil || string(got) != string(want) {
		t.Errorf("%s, want %s", got, want)
	}
	for name, got := range map[string]func(*person) error{
		"JSON":        func(q *person) error { return q.parseJSON(want) },
		"MessagePack": func(q *person) error { return q.parsePack(p.appendPack(nil)) },
	} {
		var q person
		if err := got(&q); err != nil || q != p {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
	for _, text := range []string{"", "{", "{}x", `{"name"}`, `{"name":1}`, `{"born":x}`} {
		if err := new(person).parseJSON([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
		if err := new(person).parsePack([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// A root that was taken is a snapshot, and all entries are found in a later one.
func TestTrie(t *testing.T) {
	tr := newTrie()
	all := keys(2000)
	empty := tr.root.Load()
	for i, key := range all {
		tr.set(key, i)
	}
	half := tr.root.Load()
	for i, key := range all {
		tr.set(key, -i)
	}
	for i, key := range all {
		if _, ok := tr.get(empty, key); ok {
			t.Fatalf("%s is in the trie that was empty", key)
		}
		if v, ok := tr.get(half, key); !ok || v != i {
			t.Fatalf("%s is %d, %v", key, v, ok)
		}
		if v, ok := tr.get(tr.root.Load(), key); !ok || v != -i {
			t.Fatalf("%s is %d now, %v", key, v, ok)
		}
	}
}
