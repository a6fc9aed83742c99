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
	"sixnines/scenario"
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
		"publish":    paced("{rate: 2000/s, pattern: publish}", "ack: broker, nack: 20, reject: 10, lose: 5, give_up: 50ms") + "\nrecord: {interval: 100ms}\nobjectives: ['publish.response p50 < 1s']\n",
		"losses":     paced("{rate: 2000/s, arrivals: poisson, size: '64B:90%,1KiB:10%', payload: 'compress:50%'}", "ack: broker, lose_acked: 7, nack: 20, duplicate: 5, reorder: 5, jitter: 2ms, queue: 100000") + end,
		"round trip": paced("{rate: 1000/s, pattern: roundtrip, consumer: {work: 100us}, timeout: 500ms}", "delay: 1ms") + "\nobjectives: ['roundtrip.response p90 < 1s']\n",
		"alone":      paced("{rate: 500/s, producers: 2, in_flight: {messages: 2}}", "ack: broker, ack_delay: 1ms") + end,
		"flat out":   "name: forged\nphases: {warmup: 100ms, drain: 2s}\nworkload: {rate: max, messages: 20000}\ntarget: {driver: mem, options: {ack: broker}}\nrecord: {interval: 100ms}\n",
		"flood":      "name: forged\nphases: {warmup: 0s, duration: 300ms, drain: 2s}\nworkload: {rate: max, pattern: publish}\ntarget: {driver: mem}\nrecord: {interval: 100ms}\n",
		"closed":     paced("{loop: closed, outstanding: 2}", "ack: broker, delay: 1ms") + "\nrecord: {interval: 100ms}\n",
		"paused":     paced("{rate: 1000/s, consumer: {pause: 200ms@200ms}}", "queue: 100000") + "\nrecord: {interval: 100ms}\n",
		"until":      "name: forged\nphases: {warmup: 0s, duration: 700ms, at_most: 2s, until: 'delivery.response p50 ±100%', drain: 2s}\nworkload: {rate: 5000/s}\ntarget: {driver: mem, options: {jitter: 1ms, queue: 100000}}\nrecord: {interval: 100ms}\n",
		"raw":        paced("{rate: 1000/s}", "delay: 1ms") + "\nrecord: {interval: 1s, raw: true}\n",
		"workloads":  "name: forged\nphases: {warmup: 0s, duration: 700ms, drain: 2s}\ntarget: {driver: mem}\nworkloads:\n  one: {rate: 1000/s, objectives: ['lost == 0']}\n  two: {rate: 500/s, from: 200ms, background: true}\nrecord: {interval: 100ms}\n",
		interrupted:  "name: forged\nphases: {warmup: 0s, duration: 1m, drain: 2s}\nworkload: {rate: 1000/s}\ntarget: {driver: mem}\nrecord: {interval: 100ms}\nobjectives: ['lost == 0']\n",
	}
}

// interrupted is the specimen that ends before its window does.
const interrupted = "interrupted"

