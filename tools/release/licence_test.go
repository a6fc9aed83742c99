package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// Each component of the bill of materials has its licence, and one that NOTICE does not list stops the release.
func TestComponentsHaveLicences(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sixnines.cdx.json")
	b := &program{os: "linux", arch: "amd64", info: &debug.BuildInfo{GoVersion: "go1.26.0", Deps: []*debug.Module{
		{Path: "github.com/spf13/cobra", Version: "v1"}, {Path: "go.yaml.in/yaml/v4", Version: "v4.0.0"}, {Path: "github.com/eclipse/paho.golang", Version: "v0"}}}}
	if err := b.sbom(file, "../../NOTICE"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"std": "BSD-3-Clause", "github.com/spf13/cobra": "Apache-2.0", "go.yaml.in/yaml/v4": "Apache-2.0, parts MIT, see below", "github.com/eclipse/paho.golang": "EPL-2.0 or BSD-3-Clause, the latter is chosen"}
	for _, c := range *bom.Components {
		if c.Licenses == nil || len(*c.Licenses) != 1 {
			t.Errorf("%s has no licence", c.Name)
		} else if l := (*c.Licenses)[0].License; l.ID+l.Name != want[c.Name] || strings.Contains(l.ID, " ") {
			t.Errorf("%s has the licence %q%q, want %q", c.Name, l.ID, l.Name, want[c.Name])
		}
	}
	if n := len(*bom.Components); n != len(want) {
		t.Errorf("%d components, want %d", n, len(want))
	}
	b.info.Deps = append(b.info.Deps, &debug.Module{Path: "example.com/unknown", Version: "v1"})
	if err := b.sbom(filepath.Join(t.TempDir(), "x"), "../../NOTICE"); err == nil || !strings.Contains(err.Error(), "example.com/unknown") {
		t.Errorf("a module that NOTICE does not list: %v", err)
	}
}
