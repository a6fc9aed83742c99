package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// TestRowsOfOtherTypesAreRefused, and so are rows of another length.
func TestRowsOfOtherTypesAreRefused(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, Column{"a", Int64}, Column{"b", String})
	for _, row := range [][]any{{int64(1)}, {1, "x"}, {int64(1), 2.0}, {"x", "y"}} {
		if w.Row(row...) == nil {
			t.Errorf("%v is taken", row)
		}
	}
}

// TestLevels packs eight nulls and values a byte.
func TestLevels(t *testing.T) {
	known := make([]bool, 9)
	known[0], known[8] = true, true
	if got, want := levels(known), []byte{3, 0, 0, 0, 2<<1 | 1, 1, 1}; !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestGroups: a table of more rows than a group has begins another, and says how long its description is.
func TestGroups(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, Column{"v", Double})
	for i := range groupRows + 1 {
		v := float64(i)
		if i%2 == 0 {
			v = math.NaN()
		}
		if err := w.Row(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()
	length := int(binary.LittleEndian.Uint32(text[len(text)-8:]))
	if len(w.groups) != 2 || w.groups[1].rows != 1 || !bytes.HasPrefix(text, []byte(magic)) || !bytes.HasSuffix(text, []byte(magic)) || length > 400 {
		t.Errorf("%d groups, a description of %d bytes", len(w.groups), length)
	}
}

// failing writes nothing.
type failing struct{}

var errFull = errors.New("full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

// TestErrorsAreKept until Close.
func TestErrorsAreKept(t *testing.T) {
	w := NewWriter(failing{}, Column{"v", Int64})
	_ = w.Row(int64(1))
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}
