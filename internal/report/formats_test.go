package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/histograms"
	"sixnines/internal/resultfile"
	"sixnines/result"
)

func lossyRun() *result.Run {
	s := stalledRun()
	s.acked, s.lost = true, 17
	return s.make()
}

func TestFormatsGolden(t *testing.T) {
	for _, test := range []struct {
		format, file string
		runs         []*result.Run
	}{
		{"markdown", "summary.md", []*result.Run{lossyRun()}},
		{"markdown", "open-closed.md", []*result.Run{stalledRun().make(), closedRun().make()}},
		{"markdown", "rich.md", []*result.Run{richRun()}},
		{"csv", "rich.csv", []*result.Run{richRun()}},
		{"csv-tail", "tail.csv", []*result.Run{richRun()}},
		{"json", "rich.json", []*result.Run{richRun()}},
		{"csv", "summary.csv", []*result.Run{lossyRun()}},
		{"csv-time", "time.csv", []*result.Run{closedRun().make()}},
	} {
		f, err := FormatOf(test.format)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Write(&b, test.runs, Options{}); err != nil {
			t.Fatal(err)
		}
		golden(t, test.file, b.Bytes())
	}
}

// TestFormatsAreTotal writes every format of every kind of run twice.
func TestFormatsAreTotal(t *testing.T) {
	hostile := openRun().make()
	spoil(hostile, payload)
	runs := map[string]*result.Run{"open": openRun().make(), "closed": closedRun().make(), "lossy": lossyRun(), "rich": richRun(), "hostile": hostile,
		"header only": {Header: result.Header{Driver: "nats"}}}
	for _, f := range Formats() {
		if f.Name == "hlog" {
			continue // made from a file, see TestHlog
		}
		if f.Extension == "" || f.About == "" {
			t.Errorf("%s lacks an extension or a description", f.Name)
		}
		for name, run := range runs {
			var a, b bytes.Buffer
			errA, errB := f.Write(&a, []*result.Run{run}, Options{}), f.Write(&b, []*result.Run{run}, Options{})
			if name != "header only" && errA != nil {
				t.Errorf("%s of %s: %v", f.Name, name, errA)
			}
			if (errA == nil) != (errB == nil) || !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%s of %s is not deterministic", f.Name, name)
			}
			if errA != nil && a.Len() > 0 {
				t.Errorf("%s of %s wrote %d bytes and failed", f.Name, name, a.Len())
			}
		}
		if err := f.Write(io.Discard, nil, Options{}); !errors.Is(err, errNoRuns) {
			t.Errorf("%s of no run: error %v, want errNoRuns", f.Name, err)
		}
		err := f.Write(io.Discard, []*result.Run{runs["open"], runs["closed"]}, Options{})
		if (err != nil) != f.Single {
			t.Errorf("%s of two runs: error %v, Single is %v", f.Name, err, f.Single)
		}
	}
	if _, err := FormatOf("pdf"); err == nil || !strings.Contains(err.Error(), "html") {
		t.Errorf("an unknown format: error %v, want one that names those there are", err)
	}
}

func TestPicturesOfEveryKind(t *testing.T) {
	runs := append(repeatedRuns(2), richRun(), keptRun())
	for _, k := range Kinds() {
		var svg, bitmap bytes.Buffer
		if err := writeSVG(&svg, runs, k, Options{}); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&svg)
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("svg of %s: %v", k, err)
			}
			if e, ok := token.(xml.StartElement); ok {
				for _, a := range e.Attr {
					if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
						t.Fatalf("svg of %s: <%s %s=%q>", k, e.Name.Local, a.Name.Local, a.Value)
					}
				}
			}
		}
		if err := writePNG(&bitmap, runs, k, Options{}); err != nil {
			t.Fatal(err)
		}
		drawn, err := png.Decode(&bitmap)
		if err != nil {
			t.Errorf("png of %s: %v", k, err)
			continue
		}
		if b := drawn.Bounds(); b.Dx() != 1600 || b.Dy() != 704 {
			t.Errorf("png of %s: %v", k, b)
		}
		palette, pixels := map[color.Color]bool{}, 0
		for _, c := range lightPalette {
			palette[hex(c, 255)] = true
		}
		for x := 130; x < 1540; x++ { // within the plot
			for y := 150; y < 630; y++ {
				if palette[color.NRGBAModel.Convert(drawn.At(x, y))] {
					pixels++
				}
			}
		}
		if pixels < 100 {
			t.Errorf("png of %s: %d pixels of lines", k, pixels)
		}
	}
	if err := writeSVG(io.Discard, runs, "pie", Options{}); err == nil || !strings.Contains(err.Error(), "percentiles") {
		t.Errorf("an unknown kind: error %v, want one that names those there are", err)
	}
	if err := writePNG(io.Discard, []*result.Run{{}}, kindTime, Options{}); err == nil {
		t.Error("a picture of nothing is no error")
	}
}

