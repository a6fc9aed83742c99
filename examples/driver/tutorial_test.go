package relay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the tutorial shows is this package's code, as it is.
func TestTutorialQuotesThisPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(b)
	}
	blocks := strings.Split(string(text), "```go\n")[1:]
	if len(blocks) < 6 {
		t.Errorf("%d pieces of code", len(blocks))
	}
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		if !strings.Contains(code.String(), b) {
			t.Errorf("not in this package:\n%s", b)
		}
	}
}
