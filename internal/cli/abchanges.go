package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"sixnines/internal/compare"
	"sixnines/scenario"
)

// changesBetween lists what B changes.
func changesBetween(arms []cell, parts [2]*scenario.Scenario) ([]compare.Change, error) {
	var texts [2]json.RawMessage
	for i, arm := range arms {
		var err error
		if texts[i], err = parts[i].Redacted(arm.entry.Secret).MarshalJSON(); err != nil {
			return nil, fmt.Errorf("write the scenario down: %w", err)
		}
	}
	return compare.Changed(texts[0], texts[1]), nil
}

// changesWords returns changes as a sentence.
func changesWords(all []compare.Change) string {
	return strings.Join(each(all, compare.Change.String), ", ")
}

// gateableArms refuses a gate over sides whose scenarios already rule out a ranking; of is
// the only workload to compare, empty: all. The broker's guarantees are known only after
// the first pair.
func gateableArms(arms []cell, of string) error {
	for _, a := range arms[0].scenario.Parts() {
		for _, b := range arms[1].scenario.Parts() {
			named := func(p scenario.Part) string {
				if of == p.Name {
					return "" // it is also compared with an unnamed workload
				}
				return p.Name
			}
			if named(a) != named(b) || of != "" && named(a) != "" || a.Background || b.Background {
				continue
			}
			changes, err := changesBetween(arms, [2]*scenario.Scenario{a.Scenario, b.Scenario})
			if err != nil {
				return err
			}
			if decisive := compare.DecisiveChanges(changes); len(decisive) > 0 {
				return wrongUsage(unrankedHint, "--gate could never fail: %sB changes %s, and different loads are not ranked", ofWorkload(a.Name), changesWords(decisive))
			}
		}
	}
	return nil
}
