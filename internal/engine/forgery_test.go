package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/drivers/mem"
	"sixnines/internal/hunttest"
	"sixnines/internal/judge"
	"sixnines/result"
)

// specimens are runs whose files together have every field that a run without a broker
// writes: each kind of load, what is lost and refused, late consumers, an interruption.
func specimens() map[string]string {
	const end = "\nrecord: {interval: 100ms}\nobjectives: ['delivery.response p50 < 1s', 'lost == 0', 'rate >= 90%']\n"
	paced := func(workload, options string) string {
		return "name: forged\nphases: {warmup: 0s, duration: 700ms, drain: 2s}\nworkload: " + workload + "\ntarget: {driver: mem, options: {" + options + "}}"
	}
	return map[string]string{
		"deliver":    paced("{rate: 2000/s, producers: 2, consumers: 2, groups: 2}", "delay: 1ms, jitter: 3ms, queue: 100000") + end,
		"publish":    paced("{rate: 2000/s, pattern: publish}", "ack: broker, ack_delay: 1ms, nack: 20, reject: 10, lose: 5, give_up: 50ms") + "\nrecord: {interval: 100ms}\nobjectives: ['publish.response p50 < 1s']\n",
		"losses":     paced("{rate: 2000/s, arrivals: poisson, size: '64B:90%,1KiB:10%', payload: 'compress:50%'}", "ack: broker, lose_acked: 7, nack: 20, duplicate: 5, reorder: 5, jitter: 2ms, queue: 100000") + end,
		"round trip": paced("{rate: 1000/s, pattern: roundtrip, consumer: {work: 100us}, timeout: 500ms}", "delay: 1ms") + "\nrecord: {interval: 100ms}\nobjectives: ['roundtrip.response p90 < 1s']\n",
		"alone":      paced("{rate: 500/s, producers: 2, in_flight: {messages: 2}}", "ack: broker, ack_delay: 1ms") + end,
		"flat out":   "name: forged\nphases: {warmup: 100ms, drain: 2s}\nworkload: {rate: max, messages: 20000, in_flight: {messages: 50}}\ntarget: {driver: mem, options: {ack: broker, ack_delay: 1ms}}\nrecord: {interval: 100ms}\n",
		"unpaced":    "name: forged\nphases: {warmup: 0s, duration: 300ms, drain: 2s}\nworkload: {rate: max, pattern: publish, in_flight: {messages: 50}}\ntarget: {driver: mem, options: {ack: broker, ack_delay: 1100us}}\nrecord: {interval: 100ms}\n",
		"closed":     paced("{loop: closed, outstanding: 2}", "ack: broker, delay: 1ms, jitter: 2ms") + "\nrecord: {interval: 100ms}\n",
		"paused":     paced("{rate: 1000/s, consumer: {pause: 200ms@200ms}}", "delay: 1ms, jitter: 2ms, queue: 100000") + "\nrecord: {interval: 100ms}\n",
		"until":      "name: forged\nphases: {warmup: 0s, duration: 700ms, at_most: 2s, until: 'delivery.response p50 ±100%', drain: 2s}\nworkload: {rate: 5000/s}\ntarget: {driver: mem, options: {jitter: 1ms, queue: 100000}}\nrecord: {interval: 100ms}\n",
		"kept":       "name: forged\nphases: {warmup: 0s, duration: 700ms, drain: 200ms, read_back: 5s}\nworkload: {rate: 2000/s, groups: 1}\ntarget: {driver: mem, options: {ack: broker, ack_delay: 1ms, keep: true, lose: 2, lose_acked: 7, withhold: 5, forget: 4, nack: 3, after: 50, every: 9, queue: 100000}}\nrecord: {interval: 100ms}\n",
		"kept alone": "name: forged\nphases: {warmup: 0s, duration: 700ms, drain: 200ms, read_back: 5s}\nworkload: {rate: 2000/s, pattern: publish}\ntarget: {driver: mem, options: {ack: broker, ack_delay: 1ms, keep: true, lose: 2, lose_acked: 7, after: 50, every: 9}}\nrecord: {interval: 100ms}\nobjectives: ['lost_acked == 7']\n",
		"raw":        paced("{rate: 1000/s}", "delay: 1ms") + "\nrecord: {interval: 1s, raw: true}\n",
		"workloads":  "name: forged\nphases: {warmup: 0s, duration: 700ms, drain: 2s}\ntarget: {driver: mem, options: {delay: 1ms, jitter: 2ms}}\nworkloads:\n  one: {rate: 1000/s, objectives: ['lost == 0']}\n  two: {rate: 500/s, from: 200ms, background: true}\nrecord: {interval: 100ms}\n",
		interrupted:  "name: forged\nphases: {warmup: 0s, duration: 1m, drain: 2s}\nworkload: {rate: 1000/s}\ntarget: {driver: mem, options: {delay: 1ms, jitter: 2ms}}\nrecord: {interval: 100ms}\nobjectives: ['lost == 0']\n",
	}
}

