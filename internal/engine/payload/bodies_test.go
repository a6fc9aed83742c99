package payload

import (
	"bytes"
	"compress/zlib"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"sixnines/internal/integrity"
	"sixnines/internal/schedule"
	"sixnines/scenario"
)

func payloadOf(t *testing.T, text string) scenario.Payload {
	t.Helper()
	p, err := scenario.ParsePayload(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A body compresses to about the share that was asked for, whatever its size and
// the compressor, alone and in a batch.
func TestBodiesCompressAsAsked(t *testing.T) {
	compressors := map[string]func([]byte) int{
		"zlib": func(b []byte) int {
			var out bytes.Buffer
			w := zlib.NewWriter(&out)
			_, _ = w.Write(b)
			_ = w.Close()
			return out.Len()
		},
		"snappy": func(b []byte) int { return len(snappy.Encode(nil, b)) },
	}
	for _, tt := range []struct {
		payload string
		share   float64
	}{{"random", 1}, {"compress:100%", 1}, {"compress:75%", 0.75}, {"compress:50%", 0.5}, {"compress:10%", 0.1}, {"zeros", 0}} {
		for _, size := range []int{1 << 10, 1500, 64 << 10} {
			b := Bodies{Size: size, Payload: payloadOf(t, tt.payload), RNG: rand.NewChaCha8([32]byte{1}), Lanes: 1}
			var batch []byte
			for k := range 1 + 64<<10/size {
				body := make([]byte, size)
				b.Fill(body, k)
				batch = append(batch, body...)
				if k > 0 {
					continue
				}
				for name, compress := range compressors {
					if got := float64(compress(body)) / float64(size); got < tt.share-0.02 || got > tt.share+0.07 {
						t.Errorf("%s leaves %.3f of %d bytes of %s", name, got, size, tt.payload)
					}
				}
			}
			for name, compress := range compressors {
				if got := float64(compress(batch)) / float64(len(batch)); got < tt.share-0.02 || got > tt.share+0.07 {
					t.Errorf("%s leaves %.3f of a batch of %d bytes of %s", name, got, size, tt.payload)
				}
			}
		}
	}
}

func TestBodiesOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "aaa", "b": "bbbbb", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		payload string
		lane    int
		want    []string
	}{
		{"file:" + filepath.Join(dir, "b"), 0, []string{"bbbb", "bbbb"}},
		{"corpus:" + dir, 0, []string{"aaab", "aaab"}},
		{"corpus:" + dir, 1, []string{"bbbb", "bbbb"}},
	} {
		m, err := Load(payloadOf(t, tt.payload))
		if err != nil {
			t.Fatal(err)
		}
		b := Bodies{Size: 4, Payload: payloadOf(t, tt.payload), Material: m, Lane: tt.lane, Lanes: 2}
		for k, want := range tt.want {
			body := make([]byte, 4)
			b.Fill(body, k)
			if string(body) != want {
				t.Errorf("body %d of %s in lane %d is %q, want %q", k, tt.payload, tt.lane, body, want)
			}
		}
	}
	// A file is cut into bodies one after the other.
	if err := os.WriteFile(filepath.Join(dir, "c"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := payloadOf(t, "file:"+filepath.Join(dir, "c"))
	m, err := Load(p)
	if err != nil {
		t.Fatal(err)
	}
	b := Bodies{Size: 4, Payload: p, Material: m, Lanes: 1}
	for k, want := range []string{"0123", "4567", "8901"} {
		body := make([]byte, 4)
		if b.Fill(body, k); string(body) != want {
			t.Errorf("body %d is %q, want %q", k, body, want)
		}
	}
	for payload, want := range map[string]string{
		"file:" + filepath.Join(dir, "none"):     "no such file",
		"file:" + dir:                            "is not a regular file",
		"corpus:" + filepath.Join(dir, "a"):      "not a directory",
		"corpus:" + filepath.Join(dir, "below"):  "it is empty",
		"file:" + filepath.Join(dir, "empty"):    "it is empty",
		"corpus:" + filepath.Join(dir, "nobody"): "no such file",
	} {
		if _, err := Load(payloadOf(t, payload)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", payload, err, want)
		}
	}
}

// The checksums of all parts of a body are those of payloads of these sizes.
func TestBodySums(t *testing.T) {
	sizes, err := scenario.ParseSizes("lognormal:median=1KiB,sigma=2,max=8KiB")
	if err != nil {
		t.Fatal(err)
	}
	b := Bodies{Size: 8 << 10, Sizes: schedule.NewSizes(sizes, 1), RNG: rand.NewChaCha8([32]byte{}), Lanes: 1}
	text := make([]byte, b.Size)
	for k := range 4 {
		b.Fill(text[integrity.EnvelopeSize:], k)
		sums := b.Sums(text)
		for class, size := range b.Sizes.Classes() {
			if got, want := sums[class], integrity.BodySum(text[:size]); got != want {
				t.Fatalf("body %d, %d bytes: checksum %x, want %x", k, size, got, want)
			}
		}
	}
}