func TestCSVReadsBack(t *testing.T) {
	var b bytes.Buffer
	if err := writeCSV(&b, []*result.Run{lossyRun(), closedRun().make()}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		if withheld := strings.Contains(r[7], "unsupported"); (r[3] == "") != withheld {
			t.Errorf("%v: a figure is there if and only if it is supported", r)
		}
	}
}

func TestMarkdownKeepsHostileTextHarmless(t *testing.T) {
	run := openRun().make()
	spoil(run, "a|b`c`*d*_e_[f](g)\n# h <i>"+payload)
	var b bytes.Buffer
	if err := writeMarkdown(&b, []*result.Run{run}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<img", "<script", "<i>", "\n# h", "[f](g)", "a|b"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("the text holds %q", bad)
		}
	}
}

func TestHgrmIsInMilliseconds(t *testing.T) {
	run := openRun().make()
	var b bytes.Buffer
	if err := writeHgrm(&b, run, result.DeliveryService); err != nil {
		t.Fatal(err)
	}
	rows, _, _ := strings.Cut(b.String(), "\n#")
	top, err := strconv.ParseFloat(strings.Fields(rows[strings.LastIndex(rows, "\n")+1:])[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	top *= 1e6
	if want := float64(run.Metrics[result.DeliveryService].Hist.Max()); top < want*0.999 || top > want*1.001 {
		t.Errorf("the last row says %.0f ns, want %.0f", top, want)
	}
	if err := writeHgrm(io.Discard, run, result.RoundTripService); err == nil || !strings.Contains(err.Error(), "delivery.service") {
		t.Errorf("an absent metric: error %v, want one that names those there are", err)
	}
}

func TestHlog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.sixnines")
	w, err := resultfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	h := hdr.New(1, int64(time.Minute), 3)
	for v := range int64(1000) {
		if err := h.RecordValue(80_000 + v*100); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := histograms.Encode(h)
	if err != nil {
		t.Fatal(err)
	}
	header := openRun().make().Header
	if err := w.Header(header); err != nil {
		t.Fatal(err)
	}
	for i := range int64(2) {
		if err := w.Interval(result.Interval{Phase: result.PhaseMeasure, Start: i * 1e9, End: (i + 1) * 1e9,
			Metrics: map[result.Metric]*result.MetricInterval{
				result.DeliveryService:  {Hist: encoded, Min: 80_000, Max: 179_900},
				result.DeliveryResponse: {Hist: encoded, Min: 80_000, Max: 179_900, Censored: encoded},
			}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	run, err := result.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeHlog(&b, run); err != nil {
		t.Fatal(err)
	}
	reader := histograms.NewHlogReader(&b)
	var tags []string
	for {
		iv, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		tags = append(tags, iv.Tag)
		if iv.Histogram.TotalCount() != 1000 || iv.Length != time.Second {
			t.Errorf("%s: %d values in %v, want 1000 in 1s", iv.Tag, iv.Histogram.TotalCount(), iv.Length)
		}
		if want := header.Started.Add(time.Duration(len(tags)-1) / 3 * time.Second); iv.Start.Sub(want).Abs() > time.Millisecond {
			t.Errorf("row %d begins at %v, want %v", len(tags), iv.Start, want)
		}
	}
	if want := "delivery.response delivery.response.censored delivery.service"; strings.Join(tags, " ") != want+" "+want {
		t.Errorf("tags %v, want %s, twice", tags, want)
	}
	if err := writeHlog(io.Discard, &result.Run{}); err == nil {
		t.Error("a run without a file has a histogram log")
	}
}
