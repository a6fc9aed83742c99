package histograms

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// hlogStart is the start time of the golden logs.
var hlogStart = time.Date(2026, 1, 1, 0, 0, 0, 250e6, time.UTC)

// hlogSteps are the lines before the rows of a log.
type hlogSteps []func(*HlogWriter) error

func (s hlogSteps) write(t testing.TB, w *HlogWriter) {
	t.Helper()
	for _, f := range s {
		if err := f(w); err != nil {
			t.Fatal(err)
		}
	}
}

// hlogHeads are the beginnings of the golden logs, but for the one whose base
// time is a secret.
var hlogHeads = map[string]hlogSteps{
	"bare":     {},
	"rounding": {(*HlogWriter).WriteVersion},
	"plain":    {(*HlogWriter).WriteVersion, hlogStartAt(0), (*HlogWriter).WriteLegend},
	"base": {
		func(w *HlogWriter) error { return w.WriteComment("[Logged by Generate]") },
		(*HlogWriter).WriteVersion, hlogStartAt(0), hlogBaseAt(-time.Second), (*HlogWriter).WriteLegend,
	},
	"tags": {(*HlogWriter).WriteVersion, hlogStartAt(0), hlogBaseAt(0), (*HlogWriter).WriteLegend},
}

func hlogStartAt(d time.Duration) func(*HlogWriter) error {
	return func(w *HlogWriter) error { return w.WriteStartTime(hlogStart.Add(d)) }
}

func hlogBaseAt(d time.Duration) func(*HlogWriter) error {
	return func(w *HlogWriter) error { return w.WriteBaseTime(hlogStart.Add(d)) }
}

// hlogWant is what the generator put into the rows of each golden log, in
// nanoseconds after the start of the log.
var hlogWant = map[string][]struct {
	tag           string
	start, length time.Duration
}{
	"bare":  {{"", 0, 1000 * time.Millisecond}},
	"plain": hlogSeconds3, "base": hlogSeconds3, "relative": hlogSeconds3[:2],
	"tags": {
		{"", 0, 1000 * time.Millisecond}, {"publish.response", 0, 1000 * time.Millisecond}, {"délai", 0, 1000 * time.Millisecond},
		{"", 1001 * time.Millisecond, 1001 * time.Millisecond},
		{"publish.response", 1001 * time.Millisecond, 1001 * time.Millisecond},
		{"délai", 1001 * time.Millisecond, 1001 * time.Millisecond},
	},
}

var hlogSeconds3 = []struct {
	tag           string
	start, length time.Duration
}{
	{"", 0, 1000 * time.Millisecond},
	{"", 1001 * time.Millisecond, 1001 * time.Millisecond},
	{"", 2002 * time.Millisecond, 1002 * time.Millisecond},
}

func hlogReadAll(t testing.TB, r io.Reader) []HlogInterval {
	t.Helper()
	lr := NewHlogReader(r)
	var all []HlogInterval
	for {
		iv, err := lr.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, iv)
	}
}

func TestHlogReaderReadsJava(t *testing.T) {
	for name, want := range hlogWant {
		t.Run(name, func(t *testing.T) {
			file := hdrReadFile(t, filepath.Join(hdrGoldenDir, name+".hlog"))
			rows := hlogReadAll(t, bytes.NewReader(file))
			if len(rows) != len(want) {
				t.Fatalf("%d rows, want %d", len(rows), len(want))
			}
			for i, w := range want {
				iv := rows[i]
				if iv.Tag != w.tag || !iv.Start.Equal(hlogStart.Add(w.start)) || iv.Length != w.length {
					t.Errorf("row %d: %q at %v for %v, want %q at %v for %v",
						i, iv.Tag, iv.Start, iv.Length, w.tag, hlogStart.Add(w.start), w.length)
				}
				h := iv.Histogram
				if h.TotalCount() != 200 || h.Tag() != w.tag || h.StartTimeMs() != iv.Start.UnixMilli() ||
					h.EndTimeMs() != iv.Start.Add(iv.Length).UnixMilli() {
					t.Errorf("row %d: histogram of %d values, tag %q, %d to %d ms",
						i, h.TotalCount(), h.Tag(), h.StartTimeMs(), h.EndTimeMs())
				}
			}
		})
	}
}

