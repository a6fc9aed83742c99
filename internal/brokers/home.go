package brokers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Home says where brokers are installed and found, and which environment their
// processes get.
type Home struct {
	// Dir holds what this package installs; [DefaultDir] says where that is.
	Dir string
	// Environ is the environment as in os.Environ, in which the variables of
	// products and PATH are looked up, and which processes inherit.
	Environ []string
	// Self is the command line with which this program calls [Serve], for the
	// built-in brokers; further arguments are appended.
	Self []string
}

// HomeVariable names the environment variable that holds [Home.Dir].
const HomeVariable = "SIXNINES_HOME"

// DefaultDir returns the directory named by SIXNINES_HOME, else sixnines in the
// user's cache directory.
func DefaultDir(environ []string) (string, error) {
	h := Home{Environ: environ}
	if dir := h.Getenv(HomeVariable); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := h.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "sixnines"), nil
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "sixnines"), nil
	}
	return "", errors.New("brokers: no directory for installations: neither " + HomeVariable + " nor HOME is set")
}

// Getenv returns the variable's value, the last one given, or "".
func (h Home) Getenv(name string) string {
	for _, v := range slices.Backward(h.Environ) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Path returns the path of something below the home's directory.
func (h Home) Path(elem ...string) string {
	return filepath.Join(append([]string{h.Dir}, elem...)...)
}

// LookPath finds a program on the PATH of Environ, and in the directories of
// system programs, which are often not on a user's PATH.
func (h Home) LookPath(program string) (string, bool) {
	for _, dir := range append(filepath.SplitList(h.Getenv("PATH")), "/usr/local/sbin", "/usr/sbin", "/sbin") {
		if !filepath.IsAbs(dir) {
			continue // as in exec.ErrDot
		}
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, true
		}
	}
	return "", false
}
