package integrity

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// The ledger against a map, with arrivals in order, shuffled near and far,
// repeated and missing.
func TestLedgerAgainstMap(t *testing.T) {
	for _, spread := range []int{1, 100, 10_000, 1_000_000} {
		rng := rand.New(rand.NewPCG(3, uint64(spread)))
		const n = 300_000
		var seqs []uint64
		lost := map[uint64]bool{}
		for i := range uint64(n) {
			if rng.IntN(1000) == 0 {
				lost[i] = true
				continue
			}
			seqs = append(seqs, i)
			if rng.IntN(1000) == 0 {
				seqs = append(seqs, i)
			}
		}
		for i := range seqs {
			j := min(len(seqs)-1, i+rng.IntN(spread))
			seqs[i], seqs[j] = seqs[j], seqs[i]
		}
		l := NewLedger(0)
		if highest, ok := l.Highest(); ok {
			t.Fatalf("highest %d of nothing", highest)
		}
		seen := map[uint64]bool{}
		for _, s := range seqs {
			want := New
			if seen[s] {
				want = Duplicate
			}
			seen[s] = true
			if got := l.Mark(s); got != want {
				t.Fatalf("spread %d: Mark(%d) = %v, want %v", spread, s, got, want)
			}
		}
		if highest, ok := l.Highest(); !ok || highest != slices.Max(seqs) {
			t.Fatalf("spread %d: highest %d, %v, want %d", spread, highest, ok, slices.Max(seqs))
		}
		missing := slices.Collect(l.Missing(0, n))
		if len(missing) != len(lost) {
			t.Fatalf("spread %d: %d missing, want %d", spread, len(missing), len(lost))
		}
		for _, s := range missing {
			if !lost[s] || l.Has(s) {
				t.Fatalf("spread %d: %d is not missing", spread, s)
			}
		}
	}
}

func TestLedgerConcurrent(t *testing.T) {
	const workers, n = 4, 200_000
	l := NewLedger(0)
	counts := make([]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for s := range uint64(n) {
				if l.Mark(s) == New {
					counts[w]++
				}
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, c := range counts {
		sum += c
	}
	if sum != n {
		t.Fatalf("%d numbers were new, want %d", sum, n)
	}
}

func TestLedgerMemoryDoesNotGrow(t *testing.T) {
	l := NewLedger(0)
	for s := range uint64(4_000_000) {
		l.Mark(s)
	}
	if len(l.incomplete) != 0 {
		t.Fatalf("%d chunks kept of a run without losses", len(l.incomplete))
	}
}

func TestLedgerForgetsBeyondItsLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("268 million numbers looked at by one goroutine: a minute with the race detector, which sees nothing in it")
	}
	l := NewLedger(0)
	// One number in each chunk: all incomplete, more than the ledger keeps.
	for i := range uint64(incompleteLimit + 100) {
		l.Mark(i * chunkSpan)
	}
	if got := l.Mark((incompleteLimit + 10) * chunkSpan); got != Duplicate && got != Late {
		t.Fatalf("a number ticked off before is %v", got)
	}
	if len(l.incomplete) > incompleteLimit {
		t.Fatal("the incomplete grew beyond its limit")
	}
	// No number that was ticked off is missing, and the ledger counts what is missing of what it has forgotten.
	const to = (incompleteLimit + 100) * chunkSpan
	absent := int64(0)
	for seq := range l.Missing(0, to) {
		if absent++; seq%chunkSpan == 0 {
			t.Fatalf("%d is missing and was ticked off", seq)
		}
	}
	gaps := l.Gaps(0, to)
	for _, g := range gaps {
		if absent += g.Missing; g.To != g.From+chunkSpan || g.Missing != chunkSpan-1 {
			t.Fatalf("%+v", g)
		}
	}
	ticked, late := l.Forgotten()
	if want := int64(incompleteLimit+100) * (chunkSpan - 1); absent != want || ticked == 0 || int(ticked) != len(gaps) || late > 1 {
		t.Fatalf("%d numbers count as not ticked off, want %d; %d forgotten in %d gaps and %d late", absent, want, ticked, len(gaps), late)
	}
	g := gaps[len(gaps)-1]
	if half := l.Gaps(g.From+chunkSpan/2, g.To); len(half) != 1 || half[0].From != g.From+chunkSpan/2 || half[0].Missing != chunkSpan/2 {
		t.Fatalf("of the half of %+v: %+v", g, half)
	}
}

func TestFan(t *testing.T) {
	f := NewFan(0)
	const groups, n = 3, 50_000
	last := 0
	for s := range uint64(n) {
		for range groups {
			if n, _ := f.Add(s, 1); n == groups {
				last++
			}
		}
	}
	if last != n {
		t.Fatalf("%d messages reached all groups, want %d", last, n)
	}
	if n, _ := f.Add(0, 1); n != 0 {
		t.Fatal("a message beyond memory was counted")
	}
	// The group counted last need not have the latest instant.
	f.Add(n, 30)
	f.Add(n, 20)
	if groups, latest := f.Add(n, 10); groups != 3 || latest != 30 {
		t.Fatalf("%d groups, latest %d", groups, latest)
	}
}

func BenchmarkMark(b *testing.B) {
	l := NewLedger(1 << 22)
	b.ReportAllocs()
	var s uint64
	for b.Loop() {
		l.Mark(s)
		s++
	}
}

// What a ledger costs a message, at most: two bits while its chunk is not complete, and nearly nothing afterwards. Reading
// back reads one partition after the other, so that each chunk is incomplete until the last one.
func TestLedgerMemory(t *testing.T) {
	const n, partitions = 1 << 22, 4
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	l := NewLedger(0)
	before := heap()
	for p := range uint64(partitions) {
		for seq := p; seq < n; seq += partitions {
			l.Mark(seq)
		}
		bits := float64(8*(heap()-before)) / n
		t.Logf("after partition %d of %d: %.3f bits a message", p+1, partitions, bits)
		if bits > 2 {
			t.Errorf("after partition %d: %.3f bits a message", p, bits)
		}
	}
	runtime.KeepAlive(l)
}
