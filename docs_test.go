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

// TestSite: the navigation of the site lists every document but those that lie
// beside what they describe, each once, and no others.
func TestSite(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("tools", "site", "mkdocs.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, nav, found := strings.Cut(string(text), "\nnav:\n")
	if !found {
		t.Fatal("mkdocs.yml has no nav")
	}
	listed := map[string]int{}
	for _, page := range regexp.MustCompile(`(?m): (\S+\.md)$`).FindAllStringSubmatch(nav, -1) {
		listed[page[1]]++
	}
	all := documents(t)
	for path := range all {
		if n := listed[path]; n != 1 && !strings.HasPrefix(path, "internal/") {
			t.Errorf("tools/site/mkdocs.yml lists %s %d times, not once", path, n)
		}
	}
	for path := range listed {
		if _, there := all[path]; !there {
			t.Errorf("tools/site/mkdocs.yml lists %s, which does not exist", path)
		}
	}
}

// asked finds the targets that documents and workflows ask make for.
var asked = regexp.MustCompile("(?m)(?:^\\$ |`|run: |#   |^)make ([a-z][a-z-]*)(?:`| +#|  | [A-Z]+=|$)")

// TestMakeTargets: what documents and workflows have made, make makes.
func TestMakeTargets(t *testing.T) {
	all := documents(t)
	workflows, err := filepath.Glob(filepath.Join(".github", "workflows", "*.yml"))
	if err != nil || len(workflows) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, path := range append(workflows, "Makefile") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(text)
	}
	var file struct {
		Jobs map[string]any `yaml:"jobs"`
	}
	for _, path := range workflows {
		if err := yamlparse.Unmarshal([]byte(all[path]), &file); err != nil || len(file.Jobs) == 0 {
			t.Errorf("%s: %d jobs: %v", path, len(file.Jobs), err)
		}
	}
	checked := 0
	for path, text := range all {
		if strings.HasPrefix(path, "benchmarks/") { // a Makefile of its own
			continue
		}
		for _, found := range asked.FindAllStringSubmatch(text, -1) {
			checked++
			if !regexp.MustCompile(`(?m)^` + found[1] + `:`).MatchString(all["Makefile"]) {
				t.Errorf("%s: make %s: there is no such target", path, found[1])
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d targets were found: the test has stopped looking", checked)
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
