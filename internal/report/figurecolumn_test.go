package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"sixnines/result"
)

// A column of the one list is in every output that it says, and nothing else is needed
// for that.
func TestFigureColumnsAreInEveryOutput(t *testing.T) {
	runs := []*result.Run{richRun()}
	write := func(of func(io.Writer) error) string {
		t.Helper()
		var b bytes.Buffer
		if err := of(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	page := write(func(w io.Writer) error { return HTML(w, runs, Options{}) })
	text := write(func(w io.Writer) error { return Terminal(w, runs, Options{Width: 140, Full: true}) })
	md := write(func(w io.Writer) error { return writeMarkdown(w, runs) })
	values, _, _ := strings.Cut(write(func(w io.Writer) error { return writeCSV(w, runs) }), "\n")
	metrics := write(func(w io.Writer) error { return writeOpenMetrics(w, runs) })
	fields := []string{"run", "metric", "percentile"}
	for _, k := range figureColumns() {
		if head := k.head.Text; head != "" {
			for name, in := range map[string]bool{
				"the page":   k.page == nowhere || strings.Contains(page, ">"+head+"</th>"),
				"a terminal": k.text == nowhere || strings.Contains(text, "   "+head),
				"Markdown":   k.text == nowhere || strings.Contains(md, "| "+head+" |"),
			} {
				if !in {
					t.Errorf("%q is not in %s", head, name)
				}
			}
		}
		for _, x := range k.fields {
			fields = append(fields, x.name)
			if x.bound != "" && !strings.Contains(metrics, `bound="`+x.bound+`"`) {
				t.Errorf("%q is not in OpenMetrics", x.bound)
			}
		}
	}
	if want := strings.Join(append(fields, "verdict"), ","); values != want {
		t.Errorf("CSV has %s, want %s", values, want)
	}
}

// Several results that find no room side by side go on in further tables, with each
// remark in the table of its result.
func TestTablesGoOnWhereTheyFindNoRoom(t *testing.T) {
	text := terminal(t, Options{Width: 60}, repeatedRuns(4)...)
	_, table, _ := strings.Cut(text, "DELIVERY LATENCY, RESPONSE\n")
	table, _, _ = strings.Cut(table, "DELIVERY LATENCY, SERVICE")
	pieces := strings.Split(strings.TrimSpace(table), "\n\n")
	if len(pieces) < 2 {
		t.Fatalf("one piece:\n%s", table)
	}
	for i, piece := range pieces {
		head, rest, _ := strings.Cut(piece, "\n")
		if !strings.Contains(rest, "p99.9") || strings.Contains(head, "A nats") != (i == 0) {
			t.Errorf("piece %d:\n%s", i, piece)
		}
		for _, letter := range []string{"A", "B", "C", "D"} {
			if strings.Contains(rest, letter+": SUSPECT") && !strings.Contains(head, letter+" nats") {
				t.Errorf("a remark on %s is in piece %d:\n%s", letter, i, piece)
			}
		}
	}
}
