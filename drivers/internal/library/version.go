// Package library tells which versions of client libraries this program has.
package library

import (
	"runtime/debug"
	"strings"
)

// Version returns the version of the module at path, without the v that it begins
// with; "unknown" where the program does not say.
func Version(path string) string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range build.Deps {
			if m.Path == path {
				return strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return "unknown"
}
