package selftest

import (
	"runtime"
	"strconv"

	"sixnines/internal/vitals"
)

// MachineKey identifies the machine and the settings under which a noise floor was
// measured. A floor applies only to runs with the same key.
type MachineKey struct {
	CPU        string `json:"cpu"`        // the processor's model
	Processors int    `json:"processors"` // that this process may use
	Quota      string `json:"quota"`      // of its control groups
	Hypervisor string `json:"hypervisor"`
	Container  string `json:"container"`
	System     string `json:"system"` // GOOS/GOARCH
	Kernel     string `json:"kernel"` // release and version
	Governor   string `json:"governor"`
	Turbo      string `json:"turbo"`
}

// ThisMachine returns the key of the machine that runs this.
func ThisMachine() MachineKey { return keyOf(vitals.Fingerprint()) }

// keyOf takes a key from a fingerprint.
func keyOf(facts []vitals.Fact) MachineKey {
	fact := func(section, name string) string {
		for _, f := range facts {
			if f.Section == section && f.Name == name {
				return f.Value
			}
		}
		return vitals.Unknown
	}
	return MachineKey{
		CPU: fact("cpu", "model"), Processors: runtime.NumCPU(), Quota: fact("limits", "cpu quota"),
		Hypervisor: fact("cpu", "hypervisor"), Container: fact("limits", "container"),
		System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: fact("kernel", "release") + " " + fact("kernel", "version"),
		Governor: fact("cpu", "governor"), Turbo: fact("cpu", "turbo"),
	}
}

// String names the machine for users.
func (k MachineKey) String() string {
	return k.CPU + ", " + strconv.Itoa(k.Processors) + " processors, " + k.System + ", kernel " + k.Kernel
}
