package histograms

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestJavaReadsWhatWeEncode holds the frozen texts of our encoder against
// Java's, and, where SIXNINES_JAVA is set, has Java decode fresh ones; with the
// value "record" these then become the frozen ones.
func TestJavaReadsWhatWeEncode(t *testing.T) {
	mode := os.Getenv("SIXNINES_JAVA")
	report := t.Errorf
	if mode == "record" {
		report = t.Logf
	}
	golden := hdrReadGolden(t)
	// Frozen texts and Java's verdict on them; other Go versions may compress
	// differently, so what they contain is compared.
	frozen := map[string]string{}
	for line := range strings.Lines(string(hdrReadFile(t, "testdata/hdr/go-encoded.txt"))) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		frozen[name] = text
	}
	verdict := string(hdrReadFile(t, "testdata/hdr/java-verdict.txt"))
	var fresh, want strings.Builder
	for _, g := range golden {
		text, err := Encode(g.histogram(t))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&fresh, "%s %s\n", g.name, text)
		fmt.Fprintf(&want, "equal %s %d %d\n", g.name, g.total, g.max)
		if frozen[g.name] == "" {
			report("%s: no frozen text", g.name)
		} else if !bytes.Equal(hdrInflate(t, frozen[g.name]), hdrInflate(t, text)) {
			report("%s: what is encoded now is not what Java was given", g.name)
		}
	}
	if verdict != want.String() {
		report("Java's frozen verdict:\n%swant:\n%s", verdict, want.String())
	}

	if mode == "" {
		t.Log("frozen record only; SIXNINES_JAVA=1 asks Java (mvn) again")
		return
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		t.Fatalf("SIXNINES_JAVA is set: %v", err)
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "go-encoded.txt")
	if err := os.WriteFile(in, []byte(fresh.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(hdrGoldenDir)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), mvn, "-q", "-B", "-Dstyle.color=never", "-Dbuild.dir="+filepath.Join(dir, "target"),
		"compile", "exec:java", "-Dexec.mainClass=Check", "-Dexec.args="+in+" "+abs)
	cmd.Dir = "testdata/hdr/java"
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := hdrPlain(string(out)); got != want.String() {
		t.Fatalf("Java says:\n%q\nwant:\n%q", got, want.String())
	}
	if mode == "record" {
		for name, text := range map[string]string{"go-encoded.txt": fresh.String(), "java-verdict.txt": want.String()} {
			if err := os.WriteFile(filepath.Join("testdata/hdr", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// hdrPlain removes the escape sequences that Maven writes even when quiet.
func hdrPlain(s string) string {
	for _, e := range []string{"\x1b[0m", "\x1b[m"} {
		s = strings.ReplaceAll(s, e, "")
	}
	return s
}
