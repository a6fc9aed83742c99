package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/result"
)

// JUnitSuite is one suite of a JUnit file: a run, or the joint outcome of several.
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
	// Failure is empty if the check held, else a word for the kind of failure;
	// Message says what was found.
	Failure, Message string
	// Error says why nothing could be checked; empty: something could.
	Error string
	// Skipped says why the check is undecided, if that is allowed; empty: it is decided.
	Skipped string
	// Output is further text, such as what went wrong.
	Output string
}

// JUnitSuites makes a suite of each run: a case for its verdict, one for each of its
// objectives, and one that fails if the run left something at the broker. SUSPECT passes, with the reasons as output, and so does a workload in the
// background with any verdict. An objective that is undecided, or not decided by the run,
// fails, since only a proven objective passes a gate; with allowUndecided it is skipped.
func JUnitSuites(runs []*result.Run, allowUndecided bool) ([]JUnitSuite, error) {
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
		if len(s.sum.Left) > 0 {
			x.Cases = append(x.Cases, CleanUpCase(s.sum.Left))
		}
		for _, o := range s.sum.Objectives {
			x.Cases = append(x.Cases, ObjectiveCase(o, allowUndecided))
		}
		all = append(all, x)
	}
	return all, nil
}

// ObjectiveCase returns the check of an objective; an undecided one fails, or is skipped with
// allowUndecided.
func ObjectiveCase(o result.Objective, allowUndecided bool) JUnitCase {
	c := JUnitCase{Name: o.Text}
	if o.Outcome == "met" {
		c.Output = o.Found
		return c
	}
	found := o.Text + " is " + o.Outcome + ": " + o.Found
	if allowUndecided && (o.Outcome == "undecided" || o.Outcome == "meaningless") {
		c.Skipped = found
		return c
	}
	c.Failure, c.Message = o.Outcome, found
	if o.Outcome == "" {
		c.Failure = "undecided"
	}
	return c
}

// CleanUpCase returns the failed check of runs that left something at the broker: the exit code is
// that of a failure then.
func CleanUpCase(left []result.Leftover) JUnitCase {
	var all []string
	for i := range left {
		all = append(all, plain(left[i].What+" "+left[i].Name+", "+leftWhy(left[i])))
	}
	return JUnitCase{Name: "clean-up", Failure: "left", Message: "something of a run is still at the broker", Output: strings.Join(all, "\n")}
}

func verdictCase(s *subject, seconds float64) JUnitCase {
	c := JUnitCase{Name: "verdict", Seconds: seconds}
	var reasons []string
	for _, r := range s.reasons() {
		reasons = appendNew(reasons, reasonWord(r.Status)+": "+plain(r.Text))
	}
	switch status := s.sum.Verdict.Status; {
	case s.run.Header.Background:
		c.Output = strings.Join(slices.Concat([]string{s.status() + ", a background workload: not judged"}, reasons), "\n")
	case s.cut:
		c.Error = "the run was cut short: it has no verdict"
	case status == result.Invalid, status == result.Unstable:
		c.Failure, c.Message, c.Output = string(status), "the run is "+string(status), strings.Join(reasons, "\n")
	default:
		c.Output = strings.Join(slices.Concat([]string{s.status()}, s.limits(), reasons), "\n")
	}
	return c
}

// JUnit writes suites as a JUnit file, in XML and UTF-8, as CI systems read it: there is no
// specification, and the attributes are those that Jenkins's and GitLab's readers know.
func JUnit(w io.Writer, suites []JUnitSuite) error {
	body := pen{escape: escapeXML}
	tests, failures, broken, seconds := 0, 0, 0, 0.0
	for _, s := range suites {
		cases := pen{escape: escapeXML}
		failed, ended, left := 0, 0, 0
		for _, c := range s.Cases {
			cases.f("    <testcase name=\"%s\" classname=\"sixnines.%s\" time=\"%s\">", plain(c.Name), plain(s.Name), junitSeconds(c.Seconds))
			problem := func(element markup, message, kind string) {
				cases.f("\n      <%s message=\"%s\" type=\"%s\">%s</%s>", element, plain(message), plain(kind), junitText(cmp.Or(c.Output, message)), element)
			}
			switch {
			case c.Error != "":
				ended++
				problem("error", c.Error, "error")
			case c.Failure != "":
				failed++
				problem("failure", c.Message, c.Failure)
			case c.Skipped != "":
				left++
				cases.f("\n      <skipped message=\"%s\"></skipped>", plain(c.Skipped))
			case c.Output != "":
				cases.f("\n      <system-out>%s</system-out>", junitText(c.Output))
			}
			cases.f("\n    </testcase>\n")
		}
		body.f("  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%s\"", plain(s.Name), len(s.Cases), failed, ended, left, junitSeconds(s.Seconds))
		if !s.Started.IsZero() {
			body.f(" timestamp=\"%s\"", s.Started.UTC().Format("2006-01-02T15:04:05Z"))
		}
		body.f(">\n")
		for i, p := range s.Properties {
			if i == 0 {
				body.f("    <properties>\n")
			}
			body.f("      <property name=\"%s\" value=\"%s\"></property>\n", plain(p[0]), plain(p[1]))
			if i == len(s.Properties)-1 {
				body.f("    </properties>\n")
			}
		}
		body.f("%s  </testsuite>\n", markup(cases.String()))
		tests, failures, broken, seconds = tests+len(s.Cases), failures+failed, broken+ended, seconds+s.Seconds
	}
	_, err := fmt.Fprintf(w, "%s<testsuites name=\"sixnines\" tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"%s\">\n%s</testsuites>\n",
		xml.Header, tests, failures, broken, junitSeconds(seconds), body.String())
	return err
}

func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // writing to a builder cannot fail
	return b.String()
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