// TestHlogWriterIsJavas writes the golden logs anew from what was read of them:
// with the text of their histograms they come out byte for byte; without it,
// byte for byte below the compression.
func TestHlogWriterIsJavas(t *testing.T) {
	for name, head := range hlogHeads {
		t.Run(name, func(t *testing.T) {
			want := hdrReadFile(t, filepath.Join(hdrGoldenDir, name+".hlog"))
			var same, anew bytes.Buffer
			w1, w2 := NewHlogWriter(&same), NewHlogWriter(&anew)
			head.write(t, w1)
			head.write(t, w2)
			rows := hlogReadAll(t, bytes.NewReader(want))
			if name == "rounding" {
				// The log has fewer digits than the instants given to its generator.
				for i, s := range []time.Duration{500, 1500, 4500, 1000500, 2499500, 1023999500} {
					rows[i].Start = time.Unix(0, 0).Add(s * time.Microsecond)
				}
			}
			for _, iv := range rows {
				if err := w1.WriteInterval(iv); err != nil {
					t.Fatal(err)
				}
				iv.Encoded = ""
				if err := w2.WriteInterval(iv); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(same.Bytes(), want) {
				t.Errorf("written:\n%s\nwant:\n%s", same.Bytes(), want)
			}
			got, java := strings.Split(anew.String(), "\n"), strings.Split(string(want), "\n")
			if len(got) != len(java) {
				t.Fatalf("%d lines, want %d", len(got), len(java))
			}
			for i := range java {
				cut := strings.LastIndexByte(java[i], ',') + 1
				if !strings.Contains(java[i], ",HISTF") {
					cut = len(java[i])
				}
				if len(got[i]) < cut || got[i][:cut] != java[i][:cut] {
					t.Fatalf("line %d:\n%s, want\n%s", i+1, got[i], java[i])
				}
				if cut < len(java[i]) && !bytes.Equal(hdrInflate(t, got[i][cut:]), hdrInflate(t, java[i][cut:])) {
					t.Errorf("line %d: the bytes below the compression differ from Java's", i+1)
				}
			}
		})
	}
}

// hlogOne is the text of a histogram of one value.
func hlogOne(t testing.TB) string {
	t.Helper()
	h := hdrhistogram.New(1, 1000, 3)
	if err := h.RecordValue(7); err != nil {
		t.Fatal(err)
	}
	text, err := Encode(h)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestHlogReaderBaseTime(t *testing.T) {
	row := func(stamp string) string { return stamp + ",1.000,0.000," + hlogOne(t) + "\n" }
	const year = 365 * 24 * 3600
	for _, tt := range []struct {
		name, log string
		starts    []float64 // of the rows, seconds since the epoch
		logStart  float64
	}{
		{"nothing said", row("12.5") + row("13.5"), []float64{12.5, 13.5}, 12.5},
		{"absolute", "#[StartTime: 1000000000.000 (seconds since epoch), x]\n" + row("1000000001.5"), []float64{1000000001.5}, 1e9},
		{"a little before the start", "#[StartTime: 1000000000.000]\n" + row("999999999.5"), []float64{999999999.5}, 1e9},
		{"a year before, not more", "#[StartTime: 1000000000.000]\n" + row("968464000.000"), []float64{1e9 - year}, 1e9},
		{"more than a year before", "#[StartTime: 1000000000.000]\n" + row("1.5") + row("2.5"), []float64{1000000001.5, 1000000002.5}, 1e9},
		{"the first row decides", "#[StartTime: 1000000000.000]\n" + row("1.5") + row("1000000002"), []float64{1000000001.5, 2000000002}, 1e9},
		{"base time", "#[StartTime: 1000000000.000]\n#[BaseTime: 500000000.000 (seconds since epoch)]\n" + row("1000.5"), []float64{500001000.5}, 1e9},
		{"base time zero", "#[StartTime: 1000000000]\n#[BaseTime: 0.000]\n" + row("1.5"), []float64{1.5}, 1e9},
		{"base time later on", row("1.5") + "#[BaseTime:100.0]\n" + row("2.5"), []float64{1.5, 102.5}, 1.5},
		{"before the base time", "#[BaseTime: 100.000]\n" + row("-2.5"), []float64{97.5}, -2.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lr := NewHlogReader(strings.NewReader(tt.log))
			if _, ok := lr.StartTime(); ok {
				t.Error("a start time before the first line")
			}
			for i, want := range tt.starts {
				iv, err := lr.Next()
				if err != nil {
					t.Fatal(err)
				}
				if got := float64(iv.Start.UnixMicro()) / 1e6; got != want {
					t.Errorf("row %d starts at %f, want %f", i, got, want)
				}
			}
			if _, err := lr.Next(); err != io.EOF {
				t.Errorf("after the last row: %v", err)
			}
			if got, ok := lr.StartTime(); !ok || float64(got.UnixMicro())/1e6 != tt.logStart {
				t.Errorf("the log starts at %v, %v, want %f", got, ok, tt.logStart)
			}
		})
	}
}

func TestHlogReaderTolerates(t *testing.T) {
	one := hlogOne(t)
	log := "\ufeff#[Histogram log format version 1.0]\r\n" +
		"#[Histogram log format version 1.3]\r\n" +
		"#\r\n" +
		"# anything, \"at all\"\r\n" +
		"\r\n" +
		`"StartTimestamp","EndTimestamp","Interval_Max","Interval_Compressed_Histogram"` + "\r\n" +
		"0.5,1.000,0.007," + one + "\r\n" +
		" Tag=a , 1.5 , 1.000 , 0.007 , " + one + " \r\n" +
		"   \r\n" +
		"Tag=,2.5,1,7," + one // no line break
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(log), "bytewise": iotest.OneByteReader(strings.NewReader(log)),
	} {
		t.Run(name, func(t *testing.T) {
			rows := hlogReadAll(t, r)
			if len(rows) != 3 {
				t.Fatalf("%d rows, want 3", len(rows))
			}
			for i, tag := range []string{"", "a", ""} {
				if rows[i].Tag != tag || rows[i].Encoded != one || rows[i].Histogram.TotalCount() != 1 {
					t.Errorf("row %d: %+v", i, rows[i])
				}
			}
		})
	}
}

