// Package payload makes what messages carry: bodies of random bytes, of zeros, or cut from
// files. An [integrity.Envelope] comes before each body.
package payload

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

// Material is what the bodies of payloads are cut from: files in memory. It does not change, and lanes
// share it.
type Material [][]byte

// mostMaterial bounds what is read from files, in bytes.
const mostMaterial = 64 << 20

// Load reads the files that payloads are made of; nil: they are made of no files. Errors say what to do,
// and wrap no class.
func Load(p scenario.Payload) (Material, error) {
	refuse := func(hint string, err error) (Material, error) {
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
	var m Material
	left := int64(mostMaterial)
	for _, name := range names {
		text, err := readAtMost(name, left+1)
		if err != nil {
			return refuse("name readable files", err)
		}
		if left -= int64(len(text)); left < 0 {
			return refuse("use fewer or smaller files", fmt.Errorf("more than %d MiB", mostMaterial>>20))
		}
		if len(text) > 0 {
			m = append(m, text)
		}
	}
	if len(m) == 0 {
		return refuse("name a file or directory with content", fmt.Errorf("it is empty"))
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

// Bodies makes the bodies of one lane's payloads. It belongs to the goroutine that sends on the lane, for
// the sake of RNG.
type Bodies struct {
	Size     int // of the largest payload, bytes, envelope included
	Payload  scenario.Payload
	Material Material        // nil: bodies are made of no files
	Sizes    *schedule.Sizes // nil: all payloads have one size
	RNG      *rand.ChaCha8
	Lane     int // number of the lane, so that lanes send different bodies
	Lanes    int // how many lanes there are
	Key      int // length of the keys beside the payloads, bytes; 0: no keys
}

// BodiesAtOnce bounds the memory of different bodies, in bytes.
const BodiesAtOnce = 32 << 20

// Distinct returns how many bodies are made before they repeat: enough that no client
// has two equal ones in a batch.
func (b *Bodies) Distinct() int {
	each := b.Size
	if b.Sizes != nil {
		each += 4 * len(b.Sizes.Classes()) // their checksums
	}
	return max(1, BodiesAtOnce/each)
}

// compressBlock is the length, in bytes, of a stretch of random bytes and then zeros, for
// compress: short, so that small payloads and parts of payloads compress alike.
const compressBlock = 256

// Fill makes the lane's k-th body, which is as long as body. Random bodies depend on the calls before.
func (b *Bodies) Fill(body []byte, k int) {
	switch b.Payload.Kind {
	case scenario.ZeroPayload:
		clear(body)
	case scenario.CompressPayload:
		for len(body) > 0 {
			block := body[:min(len(body), compressBlock)]
			_, _ = b.RNG.Read(block[:int(math.Round(b.Payload.Share*float64(len(block))))]) // never fails
			body = body[len(block):]
		}
	case scenario.FilePayload:
		text := b.Material[0]
		at := int(int64(k*b.Lanes+b.Lane) * int64(len(body)) % int64(len(text)))
		for len(body) > 0 {
			body = body[copy(body, text[at:]):]
			at = 0
		}
	case scenario.CorpusPayload:
		for file := k*b.Lanes + b.Lane; len(body) > 0; file++ {
			body = body[copy(body, b.Material[file%len(b.Material)]):]
		}
	default:
		_, _ = b.RNG.Read(body) // never fails
	}
}

// Sums returns, by class of size, the checksum of the body of a payload of that size, cut from payload;
// nil: all payloads have one size.
func (b *Bodies) Sums(payload []byte) []uint32 {
	if b.Sizes == nil {
		return nil
	}
	classes := b.Sizes.Classes()
	sums := make([]uint32, len(classes))
	sum, at := uint32(0), integrity.EnvelopeSize
	for i, size := range classes {
		sum = integrity.AddSum(sum, payload[at:size])
		sums[i], at = sum, size
	}
	return sums
}
