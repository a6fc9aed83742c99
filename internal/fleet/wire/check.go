package wire

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// The bounds of what messages hold.
const (
	MaxAgents    = 10_000  // of a fleet
	MaxLabels    = 32      // of an agent
	MaxAllowed   = 64      // entries of each of an agent's lists
	MaxDetail    = 1 << 18 // bytes of Segment.Detail
	MaxSealed    = 1 << 16 // bytes of sealed secrets
	maxWord      = 128     // bytes of a version, a host's name, a label's value
	maxSentence  = 2048    // bytes of a text for people
	maxTargetLen = 300     // bytes of HOST:PORT
	maxAddresses = 256     // of an agent's machine
	idLength     = 26      // characters of an agent's number: 130 bits
)

var (
	runName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	agentID   = regexp.MustCompile(`^[A-Z2-7]{26}$`) // idLength of base32
	agentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	labelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9./_-]{0,62}$`)
)

// CheckRun returns what is wrong with the name of a run.
func CheckRun(name string) error {
	if !runName.MatchString(name) {
		return fmt.Errorf("a run is called %.80q: it takes 1 to 64 letters, digits, - and _", name)
	}
	return nil
}

// CheckName returns what is wrong with the name of an agent.
func CheckName(name string) error {
	if !agentName.MatchString(name) {
		return fmt.Errorf("an agent is called %.80q: it takes 1 to 63 letters, digits, points, - and _, and begins with a letter or a digit", name)
	}
	return nil
}

// CheckLabels returns what is wrong with the labels of an agent.
func CheckLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return fmt.Errorf("%d labels; at most %d", len(labels), MaxLabels)
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if !labelName.MatchString(key) {
			return fmt.Errorf("a label is called %.80q: it takes 1 to 63 letters, digits, points, /, - and _", key)
		}
		if err := checkText("the label "+key, labels[key], 0, maxWord); err != nil {
			return err
		}
	}
	return nil
}

func checkID(id string) error {
	if !agentID.MatchString(id) {
		return fmt.Errorf("%.80q is not an agent's number", id)
	}
	return nil
}

func checkVersion(version string) error { return checkText("the version", version, 1, maxWord) }

// checkText returns whether a text for people has another length, or characters that change a terminal or a log.
func checkText(what, text string, least, most int) error {
	switch {
	case len(text) < least || len(text) > most:
		return fmt.Errorf("%s has %d bytes; %d to %d", what, len(text), least, most)
	case !utf8.ValidString(text):
		return fmt.Errorf("%s is not UTF-8", what)
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			return fmt.Errorf("%s has a control character", what)
		}
	}
	return nil
}

// Line makes a text for people of any text: in one line, without control characters, and cut to
// what a message may hold.
func Line(text string) string {
	b := make([]rune, 0, min(len(text), maxSentence))
	size := 0
	for _, r := range text {
		if unicode.IsControl(r) {
			r = ' '
		}
		if size += utf8.RuneLen(r); size > maxSentence {
			break
		}
		b = append(b, r)
	}
	return string(b)
}
