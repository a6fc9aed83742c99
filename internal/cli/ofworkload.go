package cli

import (
	"slices"
	"strings"

	"sixnines/scenario"
)

// meant applies flags about a load to one of several workloads: an objective that begins
// with a workload's name and a colon to that workload, all others to workload; empty: to
// none of them. With one workload the flags stay unchanged.
func meant(s *scenario.Scenario, flags []scenario.Override, workload string) []scenario.Override {
	if len(s.Workloads) == 0 {
		return flags
	}
	const objective = "objectives[]"
	flags = slices.Clone(flags)
	for i := range flags {
		f, of := &flags[i], workload
		if name, rest, ok := strings.Cut(f.Value, ":"); ok && f.Key == objective {
			of, f.Value = strings.TrimSpace(name), strings.TrimSpace(rest)
		}
		key, about := strings.CutPrefix(f.Key, "workload.")
		if of != "" && (about || f.Key == objective) {
			f.Key = "workloads." + of + "." + key
		}
	}
	return flags
}

// searched returns the workload whose rate is searched for; with several workloads, of must
// name it.
func searched(s *scenario.Scenario, of string) (scenario.Part, error) {
	parts := s.Parts()
	names := each(parts, func(p scenario.Part) string { return p.Name })
	switch i := slices.Index(names, of); {
	case i >= 0:
		return parts[i], nil
	case len(s.Workloads) == 0:
		return scenario.Part{}, wrongUsage("leave --of out", "--of %s: the scenario has a single, unnamed workload", of)
	case of == "":
		return scenario.Part{}, wrongUsage("choose the one whose rate is searched for: --of "+strings.Join(names, " or --of "), "the scenario has several workloads")
	}
	return scenario.Part{}, chooseOne("--of", of, names)
}