// measureSpecimens makes the specimens at a time: what they show is of no interest.
func measureSpecimens(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	var mu sync.Mutex
	files := map[string][]byte{}
	var all sync.WaitGroup
	scenarios := map[string]*scenario.Scenario{}
	for name, text := range specimens() {
		scenarios[name] = parse(t, text)
	}
	for name, s := range scenarios {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".jsonl")
			c := Config{Scenario: s, Entry: mem.Entry(), File: file, Tool: result.Tool{Name: "sixnines", Version: "of this test"},
				Trial: &result.Trial{Set: "0123456789abcdef", Kind: result.TrialRepeat, Index: 1, Of: 2}}
			c.Observer = func(p Progress) {
				if name == interrupted && p.Elapsed > 500*time.Millisecond {
					cancel()
				}
			}
			_, err := Run(ctx, c)
			text, readErr := os.ReadFile(file)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || readErr != nil {
				t.Errorf("%s: %v, %v", name, err, readErr)
				return
			}
			files[name] = text
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
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
	kinds := map[string][]forgery{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, f := range forgeries(t, name, files[name]) {
			kinds[f.kind] = append(kinds[f.kind], f)
		}
	}
	rounds := hunttest.Cases(t, 1, 100)
	seed := uint64(1)
	if rounds > 1 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%d kinds of fields, seed %d", len(kinds), seed)
	rng := rand.New(rand.NewPCG(seed, 35))
	chosen := make(chan forgery)
	go func() {
		defer close(chosen)
		for range rounds {
			for i, kind := range slices.Sorted(maps.Keys(kinds)) {
				if testing.Short() && i%20 != 0 {
					continue // for the race detector some of them do
				}
				chosen <- kinds[kind][rng.IntN(len(kinds[kind]))]
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
	if !judge.Free(f.kind, f.small) {
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

// forgeries lists every change to a file that is tried.
func forgeries(t *testing.T, specimen string, text []byte) (all []forgery) {
	t.Helper()
	lines := slices.Collect(strings.Lines(string(text)))
	for n, line := range lines {
		record := decoded(t, line)
		name, _ := record.(map[string]any)["type"].(string)
		add := func(kind, what string, small bool, forge func(record any) any) {
			all = append(all, forgery{specimen, kind, what, small, func(lines []string) []string {
				var v any
				d := json.NewDecoder(strings.NewReader(lines[n]))
				d.UseNumber()
				if err := d.Decode(&v); err != nil {
					return lines
				}
				return slices.Concat(lines[:n], []string{encoded(forge(v), lines[n])}, lines[n+1:])
			}})
		}
		eachField(record, name, func(root any) any { return root }, add)
		whole := name + "/"
		if phase, ok := record.(map[string]any)["phase"].(string); ok {
			whole += phase + "/"
		}
		all = append(all,
			forgery{specimen, whole, "removed", false, func(lines []string) []string { return slices.Delete(slices.Clone(lines), n, n+1) }},
			forgery{specimen, whole, "twice", false, func(lines []string) []string { return slices.Insert(slices.Clone(lines), n, lines[n]) }})
		if n+1 < len(lines) {
			place := whole
			if next, _ := decoded(t, lines[n+1]).(map[string]any); next["workload"] != record.(map[string]any)["workload"] || name == "event" || next["type"] == "event" {
				place = "order/"
			}
			all = append(all, forgery{specimen, place, "swapped with the next", false, func(lines []string) []string {
				lines = slices.Clone(lines)
				lines[n], lines[n+1] = lines[n+1], lines[n]
				return lines
			}})
		}
	}
	return all
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

// eachField calls add for each change to each field below v, which is found in a decoded
// record by at.
func eachField(v any, kind string, at func(root any) any, add func(kind, what string, small bool, forge func(record any) any)) {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		for i, k := range keys {
			if kind == "summary" && k == "seal" {
				continue // the careful forger's own
			}
			path := kind + "/" + k
			if strings.Contains(k, ".") || strings.Trim(k, "0123456789") == "" || strings.HasSuffix(kind, "/vitals") || strings.HasSuffix(kind, "/settings") || strings.HasSuffix(kind, "/options") {
				path = kind + "/*" // a metric, a percentile, a vital, an option: one field of many names
			}
			change := func(what string, small bool, to func(m map[string]any)) {
				add(path, what, small, func(root any) any {
					if m, ok := at(root).(map[string]any); ok {
						to(m)
					}
					return root
				})
			}
			if !absent(v[k]) {
				change("dropped", false, func(m map[string]any) { delete(m, k) })
			}
			for what, x := range changed(k, v[k]) {
				change(what, strings.HasPrefix(what, "by a hair"), func(m map[string]any) { m[k] = x })
			}
			if other := keys[(i+1)%len(keys)]; fmt.Sprintf("%T", v[k]) == fmt.Sprintf("%T", v[other]) && encoding(v[k]) != encoding(v[other]) {
				change("swapped with "+other, false, func(m map[string]any) { m[k], m[other] = m[other], m[k] })
			}
			eachField(v[k], path, func(root any) any {
				if m, ok := at(root).(map[string]any); ok {
					return m[k]
				}
				return nil
			}, add)
		}
	case []any:
		path := kind + "/*"
		for _, i := range slices.Compact([]int{0, len(v) / 2, len(v) - 1}) {
			if i < 0 || i >= len(v) {
				continue
			}
			change := func(what string, small bool, to func(list []any)) {
				add(path, what, small, func(root any) any {
					if list, ok := at(root).([]any); ok && i < len(list) {
						to(list)
					}
					return root
				})
			}
			for what, x := range changed("", v[i]) {
				change(what, strings.HasPrefix(what, "by a hair"), func(list []any) { list[i] = x })
			}
			if i+1 < len(v) && encoding(v[i]) != encoding(v[i+1]) {
				change("swapped with the next", false, func(list []any) { list[i], list[i+1] = list[i+1], list[i] })
			}
			eachField(v[i], path, func(root any) any {
				if list, ok := at(root).([]any); ok && i < len(list) {
					return list[i]
				}
				return nil
			}, add)
		}
	}
}

// pair reports whether a list is a slot and a count or the ends of an interval: its numbers
// are changed one by one, and readers look at no more than two.
func pair(v []any) bool {
	_, number := v[0].(json.Number)
	return len(v) == 2 && number
}

// absent reports whether a value says no more than a field that is not there.
func absent(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if !absent(x) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	case json.Number:
		return v.String() == "0"
	}
	return v == nil || v == "" || v == false
}

func encoding(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// changed are other values for a field.
func changed(key string, v any) map[string]any {
	switch v := v.(type) {
	case bool:
		return map[string]any{"flipped": !v}
	case string:
		if key == "hist" || key == "censored" {
			return reshaped(v)
		}
		return map[string]any{"emptied": "", "lengthened": v + "x"}
	case []any:
		if len(v) == 0 || pair(v) {
			return nil
		}
		lists := map[string]any{"without its first": v[1:], "with its first twice": append([]any{v[0]}, v...)}
		if !absent(v[len(v)-1]) {
			lists["without its last"] = v[:len(v)-1]
		}
		return lists
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return map[string]any{"by a hair": n + 1, "by a hair less": n - 1, "doubled": 2*n + 2, "much": 1000*n + 1000, "negative": -n - 1}
		}
		f, err := v.Float64()
		if err != nil {
			return nil
		}
		return map[string]any{"by a hair": f * (1 + 1e-6), "doubled": 2*f + 1, "much": 1000*f + 1}
	}
	return nil
}

// reshaped are other histograms.
func reshaped(text string) map[string]any {
	out := map[string]any{"emptied": ""}
	h, err := result.DecodeHistogram(text)
	if err != nil {
		return out
	}
	first, low := result.NewRankIndex(h).ValueAtRank(1)
	last, _ := result.NewRankIndex(h).ValueAtRank(h.TotalCount())
	more := h.Clone()
	_ = more.RecordValue(low) // which it has
	if text, err := result.EncodeHistogram(more); err == nil {
		out["with a value more"] = text
	}
	moved := h.Clone()
	moved.Reset()
	for _, b := range h.Distribution() {
		n := b.Count
		if b.From == last {
			n--
		}
		if n > 0 {
			_ = moved.RecordValues(b.From, n) // which are in range
		}
	}
	_ = moved.RecordValue(first)
	if text, err := result.EncodeHistogram(moved); err == nil && first != last {
		out["with its slowest as fast as its fastest"] = text
	}
	return out
}
