package histograms

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/spell"
)

const (
	hlogVersion = "1.3"
	hlogLegend  = `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`

	// hlogMaxRatio divides the maximum in the third column: values are in
	// nanoseconds, and the format has milliseconds there.
	hlogMaxRatio = 1e6

	// hlogMaxLine bounds a line, in bytes: the text of one histogram and the
	// columns before it.
	hlogMaxLine = hdrMaxEncoded + 4096
)

// HlogInterval is one row of a histogram log: the values recorded in one
// interval under one tag.
type HlogInterval struct {
	Tag    string    // empty: none
	Start  time.Time // absolute, whatever the log's base time is
	Length time.Duration

	// Histogram holds the values, in nanoseconds.
	Histogram *hdrhistogram.Histogram

	// Encoded is the text of Histogram as it is in the log. The reader sets it.
	// The writer writes it unchanged if it is not empty, so that nothing is
	// encoded twice; it must then be the encoding of Histogram, whose maximum
	// goes into the row.
	Encoded string
}

// HlogWriter writes histogram logs in format 1.3 as HdrHistogram's Java
// HistogramLogWriter does, byte for byte except that histograms it has to
// encode itself are compressed by another deflate (see [Encode]).
// Each line is handed to the underlying writer in one Write. Not safe for
// concurrent use.
//
// The customary order is version, start time, base time if the rows are to
// carry times relative to it, legend, rows:
//
//	#[Histogram log format version 1.3]
//	#[StartTime: 1767225600.000 (seconds since epoch), Thu Jan 01 00:00:00 UTC 2026]
//	"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
//	Tag=A,1767225600.000,1.000,2.769,HISTFAAAAEV42pNpmSz…
type HlogWriter struct {
	encoder Encoder
	w       io.Writer
	base    time.Time
}

// NewHlogWriter returns a writer that writes to w and has no base time.
func NewHlogWriter(w io.Writer) *HlogWriter {
	return &HlogWriter{w: w, base: time.Unix(0, 0)}
}

// WriteVersion writes the comment that names the format's version.
func (lw *HlogWriter) WriteVersion() error {
	return lw.WriteComment("[Histogram log format version " + hlogVersion + "]")
}

// WriteComment writes a comment of one line. Readers ignore comments, but those
// that begin with [StartTime: or [BaseTime: mean something.
func (lw *HlogWriter) WriteComment(text string) error {
	if strings.ContainsAny(text, "\r\n") {
		return fmt.Errorf("write hlog: comment %q has a line break", text)
	}
	return lw.line("#" + text)
}

// WriteStartTime writes when the log began, to the millisecond and in UTC.
func (lw *HlogWriter) WriteStartTime(t time.Time) error {
	return lw.line(fmt.Sprintf("#[StartTime: %s (seconds since epoch), %s]",
		hdrFixed(float64(t.UnixMilli())/1000, 3), t.UTC().Format("Mon Jan 02 15:04:05 MST 2006")))
}

// WriteBaseTime writes the base time, to the millisecond, and makes the times
// of all following rows relative to it. (Java can write relative times without a
// base time, which readers must guess; this writer cannot.)
func (lw *HlogWriter) WriteBaseTime(t time.Time) error {
	lw.base = time.UnixMilli(t.UnixMilli())
	return lw.line(fmt.Sprintf("#[BaseTime: %s (seconds since epoch)]", hdrFixed(float64(t.UnixMilli())/1000, 3)))
}

// WriteLegend writes the line of column headings.
func (lw *HlogWriter) WriteLegend() error { return lw.line(hlogLegend) }

