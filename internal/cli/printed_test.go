package cli

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"sixnines/drivers/all"
)

// full is a disk with so many bytes left.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	if f.left -= n; n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// onto runs the command line with a stdout that has so many bytes left.
func onto(t *testing.T, dir string, left int, args ...string) (code int, stderr string) {
	t.Helper()
	var errs strings.Builder
	code = Main(t.Context(), Env{Args: args, Stdin: strings.NewReader(""), Stdout: &full{left}, Stderr: &errs, Dir: dir,
		Environ: []string{"SIXNINES_HOME=" + dir}, Drivers: all.Set(), Tool: BuiltTool()})
	return code, errs.String()
}

// A command whose output cannot be written has failed, whatever it came to: a table on a
// full disk is no table. Each command is tried with its help, and with what it prints
// of its own where that takes little time.
func TestWhatCannotBePrintedIsAFailure(t *testing.T) {
	dir := t.TempDir()
	load := []string{"mem", "--duration", "100ms", "--warmup", "0s", "--rate", "200/s", "--quiet"}
	for _, name := range []string{"kept-a", "kept-b"} {
		if code, _, errs := invoke(t, Env{Dir: dir}, append([]string{"run", "--name", name}, load...)...); code != exitOK && code != exitInvalid {
			t.Fatalf("exit code %d: %s", code, errs)
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, "results", "kept-*.jsonl"))
	if err != nil || len(found) != 2 {
		t.Fatalf("%q, %v", found, err)
	}
	file := found[0]
	commands := [][]string{
		append([]string{"run"}, load...),
		append([]string{"run", "--json"}, load...),
		append([]string{"run", "--out", "-"}, load...),
		append([]string{"run", "--repeat", "2"}, load...),
		append([]string{"run", "--dry-run"}, load...),
		// What is below a threshold is a failure to print, too.
		append([]string{"run", "--slo", "delivery.response max < 1ns"}, load...),
		append([]string{"sweep", "--over", "rate=100/s,200/s", "--rounds", "1"}, load...),
		{"compare", file, found[1]}, {"compare", file, found[1], "--json"},
		{"report", file}, {"report", file, "--json"}, {"report", file, "--format", "csv"}, {"report", file, "--format", "svg"},
		{"verify", file}, {"verify", file, "--json"},
		{"nines"}, {"nines", "--json"},
		{"drivers", "list"}, {"drivers", "list", "--json"}, {"drivers", "show", "mem"}, {"drivers", "show", "mem", "--json"},
		{"broker", "list"}, {"broker", "list", "--json"},
		{"study", "list"}, {"study", "list", "--json"}, {"study", "show", "clients"},
		{"selftest", "--list"},
		{"doctor", "--json"},
		{"schema", "scenario"}, {"schema", "result"},
		{"version"}, {"version", "--json"}, {"--version"},
		{"completion", "bash"}, {"help"}, {"help", "run"}, {},
	}
	a := &app{Env: Env{Drivers: all.Set()}}
	var helps func(cmd *cobra.Command, path []string)
	helps = func(cmd *cobra.Command, path []string) {
		commands = append(commands, append(path[:len(path):len(path)], "--help"))
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				helps(c, append(path[:len(path):len(path)], c.Name()))
			}
		}
	}
	helps(a.root(), nil)
	for _, args := range commands {
		name := strings.ReplaceAll(strings.Join(args, " "), dir, "DIR")
		t.Run(name, func(t *testing.T) {
			if code, errs := onto(t, t.TempDir(), 20, args...); code != exitFailure || !strings.Contains(errs, "no space left") {
				t.Errorf("exit code %d: %s", code, errs)
			}
		})
	}
}
