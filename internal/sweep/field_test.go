package sweep

import (
	"testing"

	"sixnines/scenario"
)

func TestFindKey(t *testing.T) {
	for name, want := range map[string]string{
		"rate":               "workload.rate",
		"producers":          "workload.producers", // and not workload.connections.producers
		"messages":           "workload.messages",
		"duration":           "phases.duration",
		"seed":               "seed",
		"nodes":              "target.nodes",
		"period":             "workload.arrivals.period",
		"objectives[]":       "objectives[]",
		"workload.rate":      "workload.rate",
		"workload.nothing":   "workload.nothing", // Apply's to refuse
		"option.linger":      "target.options.linger",
		"setting.a.b":        "target.settings.a.b",
		"target.options.any": "target.options.any",
		"delay":              "network.delay",
		"network.rate":       "network.rate",
		"profile":            "network.profile",
	} {
		if got, err := FindKey(name); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"consumrs": `no field is called "consumrs" (did you mean consumers?)`,
		"xyzzyx":   `no field is called "xyzzyx" (write its dotted key, such as workload.rate; see sixnines schema)`,
	} {
		if _, err := FindKey(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestBlank(t *testing.T) {
	for _, key := range []string{"workloads.bulk.rate", "workload.rate"} {
		if err := Blank(key).Apply(scenario.Override{Key: key, Value: "3/s"}); err != nil {
			t.Error(err)
		}
	}
}
