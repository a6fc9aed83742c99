package engine

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"sixnines/internal/integrity"
	"sixnines/internal/schedule"
	"sixnines/scenario"
)

// material is what the bodies of payloads are cut from: files in memory. Lanes
// share it.
type material [][]byte

// mostMaterial bounds what is read of files, in bytes.
const mostMaterial = 64 << 20

// loadMaterial reads the files that payloads are made of, if any.
func loadMaterial(p scenario.Payload) (material, error) {
	refuse := func(hint string, err error) (material, error) {
		return nil, fmt.Errorf("workload.payload %s: %w (%s)", p, err, hint)
	}
	var names []string
	switch p.Kind {
	case scenario.FilePayload:
		names = []string{p.Path}
	case scenario.CorpusPayload:
		entries, err := os.ReadDir(p.Path)
		if err != nil {
			return refuse("name a directory of files", err)
		}
		for _, e := range entries { // sorted by name
			if e.Type().IsRegular() {
				names = append(names, filepath.Join(p.Path, e.Name()))
			}
		}
	default:
		return nil, nil
	}
	var m material
	left := int64(mostMaterial)
	for _, name := range names {
		text, err := readAtMost(name, left+1)
		if err != nil {
			return refuse("name what can be read", err)
		}
		if left -= int64(len(text)); left < 0 {
			return refuse("take a part of it", fmt.Errorf("more than %d MiB", mostMaterial>>20))
		}
		if len(text) > 0 {
			m = append(m, text)
		}
	}
	if len(m) == 0 {
		return refuse("name one with something in it", fmt.Errorf("there is nothing in it"))
	}
	return m, nil
}

// readAtMost reads the first limit bytes of a regular file.
func readAtMost(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: no write can fail here
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// bodies makes the bodies of one lane's payloads.
type bodies struct {
	size     int // of the largest payload
	payload  scenario.Payload
	material material
	sizes    *schedule.Sizes // nil: all are alike
	rng      *rand.ChaCha8
	lane     int // and of how many, so that they do not send the same
	lanes    int
	key      int // length of the keys beside them; 0: there are none
}

// bodiesAtOnce bounds what different bodies take, in bytes.
const bodiesAtOnce = 32 << 20

// distinct is how many bodies are made before they repeat: so many that no client
// has two equal ones in a batch.
func (b *bodies) distinct() int {
	each := b.size
	if b.sizes != nil {
		each += 4 * len(b.sizes.Classes()) // their checksums
	}
	return max(1, bodiesAtOnce/each)
}

// compressBlock is the length in which random bytes and zeros take turns, for
// compress: short, so that small payloads and parts of payloads compress alike.
const compressBlock = 256

// fill makes the lane's k-th body.
func (b *bodies) fill(body []byte, k int) {
	switch b.payload.Kind {
	case scenario.ZeroPayload:
		clear(body)
	case scenario.CompressPayload:
		for len(body) > 0 {
			block := body[:min(len(body), compressBlock)]
			_, _ = b.rng.Read(block[:int(math.Round(b.payload.Share*float64(len(block))))]) // never fails
			body = body[len(block):]
		}
	case scenario.FilePayload:
		text := b.material[0]
		at := int(int64(k*b.lanes+b.lane) * int64(len(body)) % int64(len(text)))
		for len(body) > 0 {
			body = body[copy(body, text[at:]):]
			at = 0
		}
	case scenario.CorpusPayload:
		for file := k*b.lanes + b.lane; len(body) > 0; file++ {
			body = body[copy(body, b.material[file%len(b.material)]):]
		}
	default:
		_, _ = b.rng.Read(body) // never fails
	}
}

// sums returns the checksums of the body's parts of all sizes; nil where all
// payloads are alike.
func (b *bodies) sums(payload []byte) []uint32 {
	if b.sizes == nil {
		return nil
	}
	classes := b.sizes.Classes()
	sums := make([]uint32, len(classes))
	sum, at := uint32(0), integrity.EnvelopeSize
	for i, size := range classes {
		sum = integrity.AddSum(sum, payload[at:size])
		sums[i], at = sum, size
	}
	return sums
}