// WriteInterval writes one row. The tag may not contain commas, spaces or line
// breaks, and the length may not be negative.
func (lw *HlogWriter) WriteInterval(iv HlogInterval) error {
	if strings.ContainsAny(iv.Tag, ", \r\n") {
		return fmt.Errorf("write hlog: tag %q has a comma, a space or a line break", iv.Tag)
	}
	if iv.Length < 0 {
		return fmt.Errorf("write hlog: interval of negative length %s", spell.Duration(iv.Length))
	}
	if since := iv.Start.Sub(time.Unix(0, 0)); math.Abs(since.Seconds()) > hlogMaxSeconds {
		return fmt.Errorf("write hlog: interval that starts at %v", iv.Start)
	}
	if iv.Histogram == nil {
		return errors.New("write hlog: interval without a histogram")
	}
	encoded := iv.Encoded
	if encoded == "" {
		var err error
		if encoded, err = lw.encoder.Encode(iv.Histogram); err != nil {
			return fmt.Errorf("write hlog: %w", err)
		}
	} else if strings.ContainsAny(encoded, ", \r\n") {
		return errors.New("write hlog: the encoded histogram is not base64 text")
	}
	var row strings.Builder
	if iv.Tag != "" {
		row.WriteString("Tag=" + iv.Tag + ",")
	}
	row.WriteString(hdrFixed(hlogSeconds(iv.Start.Sub(lw.base)), 3) + ",")
	row.WriteString(hdrFixed(hlogSeconds(iv.Length), 3) + ",")
	row.WriteString(hdrFixed(float64(iv.Histogram.Max())/hlogMaxRatio, 3) + ",")
	row.WriteString(encoded)
	return lw.line(row.String())
}

func (lw *HlogWriter) line(s string) error {
	if _, err := io.WriteString(lw.w, s+"\n"); err != nil {
		return fmt.Errorf("write hlog: %w", err)
	}
	return nil
}

// hlogSeconds returns d in seconds. It divides whole milliseconds as Java does, whose
// times have no finer unit.
func hlogSeconds(d time.Duration) float64 {
	if d%time.Millisecond == 0 {
		return float64(d/time.Millisecond) / 1000
	}
	return float64(d) / 1e9
}

// HlogReader reads histogram logs of format 1.0 to 1.3, one row at a time: it
// holds one line and one histogram. It accepts comments and blank lines
// anywhere, carriage returns, a byte order mark, spaces around fields, and a
// log without heading. It is fit for hostile input, within the bounds of
// [Decode]. Not safe for concurrent use.
//
// Times are absolute by the rule of Java's HistogramLogReader. A row's time is
// relative to the base time, if the log names one. If not, the first row
// decides for all: where it lies more than a year before the start time, times
// count from the start time, else from the epoch.
type HlogReader struct {
	r    *bufio.Reader
	line int

	start, base       time.Duration // since the epoch
	hasStart, hasBase bool
	buf               []byte
	err               error
}

