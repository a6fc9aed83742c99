package wire

import (
	"bytes"
	"errors"
	"testing"
)

func TestRecordsArePutTogether(t *testing.T) {
	var a Assembler
	for number, size := range []int{0, 1, MaxPart - 1, MaxPart, MaxPart + 1, 3 * MaxPart, 7} {
		record := bytes.Repeat([]byte{byte(number + 1)}, size)
		of := Parts(size)
		for index := range of {
			frame := AppendPart(nil, PartOf(uint64(number), record, index))
			p, err := ParsePart(frame)
			if err != nil {
				t.Fatal(err)
			}
			for again := range 2 { // at least once is at times twice
				n, got, ok, err := a.Add(p)
				if err != nil || ok != (index == of-1 && again == 0) || ok && (n != uint64(number) || !bytes.Equal(got, record)) {
					t.Fatalf("record %d of %d bytes, part %d, for the time %d: %d, %d bytes, %v, %v", number, size, index, again+1, n, len(got), ok, err)
				}
			}
		}
	}
	if a.Next() != 7 || a.Twice() != 10 {
		t.Errorf("%d records, and %d parts twice", a.Next(), a.Twice())
	}
}

func TestMissingRecordsAreNoticed(t *testing.T) {
	long := make([]byte, 2*MaxPart+1)
	for _, parts := range [][]Part{
		{PartOf(1, nil, 0)},
		{PartOf(0, nil, 0), PartOf(2, nil, 0)},
		{PartOf(0, long, 1)},
		{PartOf(0, long, 0), PartOf(0, long, 2)},
		{PartOf(0, long, 0), PartOf(1, nil, 0)},
	} {
		var a Assembler
		var err error
		for _, p := range parts {
			_, _, _, err = a.Add(p)
		}
		if !errors.Is(err, ErrGap) {
			t.Errorf("%d parts: %v", len(parts), err)
		}
	}
}

func TestDamagedPartsAreRefused(t *testing.T) {
	frame := AppendPart(nil, PartOf(3, []byte("record"), 0))
	for bit := range 8 * len(frame) {
		damaged := bytes.Clone(frame)
		damaged[bit/8] ^= 1 << (bit % 8)
		if _, err := ParsePart(damaged); !errors.Is(err, ErrMalformed) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
	for _, p := range []Part{
		{Of: 0}, {Index: 1, Of: 1}, {Of: MaxRecord/MaxPart + 1, Bytes: make([]byte, MaxPart)}, {Of: 2, Bytes: []byte("short")}, {Of: 1, Bytes: make([]byte, MaxPart+1)},
	} {
		if _, err := ParsePart(AppendPart(nil, p)); !errors.Is(err, ErrMalformed) {
			t.Errorf("part %d of %d with %d bytes: %v", p.Index, p.Of, len(p.Bytes), err)
		}
	}
}

func FuzzParts(f *testing.F) {
	f.Add(AppendPart(nil, PartOf(0, []byte("record"), 0)), AppendPart(nil, PartOf(1, nil, 0)))
	f.Add(AppendPart(nil, Part{Of: 2, Bytes: []byte("x")}), []byte(partMark))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		var a Assembler
		for _, frame := range [][]byte{x, y, x, y} {
			p, err := ParsePart(frame)
			if err != nil {
				if !errors.Is(err, ErrMalformed) {
					t.Error(err)
				}
				continue
			}
			if again := AppendPart(nil, p); !bytes.Equal(again, frame) {
				t.Errorf("%x is read and written as %x", frame, again)
			}
			if _, _, _, err := a.Add(p); err != nil && !errors.Is(err, ErrGap) && !errors.Is(err, ErrMalformed) {
				t.Error(err)
			}
			if cap(a.bytes) > 2*MaxRecord {
				t.Errorf("%d bytes are held", cap(a.bytes))
			}
		}
	})
}
