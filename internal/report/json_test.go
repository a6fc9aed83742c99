package report

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"sixnines/result"
)

func TestJSONGolden(t *testing.T) {
	lossy := stalledRun()
	lossy.acked, lossy.lost = true, 17
	var b bytes.Buffer
	if err := JSON(&b, lossy.make()); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b.Bytes(), []byte{'\n'}); n != 1 {
		t.Errorf("%d lines, want the object on one", n)
	}
	// The golden file is indented for its readers' sake.
	var indented bytes.Buffer
	if err := json.Indent(&indented, b.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.json", indented.Bytes())
}

func TestJSONHasNoNulls(t *testing.T) {
	run := &result.Run{Summary: &result.Summary{}}
	var b bytes.Buffer
	if err := JSON(&b, run); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b.Bytes(), []byte("null")) {
		t.Errorf("a list or an object is null: %s", b.Bytes())
	}
}

func TestJSONOfValuesThatJSONCannotHold(t *testing.T) {
	run := openRun().make()
	run.Summary.Rate.WorstSecond = math.NaN()
	run.Summary.Rate.Asked = math.Inf(1)
	var b bytes.Buffer
	if err := JSON(&b, run); err != nil {
		t.Fatalf("a rate without a number must not cost the whole summary: %v", err)
	}
}