// NewHlogReader returns a reader of the log in r.
func NewHlogReader(r io.Reader) *HlogReader {
	return &HlogReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// StartTime returns the start time of the log as far as it was read: the one
// that the log names, else that of its first row. ok is false before either.
func (lr *HlogReader) StartTime() (t time.Time, ok bool) {
	return hlogTime(lr.start), lr.hasStart
}

// Next returns the next row. At the end of the log it returns io.EOF, after a
// last line without a line break, too. Every other error names the line and is
// final: all following calls return it again. The histogram's tag, start and
// end time are set.
func (lr *HlogReader) Next() (HlogInterval, error) {
	for lr.err == nil {
		line, err := lr.readLine()
		if err != nil {
			lr.err = err
			break
		}
		iv, ok, err := lr.parse(line)
		if err != nil {
			lr.err = fmt.Errorf("read hlog: line %d: %w", lr.line, err)
			break
		}
		if ok {
			return iv, nil
		}
	}
	return HlogInterval{}, lr.err
}

// readLine returns a line without its end, valid until the next call.
func (lr *HlogReader) readLine() (string, error) {
	lr.line++
	lr.buf = lr.buf[:0]
	for {
		part, err := lr.r.ReadSlice('\n')
		if len(lr.buf)+len(part) > hlogMaxLine {
			return "", fmt.Errorf("read hlog: line %d: longer than %d bytes", lr.line, hlogMaxLine)
		}
		lr.buf = append(lr.buf, part...)
		switch {
		case err == nil, err == io.EOF && len(lr.buf) > 0:
			return string(bytes.TrimSpace(lr.buf)), nil
		case err == io.EOF:
			return "", io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", fmt.Errorf("read hlog: line %d: %w", lr.line, err)
		}
	}
}

// parse takes one line; ok is false where it is not a row.
func (lr *HlogReader) parse(line string) (iv HlogInterval, ok bool, err error) {
	if lr.line == 1 {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
	}
	switch {
	case line == "", strings.HasPrefix(line, `"StartTimestamp"`):
		return HlogInterval{}, false, nil
	case line[0] == '#':
		return HlogInterval{}, false, lr.parseComment(line[1:])
	}
	iv, err = lr.parseRow(line)
	return iv, err == nil, err
}

func (lr *HlogReader) parseComment(text string) error {
	if rest, ok := strings.CutPrefix(text, "[Histogram log format version "); ok {
		version, _, _ := strings.Cut(rest, "]")
		if major, _, _ := strings.Cut(version, "."); major != "1" {
			return fmt.Errorf("format version %q is not one of 1.0 to 1.3", hlogExcerpt(version))
		}
	}
	if rest, ok := strings.CutPrefix(text, "[StartTime:"); ok {
		t, err := hlogParseSeconds("start time", hlogFirstField(rest))
		if err != nil {
			return err
		}
		lr.start, lr.hasStart = t, true
	}
	if rest, ok := strings.CutPrefix(text, "[BaseTime:"); ok {
		t, err := hlogParseSeconds("base time", hlogFirstField(rest))
		if err != nil {
			return err
		}
		lr.base, lr.hasBase = t, true
	}
	return nil
}

func (lr *HlogReader) parseRow(line string) (HlogInterval, error) {
	var iv HlogInterval
	if rest, ok := strings.CutPrefix(line, "Tag="); ok {
		tag, rest, ok := strings.Cut(rest, ",")
		if !ok {
			return iv, errors.New("nothing follows the tag")
		}
		iv.Tag, line = strings.TrimSpace(tag), rest
	}
	f := strings.SplitN(line, ",", 5)
	if len(f) != 4 {
		return iv, fmt.Errorf("%q is not a row of start, length, maximum and histogram", hlogExcerpt(line))
	}
	stamp, err := hlogParseSeconds("start", strings.TrimSpace(f[0]))
	if err != nil {
		return iv, err
	}
	length, err := hlogParseSeconds("length", strings.TrimSpace(f[1]))
	if err != nil {
		return iv, err
	}
	if length < 0 {
		return iv, fmt.Errorf("length %q is negative", hlogExcerpt(f[1]))
	}
	// The histogram has the maximum; the column is for readers of the text.
	if _, err := strconv.ParseFloat(strings.TrimSpace(f[2]), 64); err != nil {
		return iv, fmt.Errorf("maximum %q is not a number", hlogExcerpt(f[2]))
	}
	iv.Encoded = strings.TrimSpace(f[3])
	if iv.Histogram, err = Decode(iv.Encoded); err != nil {
		return iv, err
	}
	if !lr.hasStart {
		lr.start, lr.hasStart = stamp, true
	}
	if !lr.hasBase {
		lr.base, lr.hasBase = 0, true
		if stamp < lr.start-365*24*time.Hour {
			lr.base = lr.start
		}
	}
	iv.Start = hlogTime(lr.base + stamp)
	iv.Length = length
	iv.Histogram.SetTag(iv.Tag)
	iv.Histogram.SetStartTimeMs(iv.Start.UnixMilli())
	iv.Histogram.SetEndTimeMs(iv.Start.Add(length).UnixMilli())
	return iv, nil
}

// hlogTime returns the instant d after the epoch, in UTC.
func hlogTime(d time.Duration) time.Time { return time.Unix(0, int64(d)).UTC() }

// hlogFirstField returns what comes before the second run of spaces or the
// closing bracket.
func hlogFirstField(s string) string {
	s = strings.TrimLeft(s, " ")
	if i := strings.IndexAny(s, " ]"); i >= 0 {
		s = s[:i]
	}
	return s
}

// hlogMaxSeconds bounds the times in a log, on either side of the epoch: two of
// them and a length add up within a time.Duration.
const hlogMaxSeconds = 3e9

// hlogParseSeconds reads seconds, to the microsecond: a float64 holds no more
// of the present time.
func hlogParseSeconds(what, s string) (time.Duration, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%s %q is not a number of seconds", what, hlogExcerpt(s))
	}
	if !(math.Abs(v) <= hlogMaxSeconds) {
		return 0, fmt.Errorf("%s %q is out of range", what, hlogExcerpt(s))
	}
	return time.Duration(math.Round(v*1e6)) * time.Microsecond, nil
}

// hlogExcerpt cuts a long field for an error message.
func hlogExcerpt(s string) string {
	const limit = 40
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
