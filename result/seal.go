package result

import (
	"bytes"

	"sixnines/internal/seal"
)

// Seal is at the end of a summary and says what was written before it. It shows
// accidents and careless edits in records that nothing else tells of, such as events and
// vitals. It is no proof: a forger can compute it again, see docs/method.md.
type Seal struct {
	// SHA256 is of every byte of the file before the comma in front of the seal, as
	// 64 hexadecimal digits.
	SHA256 string `json:"sha256"`
	// What was written of each kind of record; Summaries has those before this one.
	Headers   SealedLines `json:"headers"`
	Intervals SealedLines `json:"intervals"`
	Events    SealedLines `json:"events"`
	Summaries SealedLines `json:"summaries"`
}

// SealedLines are the lines of one kind of record.
type SealedLines struct {
	Lines  int64  `json:"lines"`
	CRC32C string `json:"crc32c"` // of their bytes one after another, without newlines; 8 hexadecimal digits
}

// sealKey is the text before the seal in the line of a summary.
const sealKey = `,"seal":`

// sealOf returns the seal of the records and bytes so far.
func sealOf(t *seal.Tally) *Seal {
	of := func(kind string) SealedLines {
		n, sum := t.Lines(kind)
		return SealedLines{Lines: n, CRC32C: sum}
	}
	return &Seal{SHA256: t.SHA256(), Headers: of(typeHeader), Intervals: of(typeInterval), Events: of(typeEvent), Summaries: of(typeSummary)}
}

// count counts a line that was read, with its newline if whole, and returns the seal that the
// line should have; nil if it is not a summary or has no seal.
func (r *Reader) count(kind string, line []byte, whole bool) (want *Seal) {
	rest := line
	if at := bytes.LastIndex(line, []byte(sealKey)); kind == typeSummary && at >= 0 {
		r.tally.Bytes(line[:at])
		want, rest = sealOf(r.tally), line[at:]
	}
	if r.tally.Bytes(rest); whole {
		r.tally.Bytes([]byte{'\n'})
	}
	r.tally.Record(kind, line)
	return want
}
