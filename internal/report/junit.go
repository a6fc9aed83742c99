package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/result"
)

// JUnitSuite is one suite of a JUnit file: a run, or what several come to
// together.
type JUnitSuite struct {
	Name       string
	Started    time.Time // wall clock; zero: not known
	Seconds    float64   // how long it took
	Properties [][2]string
	Cases      []JUnitCase
}

// JUnitCase is one check.
type JUnitCase struct {
	Name    string
	Seconds float64
	// Failure is empty if the check held, else one word for how it did not, and
	// Message says what was found.
	Failure, Message string
	// Error says that there was nothing to check, and why.
	Error string
	// Output is what else there is to say.
	Output string
}

// JUnitSuites makes a suite of each run: a case for its verdict, and one for each of
// its objectives. SUSPECT passes, with the reasons as output, and so does a workload in
// the background, whatever its verdict. An objective that
// is undecided, or that the run says nothing of, fails: what was not shown does
// not pass a gate.
func JUnitSuites(runs []*result.Run) ([]JUnitSuite, error) {
	prepared, err := subjects(runs)
	if err != nil {
		return nil, err
	}
	var all []JUnitSuite
	for _, s := range prepared {
		h := &s.run.Header
		x := JUnitSuite{Name: s.label, Started: h.Started, Seconds: float64(s.sum.Resolved) / 1e9}
		for _, p := range [][2]string{{"result", s.run.Path}, {"id", h.ID}, {"driver", h.Driver}, {"pattern", h.Pattern}, {"mode", h.Mode},
			{"trial", trialText(h.Trial)}, {"tool", h.Tool.Name + " " + h.Tool.Version}} {
			if strings.TrimSpace(p[1]) != "" {
				x.Properties = append(x.Properties, p)
			}
		}
		x.Cases = append(x.Cases, verdictCase(s, x.Seconds))
		for _, o := range s.sum.Objectives {
			x.Cases = append(x.Cases, ObjectiveCase(o))
		}
		all = append(all, x)
	}
	return all, nil
}

// ObjectiveCase is the check of an objective.
func ObjectiveCase(o result.Objective) JUnitCase {
	c := JUnitCase{Name: o.Text}
	if o.Outcome == "met" {
		c.Output = o.Found
		return c
	}
	c.Failure, c.Message = o.Outcome, o.Text+" is "+o.Outcome+": "+o.Found
	if o.Outcome == "" {
		c.Failure = "undecided"
	}
	return c
}

func verdictCase(s *subject, seconds float64) JUnitCase {
	c := JUnitCase{Name: "verdict", Seconds: seconds}
	var reasons []string
	for _, r := range s.reasons() {
		reasons = append(reasons, reasonWord(r.Status)+": "+reasonText(r))
	}
	switch status := s.sum.Verdict.Status; {
	case s.run.Header.Background:
		c.Output = strings.Join(slices.Concat([]string{s.status() + ", in the background: not judged"}, reasons), "\n")
	case s.cut:
		c.Error = "the run was cut short: it has no verdict"
	case status == result.Invalid, status == result.Unstable:
		c.Failure, c.Message = string(status), "the run is "+string(status)+"; "+strings.Join(reasons, "; ")
	default:
		c.Output = strings.Join(slices.Concat([]string{s.status()}, s.limits(), reasons), "\n")
	}
	return c
}

// The elements of the format, as CI systems read it: testsuites, testsuite,
// testcase with failure or error, and system-out. There is no specification; the
// attributes are those that Jenkins's and GitLab's readers know.
type (
	junitRoot struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string           `xml:"name,attr"`
		Tests      int              `xml:"tests,attr"`
		Failures   int              `xml:"failures,attr"`
		Errors     int              `xml:"errors,attr"`
		Skipped    int              `xml:"skipped,attr"`
		Time       string           `xml:"time,attr"`
		Timestamp  string           `xml:"timestamp,attr,omitempty"`
		Properties *junitProperties `xml:"properties"`
		Cases      []junitCase      `xml:"testcase"`
	}
	junitProperties struct {
		Property []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes suites as a JUnit file, in XML and UTF-8.
func JUnit(w io.Writer, suites []JUnitSuite) error {
	root := junitRoot{Name: "sixnines"}
	total := 0.0
	for _, s := range suites {
		x := junitSuite{Name: plain(s.Name), Tests: len(s.Cases), Time: junitSeconds(s.Seconds)}
		if !s.Started.IsZero() {
			x.Timestamp = s.Started.UTC().Format("2006-01-02T15:04:05Z")
		}
		for _, p := range s.Properties {
			if x.Properties == nil {
				x.Properties = &junitProperties{}
			}
			x.Properties.Property = append(x.Properties.Property, junitProperty{plain(p[0]), plain(p[1])})
		}
		for _, c := range s.Cases {
			y := junitCase{Name: plain(c.Name), Class: "sixnines." + x.Name, Time: junitSeconds(c.Seconds), Output: junitText(c.Output)}
			switch {
			case c.Error != "":
				x.Errors++
				y.Error = &junitProblem{plain(c.Error), "error", junitText(c.Error)}
			case c.Failure != "":
				x.Failures++
				y.Failure = &junitProblem{plain(c.Message), plain(c.Failure), junitText(c.Message)}
			}
			x.Cases = append(x.Cases, y)
		}
		total += s.Seconds
		root.Tests, root.Failures, root.Errors = root.Tests+x.Tests, root.Failures+x.Failures, root.Errors+x.Errors
		root.Suites = append(root.Suites, x)
	}
	root.Time = junitSeconds(total)
	text, err := xml.MarshalIndent(root, "", "  ")
	if err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

// junitText frees a text of several lines from control characters.
func junitText(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

func junitSeconds(s float64) string { return strconv.FormatFloat(max(finite(s), 0), 'f', 3, 64) }
