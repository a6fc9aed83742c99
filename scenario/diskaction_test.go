package scenario

import (
	"strings"
	"testing"
)

// What happens to disks is written as it is read, and nodes that corrupt names may be under another action.
func TestActionsOnDisks(t *testing.T) {
	for _, text := range []string{
		"{at: 1s, power: {node: all}, restart: 3s}",
		"{at: 1s, power: {node: 0}}",
		"{at: 1s, disk: {full: true}, for: 5s}",
		"{at: 1s, disk: {full: true, node: 2}, for: 5s}",
		"{at: 1s, corrupt: {node: 1, file: \"*.blk\", bits: 1}}",
	} {
		s := parsed(t, "target: {nodes: 3}\nphases: {duration: 1m}\nactions: ["+text+", {at: 30s, stall: {node: 1}, for: 9s}, {at: 31s, corrupt: {node: 1, file: x}}]\n")
		a := s.Acts()[0]
		if got := a.String(); got != text {
			t.Errorf("%s is written %s", text, got)
		}
		if p := a.Properties(); p.Disks == (a.Kind == ActionCorrupt) || !p.Run {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

func TestActionsOnDisksImpossible(t *testing.T) {
	for text, says := range map[string]string{
		"{at: 1s, disk: {node: 0}, for: 1s}":                                             "the action disk does not say what happens (write disk: {full: true})",
		"{at: 1s, disk: {full: true}}":                                                   "the action disk does not say how long",
		"{at: 1s, disk: {full: true}, for: 1s, restart: 1s}":                             "the action disk ends no node",
		"{at: 1s, power: {}}":                                                            "the action power does not say which node",
		"{at: 1s, power: {node: 1}}":                                                     "node 1 does not exist",
		"{at: 1s, corrupt: {node: 0}}":                                                   "the action corrupt does not say which files",
		"{at: 1s, corrupt: {node: 0, file: \"[\"}}":                                      "is not a pattern for file names",
		"{at: 1s, corrupt: {node: 0, file: x, bits: 0.5}}":                               "not a whole number",
		"{at: 1s, power: {node: 0}, restart: 3s}, {at: 2s, disk: {full: true}, for: 1s}": "two actions on the same node at the same time",
	} {
		_, err := Parse("x.yaml", []byte("actions: ["+text+"]\n"))
		if err == nil {
			s, _ := Parse("x.yaml", []byte("actions: ["+text+"]\n"))
			err = s.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
