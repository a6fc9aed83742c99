package brokers

import (
	"regexp"
	"strings"
)

// causeLimit is the largest part of a process's output, in bytes, in a one-line error.
const causeLimit = 400

// logPrefix matches the beginning of log lines: time, source and severity, in each
// product's format:
//
//	24645:M 21 Nov 2026 17:39:56.173 # …                  Redis
//	1795282796: …                                         Mosquitto
//	[nsqd] 2026/11/21 17:50:47.065796 FATAL: …            NSQ
//	[32168] 2026/11/21 17:50:47.082791 [FTL] STREAM: …    NATS
//	2026-11-21 17:51:18.725975+00:00 [error] <0.132.0> …  RabbitMQ
//	2026-11-21 17:48:42,302 ERROR …                       Kafka
var logPrefix = regexp.MustCompile(`^(\[\w+\] )?(\d+(:[A-Z])?:? )?((\d{4}[-/]\d\d[-/]\d\d|\d+ \w{3} \d{4}) \d\d:\d\d:\d\d[.,]\d+(\+\d\d:\d\d)? )?([#*.-] |\[\w+\] )?(<[\d.]+> *)?`)

// complaint matches lines that report a failure.
var complaint = regexp.MustCompile(`(?i)\b(fatal|ftl|err|error|exception|panic|invalid|unknown|unrecognized|not defined|aborting|denied|no such|in use)\b`)

// harmless matches lines that only look like a complaint.
var harmless = regexp.MustCompile(`WARN|\[warning\]|this is okay`)

// aftermath matches the beginning of lines that name no cause: usage and stack traces.
// In Java's stack traces only the text after "Caused by" names one.
var (
	aftermath = regexp.MustCompile(`^(\s+at |Caused by: |\s*\.\.\. \d+ more|Usage|goroutine |=+$)`)
	stack     = regexp.MustCompile(`^(\s|Caused by: )`)
)

// cause returns the likely cause of a process's end in one line, from its output: the first
// complaint and the lines that explain it, down to the innermost exception, or else the last
// line. Products print a banner before that, and a stack trace or their usage after it.
func cause(said string) string {
	var lines []string
	var innermost string
	begun, within := false, false
	for line := range strings.Lines(said) {
		if within && !stack.MatchString(line) {
			break
		}
		grave := complaint.MatchString(line) && !harmless.MatchString(line)
		text := logPrefix.ReplaceAllString(strings.TrimRight(line, "\r\n"), "")
		switch {
		case within || begun && aftermath.MatchString(text):
			within = true
			if strings.HasPrefix(text, "Caused by: ") {
				innermost = text
			}
			continue
		case strings.TrimSpace(text) == "":
			continue
		case grave && !begun:
			begun, lines = true, nil
		case !begun:
			lines = nil // without a complaint so far, keep only the last line
		}
		if len(lines) < 4 {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	if len(lines) == 0 {
		return "it printed nothing"
	}
	if innermost != "" {
		lines = append(lines, innermost)
	}
	return shortened(lines)
}

// shortened joins lines and cuts the text to causeLimit bytes.
func shortened(lines []string) string {
	text := strings.Join(lines, "; ")
	if len(text) > causeLimit {
		text = strings.ToValidUTF8(text[:causeLimit], "") + "…"
	}
	return text
}
