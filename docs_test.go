package sixnines_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	yamlparse "go.yaml.in/yaml/v4"

	"sixnines/scenario"
)

// documents returns the text of every Markdown file of the project, by its path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"bin", "dist", "results", "testdata"}, d.Name()) || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		all[filepath.ToSlash(path)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// code is what of Markdown is shown as it is: blocks between fences, and spans.
var code = regexp.MustCompile("(?ms)^ *```.*?^ *```[ \t]*$|`[^`]*`")

// link finds what a link or picture leads to.
var link = regexp.MustCompile(`\]\(\s*([^)\s]+)[^)]*\)`)

var heading = regexp.MustCompile(`(?m)^#{1,6} +(.*?)[ #]*$`)

// fence finds whole blocks of code, whose lines are no headings.
var fence = regexp.MustCompile("(?ms)^ *```.*?^ *```[ \t]*$")

// anchors returns the anchors of a document's headings, made as GitHub and GitLab
// make them.
func anchors(text string) []string {
	var all []string
	for _, found := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		title := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(found[1], "$1")
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		all = append(all, anchor)
	}
	return all
}

// TestLinks: every relative link of the documents leads to a file, and to a
// heading of it where it names one. Links to elsewhere are not followed.
func TestLinks(t *testing.T) {
	all := documents(t)
	checked := 0
	for from, text := range all {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(text, "code"), -1) {
			target := found[1]
			if strings.Contains(target, ":") {
				continue
			}
			checked++
			path, anchor, _ := strings.Cut(target, "#")
			to := from
			if path != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(from), path))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", from, target)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(all[to]), anchor) {
				t.Errorf("%s: the link to %s leads to no heading; there are %q", from, target, anchors(all[to]))
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d links were found: the test has stopped looking", checked)
	}
}

// snippet finds a block of YAML, and what is before it on its lines.
var snippet = regexp.MustCompile("(?ms)^( *)```yaml\n(.*?)^ *```")

// TestSnippets: blocks of YAML that tell a target or phases are valid scenarios,
// and others, for the systems of continuous integration, at least YAML.
func TestSnippets(t *testing.T) {
	scenarios := 0
	for from, text := range documents(t) {
		if strings.HasPrefix(from, "benchmarks/") {
			continue
		}
		for _, found := range snippet.FindAllStringSubmatch(text, -1) {
			block := found[2]
			if !regexp.MustCompile(`(?m)^(target|workloads?|phases):`).MatchString(block) {
				var any any
				if err := yamlparse.Unmarshal([]byte(block), &any); err != nil {
					t.Errorf("%s: %v in\n%s", from, err, block)
				}
				continue
			}
			scenarios++
			s, err := scenario.Parse(from, []byte(block))
			if err == nil {
				s.Normalise()
				err = s.Validate()
			}
			if err != nil {
				t.Errorf("%s: %v in\n%s", from, err, block)
			}
		}
	}
	if scenarios < 2 {
		t.Errorf("%d scenarios were found: the test has stopped looking", scenarios)
	}
}

// TestReadme: the first page stays one, and fits the width of a review.
func TestReadme(t *testing.T) {
	text := documents(t)["README.md"]
	if n := len(strings.Fields(text)); n >= 900 {
		t.Errorf("README.md has %d words: fewer than 900 are read; docs/ has room", n)
	}
	for i, line := range strings.Split(text, "\n") {
		if n := utf8.RuneCountInString(line); n > 120 {
			t.Errorf("README.md:%d has %d columns; at most 120", i+1, n)
		}
	}
}
