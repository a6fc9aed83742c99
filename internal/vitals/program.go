package vitals

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"

	"sixnines/result"
)

// programFacts describes the Go runtime, the build and the linked modules.
func programFacts(modules []string) []Fact {
	f := &facts{section: "go"}
	f.add("version", runtime.Version(), "")
	f.add("platform", runtime.GOOS+"/"+runtime.GOARCH, "")
	usable, note := Processors(), ""
	if n := runtime.NumCPU(); usable < n {
		note = fmt.Sprintf("a CPU quota allows no more of the %d", n)
	}
	f.add(result.FactProcessors, strconv.Itoa(usable), note)
	f.add("GOMAXPROCS", strconv.Itoa(runtime.GOMAXPROCS(0)), "")
	settings := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(settings) // debug.SetGCPercent returns it only by changing it
	f.add("GOGC", gcSetting(settings[0].Value, "off", math.MaxUint64), "")
	f.add("GOMEMLIMIT", gcSetting(settings[1].Value, "none", math.MaxInt64), "bytes")
	godebug := os.Getenv("GODEBUG")
	if godebug == "" {
		godebug = "none"
	}
	f.add("GODEBUG", godebug, "")

	info, ok := debug.ReadBuildInfo()
	return append(f.list, buildFacts(info, ok, modules)...)
}

// gcSetting prints a setting of the collector; one value means absent.
func gcSetting(v metrics.Value, absent string, mark uint64) string {
	switch {
	case v.Kind() != metrics.KindUint64:
		return Unknown
	case v.Uint64() == mark:
		return absent
	}
	return strconv.FormatUint(v.Uint64(), 10)
}

// buildFacts describes the binary from what the linker recorded.
func buildFacts(info *debug.BuildInfo, ok bool, modules []string) []Fact {
	f := &facts{section: "build"}
	if !ok {
		f.add("module", Unknown, "the binary was built without module information")
		return f.list
	}
	f.add("module", info.Main.Path, "")
	f.add("version", info.Main.Version, "")
	for _, s := range []struct{ name, key string }{
		{"revision", "vcs.revision"}, {"revision time", "vcs.time"}, {"modified", "vcs.modified"},
	} {
		i := slices.IndexFunc(info.Settings, func(b debug.BuildSetting) bool { return b.Key == s.key })
		if i < 0 {
			f.add(s.name, Unknown, "built outside version control, or with -buildvcs=false")
			continue
		}
		f.add(s.name, info.Settings[i].Value, "")
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "-race", "-tags", "-pgo", "-gcflags", "-cover", "CGO_ENABLED", "GOAMD64", "GOARM64", "GOEXPERIMENT":
			if s.Value != "" {
				f.add(s.Key, s.Value, "")
			}
		}
	}
	return append(f.list, moduleFacts(info.Deps, modules)...)
}

// moduleFacts gives the versions of the named modules, or of all.
func moduleFacts(linked []*debug.Module, names []string) []Fact {
	f := &facts{section: "module"}
	if len(names) == 0 {
		for _, m := range linked {
			names = append(names, m.Path)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(linked, func(m *debug.Module) bool { return m.Path == name })
		switch {
		case i < 0:
			f.add(name, "not linked", "")
		case linked[i].Replace != nil:
			r := linked[i].Replace
			f.add(name, linked[i].Version, fmt.Sprintf("replaced by %s %s", r.Path, r.Version))
		default:
			f.add(name, linked[i].Version, "")
		}
	}
	return f.list
}
