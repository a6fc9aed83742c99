package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"sixnines/result"
)

// BuiltTool returns the name and version of this program as the Go command
// recorded them when it built it.
func BuiltTool() result.Tool {
	t := result.Tool{Name: "sixnines", Version: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	if v := info.Main.Version; v != "" {
		t.Version = v
	}
	changed := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			t.Revision = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if changed && t.Revision != "" {
		t.Revision += ", changed"
	}
	return t
}

// binary is the SHA-256 of this program's executable, hexadecimal; empty where it cannot
// be read. On Linux it is that of the running program, though its file was replaced since.
func (env *Env) binary() string {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		if f, err = os.Open(env.Executable); err != nil {
			return ""
		}
	}
	defer f.Close() // read only: nothing to lose
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  counted(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.writeJSON(versionObject{a.Tool, runtime.GOOS + "/" + runtime.GOARCH})
			}
			return a.sayVersion()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// versionObject is the version as JSON.
type versionObject struct {
	result.Tool
	Platform string `json:"platform"` // operating system and architecture
}

// sayVersion prints the version on one line.
func (env *Env) sayVersion() error {
	line := env.Tool.Name + " " + env.Tool.Version
	if env.Tool.Revision != "" {
		line += " (" + env.Tool.Revision + ")"
	}
	_, err := fmt.Fprintf(env.Stdout, "%s %s %s/%s\n", line, env.Tool.Go, runtime.GOOS, runtime.GOARCH)
	return err
}

// writeJSON prints v on stdout, on one line.
func (env *Env) writeJSON(v any) error {
	e := json.NewEncoder(env.Stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
