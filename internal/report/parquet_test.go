package report

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sixnines/result"
)

// notebook is the Python that has DuckDB, which make test installs. The test is skipped without it, and make
// says so where it cannot be fetched.
func notebook(t *testing.T) string {
	t.Helper()
	tools, err := filepath.Abs("../../bin/notebook-tools")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tools, "ready")); err != nil {
		t.Skip("SKIPPED: no DuckDB to read Parquet files: make bin/notebook-tools/ready installs it")
	}
	return filepath.Join(tools, "bin", "python")
}

// TestParquetIsRead by DuckDB: the columns have their types, and each value is that of the CSV.
func TestParquetIsRead(t *testing.T) {
	python, dir := notebook(t), t.TempDir()
	runs := []*result.Run{openRun().make(), stalledRun().make()}
	runs[1].Header.ID = "another"
	runs[1].Series[0].Metrics[result.DeliveryResponse] = result.PointMetric{Count: 3, Min: 1, P50: 2, Max: 1 << 50}
	files := map[string]string{"parquet": filepath.Join(dir, "time.parquet"), "csv-time": filepath.Join(dir, "time.csv")}
	for name, file := range files {
		f, err := FormatOf(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Write(&b, runs, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := exec.Command(python, "testdata/parquet.py", files["parquet"], files["csv-time"]).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	rows := 0
	for _, r := range runs {
		s := subjectOf(r)
		for i := range r.Series {
			s.values(&r.Series[i], func(string, float64, bool) { rows++ })
		}
	}
	want := "run VARCHAR, id VARCHAR, started TIMESTAMP WITH TIME ZONE, phase VARCHAR, start_ns BIGINT, end_ns BIGINT, series VARCHAR, value DOUBLE\n" +
		fmt.Sprintf("(%d, 2, True, '%s", rows, runs[0].Header.Started.Format("2006-01-02 15:04:05"))
	if got := string(text); len(got) < len(want) || got[:len(want)] != want || !bytes.HasSuffix(text, []byte("\n0 differ\n")) {
		t.Errorf("DuckDB reads\n%swant\n%s", got, want)
	}
}
