package selftest

import (
	"bytes"
	"compress/zlib"
	"context"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/histograms"
	"sixnines/internal/recorder"
	"sixnines/internal/spell"
	"sixnines/result"
)

// vectorFiles are frozen files of HdrHistogram's Java library.
//
//go:embed vectors
var vectorFiles embed.FS

// vector is one histogram with all that Java wrote about it.
type vector struct {
	name                    string
	encoded                 string // V2, compressed, base64
	hgrm                    string
	lowest, highest, digits int64
	total, max              int64
	percentiles             [][2]string
	buckets                 [][3]int64 // lower edge, upper edge, count
}

// vectors reads the frozen vectors from a file system that has them.
func vectors(files fs.FS) ([]vector, error) {
	names, err := fs.Glob(files, "vectors/*.b64")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("there are no vectors in the program")
	}
	var all []vector
	for _, name := range names {
		stem := strings.TrimSuffix(name, ".b64")
		v := vector{name: strings.TrimPrefix(stem, "vectors/")}
		text := map[string]string{}
		for _, ext := range []string{".b64", ".hgrm", ".txt"} {
			b, err := fs.ReadFile(files, stem+ext)
			if err != nil {
				return nil, err
			}
			text[ext] = string(b)
		}
		v.encoded, v.hgrm = strings.TrimSpace(text[".b64"]), text[".hgrm"]
		if err := v.parse(text[".txt"]); err != nil {
			return nil, fmt.Errorf("%s.txt: %w", stem, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// parse reads what Java printed of the histogram.
func (v *vector) parse(text string) error {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 2 {
			return fmt.Errorf("line %q is not understood", line)
		}
		if f[0] == "percentile" && len(f) == 3 {
			v.percentiles = append(v.percentiles, [2]string{f[1], f[2]})
			continue
		}
		if f[0] == "mean" || f[0] == "stddev" {
			continue // bits of floats; the .hgrm has them as text
		}
		var n []int64
		for _, s := range f[1:] {
			i, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return err
			}
			n = append(n, i)
		}
		switch {
		case f[0] == "geometry" && len(n) == 3:
			v.lowest, v.highest, v.digits = n[0], n[1], n[2]
		case f[0] == "total" && len(n) == 1:
			v.total = n[0]
		case f[0] == "max" && len(n) == 1:
			v.max = n[0]
		case f[0] == "bucket" && len(n) == 3:
			v.buckets = append(v.buckets, [3]int64(n))
		default:
			return fmt.Errorf("line %q is not understood", line)
		}
	}
	return nil
}

// interop compares what we read and write with frozen files of the Java
// library, and the merging of histograms against one recorder.
func interop(_ context.Context, b *Bench) (*Outcome, error) {
	all, err := vectors(vectorFiles)
	if err != nil {
		return nil, err
	}
	log, err := fs.ReadFile(vectorFiles, "vectors/plain.hlog")
	if err != nil {
		return nil, err
	}
	ours, err := fs.ReadFile(vectorFiles, "vectors/go-encoded.txt")
	if err != nil {
		return nil, err
	}
	figures := append(agreeWithJava(all), relog(string(log)), readByJava(all, string(ours)))
	values := 1_000_000
	if b.Short {
		values = 200_000
	}
	b.Say("%s values into one recorder and into eight workers'", grouped(int64(values)))
	merged, err := mergeTrial(values)
	if err != nil {
		return nil, err
	}
	return Conclude(fmt.Sprintf("%d histograms that HdrHistogram's Java code wrote, and one log, are read, written again and compared; histograms of eight workers are merged", len(all)),
		append(figures, merged...)...), nil
}

// agreeWithJava requires that the vectors decode to Java's buckets and
// percentiles, and are written as Java writes them.
func agreeWithJava(all []vector) []Figure {
	decoded, percentiles, encoded, printed := 0, 0, 0, 0
	asked := 0
	for _, v := range all {
		h, err := histograms.Decode(v.encoded)
		if err != nil {
			continue
		}
		x := histograms.NewRankIndex(h)
		if slices.Equal(buckets(h), v.buckets) && h.TotalCount() == v.total && x.Max() == v.max &&
			h.LowestTrackableValue() == v.lowest && h.HighestTrackableValue() == v.highest && h.SignificantFigures() == v.digits {
			decoded++
		}
		for _, p := range v.percentiles {
			at, err := strconv.ParseFloat(p[0], 64)
			if err == nil && at == 0 {
				continue // Java returns the lower edge of a bucket for percentile 0, we the upper
			}
			asked++
			if err == nil && strconv.FormatInt(x.Percentile(at), 10) == p[1] {
				percentiles++
			}
		}
		if again, err := histograms.Encode(h); err == nil && samePayload(again, v.encoded) {
			encoded++
		}
		var text strings.Builder
		if err := histograms.WriteHgrm(&text, h, 1e6, 5); err == nil && text.String() == v.hgrm { // ms, Java's default of 5 ticks
			printed++
		}
	}
	return []Figure{
		Exactly("histograms decoded to Java's geometry, buckets and total", len(all), decoded),
		Exactly("percentiles that are Java's", asked, percentiles),
		Exactly("histograms encoded again, the same bytes below the compression", len(all), encoded),
		Exactly(".hgrm files, byte for byte", len(all), printed),
	}
}

// buckets lists the buckets that are not empty.
func buckets(h *hdr.Histogram) [][3]int64 {
	var all [][3]int64
	for _, b := range h.Distribution() {
		if b.Count > 0 {
			all = append(all, [3]int64{b.From, b.To, b.Count})
		}
	}
	return all
}

// samePayload compares two encoded histograms below their compression, which
// may differ with the compressor and does not matter.
func samePayload(a, b string) bool {
	x, errA := payload(a)
	y, errB := payload(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// payload returns the uncompressed form of an encoded histogram, its compressed
// form's cookie before it.
func payload(encoded string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, err
	}
	if len(raw) < 8 || int64(binary.BigEndian.Uint32(raw[4:])) != int64(len(raw)-8) {
		return nil, errors.New("the length in the header is not the payload's")
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	return append(raw[:4:4], b...), nil
}

// relog reads a log that Java wrote and writes it again.
func relog(log string) Figure {
	const what = "an .hlog of Java's, read and written again"
	again, err := rewriteLog(log)
	found := "the same bytes"
	switch {
	case err != nil:
		found = err.Error()
	case again != log:
		found = "other bytes"
	}
	return Exactly(what, "the same bytes", found)
}

func rewriteLog(log string) (string, error) {
	r := histograms.NewHlogReader(strings.NewReader(log))
	var rows []histograms.HlogInterval
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		rows = append(rows, row)
	}
	start, ok := r.StartTime()
	if !ok {
		return "", errors.New("its start time was not understood")
	}
	var b strings.Builder
	w := histograms.NewHlogWriter(&b)
	if err := errors.Join(w.WriteVersion(), w.WriteStartTime(start), w.WriteLegend()); err != nil {
		return "", err
	}
	for _, row := range rows {
		if err := w.WriteInterval(row); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// readByJava requires that our encoder still writes the texts that Java once read and
// found equal to its own histograms.
func readByJava(all []vector, frozen string) Figure {
	given := map[string]string{}
	for line := range strings.Lines(frozen) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		given[name] = text
	}
	same := 0
	for _, v := range all {
		h := hdr.Import(&hdr.Snapshot{LowestTrackableValue: v.lowest, HighestTrackableValue: v.highest, SignificantFigures: v.digits})
		for _, b := range v.buckets { // built without any decoder
			if err := h.RecordValues(b[0], b[2]); err != nil {
				break
			}
		}
		if text, err := histograms.Encode(h); err == nil && samePayload(text, given[v.name]) {
			same++
		}
	}
	return Exactly("encoded as when Java read them and found its own", len(all), same)
}

// mergeTrial records the same values once into one recorder and once spread
// over those of eight workers that write at the same time, collected in three
// intervals each.
func mergeTrial(values int) ([]Figure, error) {
	const workers, rounds = 8, 3
	r := rand.New(rand.NewPCG(9, 9))
	all := make([]int64, values)
	for i := range all {
		all[i] = int64(1e3 * (1 + r.ExpFloat64()*float64(1+r.IntN(1000))))
	}
	config := recorder.Config{Metrics: []recorder.ID{recorder.DeliveryResponse}, Shards: 1, Digits: 3, Highest: time.Minute, Window: time.Minute}
	one, err := recorder.New(config)
	if err != nil {
		return nil, err
	}
	for i, v := range all {
		one.Shard(0).Response(recorder.DeliveryResponse, v, 0, -1, int64(i))
	}
	whole, err := collect(one)
	if err != nil {
		return nil, err
	}
	var parts []string
	config.Shards = 3
	for w := range workers {
		rec, err := recorder.New(config)
		if err != nil {
			return nil, err
		}
		for round := range rounds {
			var writing sync.WaitGroup
			for shard := range config.Shards { // at the same time
				writing.Go(func() {
					for i := w + workers*(round+rounds*shard); i < len(all); i += workers * rounds * config.Shards {
						rec.Shard(shard).Response(recorder.DeliveryResponse, all[i], 0, -1, int64(i))
					}
				})
			}
			writing.Wait()
			part, err := collect(rec)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
	}
	return mergesTo(whole, parts)
}

// collect returns the text of the values recorded since the last call.
func collect(r *recorder.Recorder) (string, error) {
	r.Snapshot()
	metrics, _, err := r.Encode()
	if err != nil {
		return "", err
	}
	return strings.Clone(metrics[result.DeliveryResponse].Hist), nil // it is valid until the next Encode
}

// mergesTo requires that the parts, merged, are the whole: bit for bit once
// encoded.
func mergesTo(whole string, parts []string) ([]Figure, error) {
	one, err := histograms.Decode(whole)
	if err != nil {
		return nil, err
	}
	var sum *hdr.Histogram
	for _, p := range parts {
		h, err := histograms.Decode(p)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = h
			continue
		}
		if lost := sum.Merge(h); lost > 0 {
			return nil, fmt.Errorf("%s do not fit", spell.Plural(lost, "value"))
		}
	}
	again, err := histograms.Encode(sum)
	if err != nil {
		return nil, err
	}
	found := "the same bytes"
	if !samePayload(again, whole) {
		found = "other bytes"
	}
	return []Figure{
		Exactly(fmt.Sprintf("values in %d merged histograms", len(parts)), one.TotalCount(), sum.TotalCount()),
		Exactly("the merged histogram against one recorder's", "the same bytes", found),
	}, nil
}
