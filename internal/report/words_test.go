package report

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"sixnines/internal/compare"
	"sixnines/internal/spell/spelltest"
	"sixnines/result"
)

// What users read, of every kind of result and in every format that is made to be
// read, has its numbers written in one way and no word of the workshop.
func TestReportsAreInPlainWords(t *testing.T) {
	runs := map[string][]*result.Run{
		"rich": {richRun()}, "stalled": {stalledRun().make()}, "closed": {closedRun().make()}, "lossy": {lossyRun()},
		"open and closed": {stalledRun().make(), closedRun().make()}, "repeats": repeatedRuns(7),
	}
	for name, r := range screens() {
		runs["screen "+name] = []*result.Run{r}
	}
	texts := map[string]string{}
	for name, r := range runs {
		texts[name+", screen"] = screenText(t, Options{Width: 120}, r...)
		texts[name+", terminal"] = terminal(t, Options{Width: 120}, r...)
		texts[name+", markdown"] = markdownOf(t, r...)
		texts[name+", page"] = readable(htmlOf(t, Options{}, r...))
	}
	for name, change := range map[string]func(side int, r *result.Run){
		"alike":    nil,
		"promises": func(side int, r *result.Run) { r.Header.Semantics.Durability = []string{"memory", "disk"}[side] },
		"rates":    func(side int, r *result.Run) { r.Header.Rate = float64(20_000 * (side + 1)) },
	} {
		for _, pairs := range []int{3, 8} {
			c := compareSets(t, pairs, 1.2, change)
			texts["comparison, "+name] = compareText(t, c, Options{Width: 120, Full: true}) + compareMarkdown(t, c)
		}
	}
	for name, text := range texts {
		for _, found := range spelltest.Words(text) {
			t.Errorf("%s: %s", name, found)
		}
		if strings.HasSuffix(name, ", page") {
			continue // it shows the scenario and facts of the machine as they are
		}
		for _, found := range spelltest.Numbers(text) {
			t.Errorf("%s: %s", name, found)
		}
	}
}

func markdownOf(t *testing.T, runs ...*result.Run) string {
	t.Helper()
	f, err := FormatOf("markdown")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, runs, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func compareMarkdown(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	var b bytes.Buffer
	if err := CompareMarkdown(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readable is what a page shows: without scripts, styles and tags.
func readable(page string) string {
	for _, part := range []string{`(?s)<script.*?</script>`, `(?s)<style.*?</style>`, `(?s)<[^>]*>`} {
		page = regexp.MustCompile(part).ReplaceAllString(page, " ")
	}
	return html.UnescapeString(page)
}
