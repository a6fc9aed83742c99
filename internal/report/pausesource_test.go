package report

import (
	"strings"
	"testing"

	"sixnines/result"
)

// TestPauseSources holds what is drawn at the bottom, and has no length of its
// own, against what package result says of the sources: the first four are gaps
// that were timed, the others stretches between two looks at a counter.
func TestPauseSources(t *testing.T) {
	for source, counter := range map[result.PauseSource]bool{
		result.PauseThread: false, result.PauseGoroutine: false, result.PauseProcess: false, result.PauseIdle: false,
		result.PauseGC: true, result.PauseThrottled: true, result.PauseSteal: true, result.PauseContention: true,
		result.PauseSwap: true, result.PauseStarved: true, result.PauseRetransmit: true,
	} {
		known := source.Properties()
		if known.Counter != counter {
			t.Errorf("%s: a counter's stretch %v, want %v", source, known.Counter, counter)
		}
		text := pauseText(result.Pause{Start: 0, End: 2e6, Source: source})
		if !strings.Contains(text, sourceName(string(source))) || strings.Contains(text, "within these") != counter || known.Means == result.PauseSource("").Properties().Means {
			t.Errorf("%s is told as %q", source, text)
		}
	}
	if text := pauseText(result.Pause{End: 2e6, Source: "future\x1b[2J"}); text != "generator paused, 2.00 ms (future [2J)" {
		t.Errorf("a source of a later version is told as %q", text)
	}
}
