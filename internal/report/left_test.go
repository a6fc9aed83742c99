package report

import (
	"bytes"
	"strings"
	"testing"

	"sixnines/result"
)

// What a run has left at the broker is on the first screen and on the page, with the reason.
func TestLeftoversAreShown(t *testing.T) {
	s := &subject{run: &result.Run{}, sum: &result.Summary{Left: []result.Leftover{
		{What: "stream", Name: "sixnines-ab12", Why: "NOPERM", Class: result.ClassUnauthorized}, {What: "topic", Name: "t", Why: "it is away"}}}}
	var screen bytes.Buffer
	p := newPrinter(Options{Width: 200})
	p.document(screenAccounts(s))
	if err := p.write(&screen); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"left behind: stream sixnines-ab12, no right to delete", "left behind: topic t, it is away"} {
		if !strings.Contains(screen.String(), want) {
			t.Errorf("no %q in %s", want, screen.String())
		}
	}
}
