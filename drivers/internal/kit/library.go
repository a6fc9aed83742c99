package kit

import (
	"runtime/debug"
	"strings"

	"sixnines/semantics"
)

// LibraryVersion returns the version of the client library at path, without the v that it begins
// with; "unknown" where the program does not say.
func LibraryVersion(path string) string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range build.Deps {
			if m.Path == path {
				return strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return "unknown"
}

// Library is the client that the library at path is, under its usual name.
func Library(name, path string) semantics.Client {
	return semantics.Client{Kind: semantics.Library, Name: name, Version: LibraryVersion(path)}
}