// interrupted is the specimen that ends before its window does.
const interrupted = "interrupted"

// really are the specimens that are measured in real time, for what is read from the
// machine, whose pauses and lag are in figures and reasons.
func really() []string { return []string{"deliver", "alone", "workloads"} }

// measureSpecimens makes the specimens: but for a few in virtual time, so that they are the
// same each time.
func measureSpecimens(t *testing.T) map[string][]byte {
	t.Helper()
	dir, texts := t.TempDir(), specimens()
	file := func(name string) string { return filepath.Join(dir, name+".jsonl") }
	config := func(name string) Config {
		return Config{Scenario: parse(t, texts[name]), Entry: mem.Entry(), File: file(name), Tool: result.Tool{Name: "sixnines", Version: "of this test"},
			Trial: &result.Trial{Set: "0123456789abcdef", Kind: result.TrialRepeat, Index: 1, Of: 2}}
	}
	var all sync.WaitGroup
	for _, name := range really() {
		c := config(name)
		all.Go(func() {
			if _, err := Run(t.Context(), c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait() // no clock of theirs is beside a virtual one
	files := map[string][]byte{}
	for name := range texts {
		if !slices.Contains(really(), name) {
			c := config(name)
			var interrupt context.CancelFunc
			c.Observer = func(p Progress) {
				if name == interrupted && p.Elapsed > 500*time.Millisecond {
					interrupt()
				}
			}
			runVirtually(t, c, func(ctx context.Context) context.Context {
				ctx, interrupt = context.WithCancel(ctx)
				return ctx
			})
			interrupt()
		}
		var err error
		if files[name], err = os.ReadFile(file(name)); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// named returns what verify says of a file, or why it cannot be read, which names the
// line; empty: nothing.
func named(text []byte) (problems []string) {
	run, err := result.ReadRun(bytes.NewReader(text))
	if err != nil {
		return []string{err.Error()}
	}
	run.SetPath("forged.jsonl")
	for _, part := range run.Parts() {
		for _, p := range judge.Verify(part, result.Tool{Name: "sixnines", Version: "of this test"}) {
			problems = append(problems, p.String())
		}
	}
	return problems
}

// forgery is one change to a file.
type forgery struct {
	specimen string
	kind     string // "RECORD/path/to/field", indices as *
	what     string // what was done to it
	small    bool   // by a hair
	forge    func(lines []string) []string
}

func (f forgery) String() string { return f.specimen + ": " + f.kind + " " + f.what }

// Verify names every change to every field of every record, or the field is listed as one
// that nothing tells of. A naive forger changes the file; a careful one also computes the
// seal again, which hides nothing that follows from other records.
//
// CI tries each kind of field once, always by the same seed; SIXNINES_HUNT says how many
// times each is to be tried, by a seed of its own.
func TestForgeriesAreNamed(t *testing.T) {
	t.Parallel()
	files := measureSpecimens(t)
	for name, text := range files {
		if p := named(text); len(p) > 0 {
			t.Errorf("%s, as it was written: %q", name, p)
		}
		if p := named(resealed(text)); len(p) > 0 {
			t.Errorf("%s, sealed again: %q", name, p)
		}
	}
	if t.Failed() {
		return
	}
	rounds := hunttest.Cases(t, 1, 100)
	seed := uint64(1)
	if rounds > 1 {
		seed = uint64(time.Now().UnixNano())
	}
	rng := rand.New(rand.NewPCG(seed, 35))
	// Of each kind as many are drawn as there are rounds, while they are listed: to keep
	// all of them costs the collector more than the draws are worth.
	kinds, seen := map[string][]forgery{}, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		forgeries(t, name, files[name], func(f forgery) {
			if kinds[f.kind] == nil {
				kinds[f.kind] = make([]forgery, rounds)
			}
			seen[f.kind]++
			for i := range kinds[f.kind] {
				if rng.IntN(seen[f.kind]) == 0 {
					kinds[f.kind][i] = f
				}
			}
		})
	}
	t.Logf("%d kinds of fields, seed %d", len(kinds), seed)
	chosen := make(chan forgery)
	go func() {
		defer close(chosen)
		for i, kind := range slices.Sorted(maps.Keys(kinds)) {
			if testing.Short() && i%20 != 0 {
				continue // for the race detector some of them do
			}
			for _, f := range kinds[kind] {
				chosen <- f
			}
		}
	}()
	var all sync.WaitGroup
	var mu sync.Mutex
	tried, passed := 0, map[string]bool{}
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for f := range chosen {
				found := f.try(files[f.specimen])
				mu.Lock()
				if tried++; found != "" {
					passed[found] = true
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for _, text := range slices.Sorted(maps.Keys(passed)) {
		t.Error(text)
	}
	t.Logf("%d forgeries tried", tried)
}

// try returns what is wrong; empty: the forgery is named, or nothing can tell of it. With
// the seal as it was, it must be named in any case.
func (f forgery) try(text []byte) string {
	forged := []byte(strings.Join(f.forge(slices.Collect(strings.Lines(string(text)))), ""))
	if bytes.Equal(forged, text) {
		return ""
	}
	if len(named(resealed(forged))) > 0 {
		return ""
	}
	if !free(f.kind, f.small) {
		return "not named: " + f.String()
	}
	if len(named(forged)) == 0 {
		return "not named, with the seal as it was: " + f.String()
	}
	return ""
}

// resealed computes the seals of a file again, as docs/method.md has them.
func resealed(text []byte) []byte {
	sum, table := sha256.New(), crc32.MakeTable(crc32.Castagnoli)
	type lines struct {
		Lines int64  `json:"lines"`
		CRC   string `json:"crc32c"`
		crc   uint32
	}
	of := map[string]*lines{"header": {}, "interval": {}, "event": {}, "summary": {}}
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		var record struct{ Type string }
		_ = json.Unmarshal(line, &record) // one that cannot be read has no type
		if at := bytes.LastIndex(line, []byte(`,"seal":`)); record.Type == "summary" && at >= 0 {
			sum.Write(line[:at])
			for _, k := range of {
				k.CRC = fmt.Sprintf("%08x", k.crc)
			}
			seal, err := json.Marshal(struct {
				SHA256    string `json:"sha256"`
				Headers   *lines `json:"headers"`
				Intervals *lines `json:"intervals"`
				Events    *lines `json:"events"`
				Summaries *lines `json:"summaries"`
			}{hex.EncodeToString(sum.Sum(nil)), of["header"], of["interval"], of["event"], of["summary"]})
			if err != nil {
				panic(err)
			}
			rest := `,"seal":` + string(seal) + "}"
			sum.Write([]byte(rest))
			line = append(bytes.Clone(line[:at]), rest...)
		} else {
			sum.Write(line)
		}
		sum.Write([]byte("\n"))
		if k := of[record.Type]; k != nil {
			k.Lines++
			k.crc = crc32.Update(k.crc, table, line)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}

// forgeries calls yield for every change to a file that may be tried, always in the same
// order.
func forgeries(t *testing.T, specimen string, text []byte, yield func(forgery)) {
	t.Helper()
	lines := slices.Collect(strings.Lines(string(text)))
	for n, line := range lines {
		record := decoded(t, line)
		name, _ := record.(map[string]any)["type"].(string)
		add := func(kind, what string, small bool, forge func(record any) any) {
			yield(forgery{specimen, kind, what, small, func(lines []string) []string {
				var v any
				d := json.NewDecoder(strings.NewReader(lines[n]))
				d.UseNumber()
				if err := d.Decode(&v); err != nil {
					return lines
				}
				was := encoding(v)
				if v = forge(v); encoding(v) == was {
					return lines
				}
				return slices.Concat(lines[:n], []string{encoded(v, lines[n])}, lines[n+1:])
			}})
		}
		eachField(record, name, func(root any) any { return root }, add)
		whole := name + "/"
		if phase, ok := record.(map[string]any)["phase"].(string); ok {
			whole += phase + "/"
		}
		yield(forgery{specimen, whole, "removed", false, func(lines []string) []string { return slices.Delete(slices.Clone(lines), n, n+1) }})
		yield(forgery{specimen, whole, "twice", false, func(lines []string) []string { return slices.Insert(slices.Clone(lines), n, lines[n]) }})
		if n+1 < len(lines) {
			place := whole
			if next, _ := decoded(t, lines[n+1]).(map[string]any); next["workload"] != record.(map[string]any)["workload"] || name == "event" || next["type"] == "event" {
				place = "order/"
			}
			yield(forgery{specimen, place, "swapped with the next", false, func(lines []string) []string {
				lines = slices.Clone(lines)
				lines[n], lines[n+1] = lines[n+1], lines[n]
				return lines
			}})
		}
	}
}

func decoded(t *testing.T, line string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// encoded writes a record with its seal, if it had one, at its end, where it belongs.
func encoded(v any, was string) string {
	m := v.(map[string]any)
	at := strings.LastIndex(was, `,"seal":`)
	if _, sealed := m["seal"]; sealed && at >= 0 {
		delete(m, "seal")
	} else {
		at = -1
	}
	b, err := json.Marshal(m)
	if err != nil {
		return was
	}
	if at >= 0 {
		return strings.TrimSuffix(string(b), "}") + was[at:]
	}
	return string(b) + "\n"
}
