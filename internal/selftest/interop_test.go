package selftest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"sixnines/internal/histograms"
	"slices"
	"strings"
	"testing"
)

// The program's vectors equal those in the tests of package result.
func TestVectorsAreTheFrozenOnes(t *testing.T) {
	entries, err := fs.ReadDir(vectorFiles, "vectors")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		got, err := fs.ReadFile(vectorFiles, "vectors/"+e.Name())
		if err != nil {
			t.Fatal(err)
		}
		dir := "../histograms/testdata/hdr/golden"
		if !strings.Contains(".b64 .hgrm .hlog", filepath.Ext(e.Name())) && strings.Contains(e.Name(), "-") {
			dir = filepath.Dir(dir)
		}
		want, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not the file in %s", e.Name(), dir)
		}
	}
}

// A difference in one bucket, one percentile, one line or one byte is found.
func TestInteropNotices(t *testing.T) {
	good, err := vectors(vectorFiles)
	if err != nil {
		t.Fatal(err)
	}
	good = slices.DeleteFunc(good, func(v vector) bool { return len(v.buckets) > 100 }) // small ones do
	i := slices.IndexFunc(good, func(v vector) bool { return v.name == "bimodal" })
	for name, falsify := range map[string]func(*vector){
		"a bucket":     func(v *vector) { v.buckets[3][2]++ },
		"a percentile": func(v *vector) { v.percentiles[9][1] += "0" },
		"a line":       func(v *vector) { v.hgrm = strings.Replace(v.hgrm, "0.080", "0.081", 1) },
		"the total":    func(v *vector) { v.total++ },
		"the geometry": func(v *vector) { v.digits = 2 },
	} {
		all := slices.Clone(good)
		all[i].buckets, all[i].percentiles = slices.Clone(all[i].buckets), slices.Clone(all[i].percentiles)
		falsify(&all[i])
		if Conclude("", agreeWithJava(all)...).Verdict != Failed {
			t.Errorf("%s: not noticed", name)
		}
	}
	log, err := fs.ReadFile(vectorFiles, "vectors/plain.hlog")
	if err != nil {
		t.Fatal(err)
	}
	if relog(string(log)).Verdict != Passed || relog(strings.Replace(string(log), ",1.000,", ",1.0000,", 1)).Verdict != Failed {
		t.Error("a changed log is not noticed")
	}
	if readByJava(good, "").Verdict != Failed {
		t.Error("what Java never read is not noticed")
	}
}

func TestMergeNotices(t *testing.T) {
	v, err := vectors(vectorFiles)
	if err != nil {
		t.Fatal(err)
	}
	var whole string
	for _, x := range v {
		if x.name == "bimodal" {
			whole = x.encoded
		}
	}
	h, err := histograms.Decode(whole)
	if err != nil {
		t.Fatal(err)
	}
	h.Reset()
	if err := h.RecordValue(80_000); err != nil {
		t.Fatal(err)
	}
	more, err := histograms.Encode(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		parts []string
		want  Verdict
	}{{[]string{whole}, Passed}, {[]string{whole, more}, Failed}} {
		f, err := mergesTo(whole, tt.parts)
		if err != nil {
			t.Fatal(err)
		}
		if got := Conclude("", f...).Verdict; got != tt.want {
			t.Errorf("%d parts: %s, want %s", len(tt.parts), got, tt.want)
		}
	}
}