func TestHlogReaderNamesTheLine(t *testing.T) {
	one := hlogOne(t)
	for _, tt := range []struct{ name, line, want string }{
		{"a sentence", "hello", `line 3: "hello" is not a row`},
		{"a long sentence", strings.Repeat("x", 500), "…"},
		{"a field too many", "1,1,1," + one + ",1", "is not a row"},
		{"nothing after the tag", "Tag=a", "line 3: nothing follows the tag"},
		{"start", "x,1,1," + one, `line 3: start "x"`},
		{"start not finite", "nan,1,1," + one, `line 3: start "nan" is out of range`},
		{"start out of range", "1e300,1,1," + one, `line 3: start "1e300" is out of range`},
		{"length", "1,x,1," + one, `line 3: length "x"`},
		{"length negative", "1,-1,1," + one, `line 3: length "-1" is negative`},
		{"maximum", "1,1,x," + one, `line 3: maximum "x"`},
		{"histogram", "1,1,1,HISTFAAA", "line 3: decode histogram"},
		{"no histogram", "1,1,1,", "line 3: decode histogram"},
		{"version", "#[Histogram log format version 2.0]", `line 3: format version "2.0"`},
		{"start time", "#[StartTime: soon]", `line 3: start time "soon"`},
		{"base time", "#[BaseTime: inf (seconds since epoch)]", `line 3: base time "inf"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lr := NewHlogReader(strings.NewReader("#[Histogram log format version 1.2]\n1,1,1," + one + "\n" + tt.line + "\n1,1,1," + one + "\n"))
			if _, err := lr.Next(); err != nil {
				t.Fatal(err)
			}
			_, err := lr.Next()
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 300 {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if _, again := lr.Next(); !errors.Is(again, err) {
				t.Errorf("then %v, want the same again", again)
			}
		})
	}
}

func TestHlogReaderBoundsLines(t *testing.T) {
	_, err := NewHlogReader(&hlogEndless{left: hlogMaxLine + 1<<20}).Next()
	if err == nil || !strings.Contains(err.Error(), "line 1: longer than") {
		t.Errorf("error %v", err)
	}
	broken := errors.New("connection reset")
	_, err = NewHlogReader(io.MultiReader(strings.NewReader("\n\n#"), iotest.ErrReader(broken))).Next()
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("error %v, want %v in line 3", err, broken)
	}
}

// hlogEndless is a line that does not end for a long time.
type hlogEndless struct{ left int }

func (e *hlogEndless) Read(p []byte) (int, error) {
	n := min(len(p), e.left)
	if n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = '#'
	}
	e.left -= n
	return n, nil
}

func TestHlogWriterRefuses(t *testing.T) {
	h := hdrhistogram.New(1, 1000, 3)
	good := HlogInterval{Start: hlogStart, Length: time.Second, Histogram: h}
	for name, change := range map[string]func(*HlogInterval){
		"comma in the tag":      func(iv *HlogInterval) { iv.Tag = "a,b" },
		"space in the tag":      func(iv *HlogInterval) { iv.Tag = " a" },
		"line break in the tag": func(iv *HlogInterval) { iv.Tag = "a\n" },
		"negative length":       func(iv *HlogInterval) { iv.Length = -1 },
		"no histogram":          func(iv *HlogInterval) { iv.Histogram = nil },
		"no start":              func(iv *HlogInterval) { iv.Start = time.Time{} },
		"text of two lines":     func(iv *HlogInterval) { iv.Encoded = "HIST\nF" },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			iv := good
			change(&iv)
			if err := NewHlogWriter(&b).WriteInterval(iv); err == nil || b.Len() > 0 {
				t.Errorf("error %v, written %q", err, b.String())
			}
		})
	}
	var b bytes.Buffer
	if err := NewHlogWriter(&b).WriteComment("a\nb"); err == nil || b.Len() > 0 {
		t.Errorf("comment of two lines: error %v, written %q", err, b.String())
	}
	broken := errors.New("disk full")
	if err := NewHlogWriter(hdrFailingWriter{broken}).WriteInterval(good); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func FuzzHlogReader(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(hdrGoldenDir, "*.hlog"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		f.Add(hdrReadFile(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		lr := NewHlogReader(bytes.NewReader(b))
		var out bytes.Buffer
		w := NewHlogWriter(&out)
		var rows []HlogInterval
		for {
			iv, err := lr.Next()
			if err != nil {
				break
			}
			if iv.Histogram == nil || iv.Length < 0 {
				t.Fatalf("row %+v", iv)
			}
			iv.Encoded = ""
			if w.WriteInterval(iv) != nil {
				continue // a tag with spaces, or a time beyond what is written
			}
			rows = append(rows, iv)
		}
		again := hlogReadAll(t, &out)
		if len(again) != len(rows) {
			t.Fatalf("%d rows of %d read back", len(again), len(rows))
		}
		for i, iv := range rows {
			if a := again[i]; a.Tag != iv.Tag || !a.Histogram.Equals(iv.Histogram) ||
				a.Start.Sub(iv.Start).Abs() > time.Millisecond || (a.Length-iv.Length).Abs() > time.Millisecond {
				t.Fatalf("row %d: %+v read back as %+v", i, iv, a)
			}
		}
	})
}
