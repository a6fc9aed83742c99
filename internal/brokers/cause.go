package brokers

import (
	"regexp"
	"strings"
)

// causeLimit is how long, in bytes, what a process has printed may be in an error,
// which is one line.
const causeLimit = 400

// Lines of logs begin with when, by whom and how grave, each in its product's
// way:
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

// harmless is what lines say that only look like a complaint.
var harmless = regexp.MustCompile(`WARN|\[warning\]|this is okay`)

// aftermath matches the beginning of lines that name no cause: usage, stack traces. What
// those of Java say behind "Caused by" does.
var (
	aftermath = regexp.MustCompile(`^(\s+at |Caused by: |\s*\.\.\. \d+ more|Usage|goroutine |=+$)`)
	stack     = regexp.MustCompile(`^(\s|Caused by: )`)
)

// cause makes one line of what a process printed before it ended: the first
// complaint and what explains it, down to the innermost exception, else the last that
// was said. Products print a banner before, and a stack or all of their flags behind.
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
			lines = nil // of lines that name no cause, the last
		}
		if len(lines) < 4 {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	if len(lines) == 0 {
		return "it said nothing"
	}
	if innermost != "" {
		lines = append(lines, innermost)
	}
	return shortened(lines)
}

// shortened joins lines, as many bytes of them as an error may have.
func shortened(lines []string) string {
	text := strings.Join(lines, "; ")
	if len(text) > causeLimit {
		text = strings.ToValidUTF8(text[:causeLimit], "") + "…"
	}
	return text
}
