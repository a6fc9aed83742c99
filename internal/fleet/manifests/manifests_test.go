package manifests

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/scenario"
)

var update = flag.Bool("update", false, "write deploy/kubernetes anew")

// deploy/kubernetes is what the command writes, so that it can be read without running it.
func TestDeploy(t *testing.T) {
	files, err := Files(Options{Agents: 3})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "..", "deploy", "kubernetes")
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(there) != len(files) {
		t.Errorf("%s has %d files, and the command writes %d", dir, len(there), len(files))
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the command writes (%v): go test ./internal/fleet/manifests -update", name, err)
		}
	}
	s, err := scenario.Parse("scenario.yaml", files["scenario.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

// What the user says is in the manifests, and the user's scenario is that of the fleet.
func TestOptions(t *testing.T) {
	files, err := Files(Options{Agents: 7, Namespace: "bench", Image: "registry.example:5000/sixnines:1.2.3", Brokers: "app=kafka", CPU: "500m", Memory: "256Mi", Scenario: []byte("name: mine\n")})
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, name := range []string{"kustomization.yaml", "namespace.yaml", "control.yaml", "agents.yaml", "coordinator.yaml", "scenario.yaml"} {
		all += string(files[name])
	}
	for want, times := range map[string]int{"namespace: bench\n": 1, "image: registry.example:5000/sixnines:1.2.3\n": 3, `matchLabels: {app: "kafka"}`: 3, "completions: 7\n": 1, "parallelism: 7\n": 1,
		`"7"`: 1, "{cpu: 500m, memory: 256Mi}": 6, "name: mine\n": 1} {
		if got := strings.Count(all, want); got != times {
			t.Errorf("%q is there %d times, not %d", want, got, times)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"no agents":         {},
		"too many":          {Agents: 1 << 20},
		"namespace":         {Agents: 1, Namespace: "Bench"},
		"others' namespace": {Agents: 1, Namespace: "default"},
		"line in namespace": {Agents: 1, Namespace: "a\nb"},
		"image":             {Agents: 1, Image: "sixnines:1 # latest"},
		"line in image":     {Agents: 1, Image: "sixnines\nargs: []"},
		"label":             {Agents: 1, Brokers: "kafka"},
		"quote in label":    {Agents: 1, Brokers: `app=ka"fka`},
		"braces in label":   {Agents: 1, Brokers: "a}: b=c"},
		"processors":        {Agents: 1, CPU: "two"},
		"memory":            {Agents: 1, Memory: "1 GB"},
	} {
		dir := filepath.Join(t.TempDir(), "fleet")
		if err := Write(dir, o); !errors.Is(err, ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something was written: %v", name, err)
		}
	}
}

// Each fleet has keys of its own, which nobody else can read and git does not take. A directory with something in it is left alone.
func TestWrite(t *testing.T) {
	parent := t.TempDir()
	one, two := filepath.Join(parent, "one"), filepath.Join(parent, "two")
	if err := os.Mkdir(one, 0o755); err != nil { // empty
		t.Fatal(err)
	}
	for _, dir := range []string{one, two} {
		if err := Write(dir, Options{Agents: 2}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(dir, name string) string {
		t.Helper()
		path := filepath.Join(dir, "secrets", name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s can be read by others: %v, %v", path, info.Mode(), err)
		}
		return string(text)
	}
	for _, name := range []string{"token", "join", "certificate.pem", "pin"} {
		if read(one, name) == read(two, name) {
			t.Errorf("two fleets have the same %s", name)
		}
	}
	both := []byte(read(one, "certificate.pem"))
	pair, err := tls.X509KeyPair(both, both)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(pair.Certificate[0]); hex.EncodeToString(sum[:]) != read(one, "pin") {
		t.Error("the pin is not the certificate's")
	}
	if ignored, err := os.ReadFile(filepath.Join(one, ".gitignore")); err != nil || string(ignored) != "/secrets/\n" {
		t.Errorf("git ignores %q: %v", ignored, err)
	}
	before := read(one, "token")
	if err := Write(one, Options{Agents: 2}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a directory with a fleet was written to: %v", err)
	}
	if read(one, "token") != before {
		t.Error("the token was replaced")
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 2 {
		t.Errorf("left beside them: %v, %v", left, err)
	}
}
