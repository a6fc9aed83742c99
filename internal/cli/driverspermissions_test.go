package cli

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/drivers/all"
)

// TestPagesHaveThePermissions wants the page of each driver that lists its permissions to have them
// as sixnines drivers show prints them; -update writes them.
func TestPagesHaveThePermissions(t *testing.T) {
	listed := 0
	for _, e := range all.Set().Entries() {
		if e.Rights == nil {
			continue
		}
		listed++
		command := "sixnines drivers show " + e.Name + " --permissions --prefix bench" + e.Naming.Separator
		block := "    $ " + command + "\n"
		for line := range strings.Lines(permissionText(e.Rights("bench" + e.Naming.Separator))) {
			block += "    " + line
		}
		page := filepath.Join("..", "..", "docs", "brokers", e.Name+".md")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\n"+block+"\n") {
			continue
		}
		before, after, found := strings.Cut(string(text), "    $ "+command+"\n")
		if f := flag.Lookup("update"); !found || f == nil || f.Value.String() != "true" {
			t.Errorf("%s has not, as a block of its own,\n%s(run go test ./internal/cli -run %s -update)", page, block, t.Name())
			continue
		}
		for strings.HasPrefix(after, "    ") {
			_, after, _ = strings.Cut(after, "\n")
		}
		if err := os.WriteFile(page, []byte(before+block+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if listed == 0 {
		t.Error("no driver lists its permissions")
	}
}
