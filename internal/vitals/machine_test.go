package vitals

import (
	"runtime/debug"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// laptop is a machine with many findings.
func laptop() fstest.MapFS {
	return tree(
		"proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast One\nphysical id\t: 0\ncore id\t: 0\nflags\t: fpu hypervisor\n\nprocessor\t: 1\nphysical id\t: 0\ncore id\t: 0\n\nprocessor\t: 2\nphysical id\t: 0\ncore id\t: 1\n",
		"proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable:  500000 kB\nSwapTotal: 2000000 kB\nSwapFree: 1500000 kB\n",
		"proc/loadavg", "3.00 1.0 0.5 1/2 3\n",
		"proc/self/cgroup", "0::/a\n", "proc/self/mountinfo", mountV2, "sys/fs/cgroup/a/cpu.max", "150000 100000\n",
		"proc/sys/net/ipv4/tcp_slow_start_after_idle", "1\n",
		"sys/class/net/lo/flags", "0x8\n", "sys/class/net/lo/mtu", "65536\n",
		"sys/class/dmi/id/sys_vendor", "Maker\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo", "0\n",
		"sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n",
		"sys/devices/system/cpu/vulnerabilities/mds", "Vulnerable; SMT vulnerable\n",
		"sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n",
		"sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n",
		"etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 1\"\n",
	)
}

func TestFactsOfAMachine(t *testing.T) {
	facts := machine{laptop()}.facts()
	for _, want := range []Fact{
		{"cpu", "model", "Fast One", ""},
		{"cpu", "physical cores", "2", ""},
		{"cpu", "governor", "powersave, performance", ""},
		{"cpu", "turbo", "on", ""},
		{"cpu", "mitigations", "meltdown", "vulnerable: mds"},
		{"cpu", "hypervisor", "Maker", ""},
		{"memory", "transparent huge pages enabled", "always", ""},
		{"kernel", "distribution", "Some Linux 1", ""},
		{"limits", "cpu quota", "1.5 cores", "set at /sys/fs/cgroup/a; 2 control groups looked at"},
		{"kernel", "release", Unknown, "/proc/sys/kernel/osrelease: file does not exist"},
	} {
		if !slices.Contains(facts, want) {
			t.Errorf("%+v is not among the facts", want)
		}
	}
}

// Each fact is there once, is not empty, and has a reason if it is unknown; also on a
// machine without readable files.
func TestFactsAreComplete(t *testing.T) {
	for name, facts := range map[string][]Fact{"here": Fingerprint(), "nowhere": machine{tree()}.facts(), "laptop": machine{laptop()}.facts()} {
		seen := map[string]bool{}
		for _, f := range facts {
			if f.Section == "" || f.Name == "" || f.Value == "" || f.Value == Unknown && f.Note == "" {
				t.Errorf("%s: incomplete: %+v", name, f)
			}
			if key := f.Section + "/" + f.Name; seen[key] {
				t.Errorf("%s: %s twice", name, key)
			} else {
				seen[key] = true
			}
		}
	}
}

func TestFactsOfABuild(t *testing.T) {
	info := &debug.BuildInfo{
		Main:     debug.Module{Path: "sixnines", Version: "v1"},
		Deps:     []*debug.Module{{Path: "a", Version: "v2"}, {Path: "b", Version: "v3", Replace: &debug.Module{Path: "c", Version: "v4"}}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}, {Key: "-race", Value: "true"}},
	}
	facts := buildFacts(info, true, []string{"b", "absent"})
	for _, want := range []Fact{
		{"build", "revision", "abc", ""}, {"build", "modified", "true", ""}, {"build", "-race", "true", ""},
		{"module", "b", "v3", "replaced by c v4"}, {"module", "absent", "not linked", ""},
	} {
		if !slices.Contains(facts, want) {
			t.Errorf("%+v is not among %+v", want, facts)
		}
	}
	want := []Fact{{"module", "a", "v2", ""}, {"module", "b", "v3", "replaced by c v4"}}
	if diff := cmp.Diff(want, moduleFacts(info.Deps, nil)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestChecksOfAMachine(t *testing.T) {
	late := make([]int64, 100)
	late[99] = 50_000_000
	got := map[string]string{}
	for _, c := range (machine{laptop()}).checks(probe{late: late, clockRead: 900, cpu: cpuTime{busy: 90, steal: 10}}, 3) {
		got[c.Name] = c.Status
	}
	for name, want := range map[string]string{
		"cores": StatusWarn, "cpu quota": StatusWarn, "cpu governor": StatusWarn, "turbo": StatusNote, "cpu steal": StatusFail, "load": StatusWarn,
		"timer accuracy": StatusWarn, "clock source": StatusWarn, "clock read": StatusWarn, "memory": StatusWarn, "swap": StatusWarn,
		"transparent huge pages": StatusNote, "loopback": StatusFail, "tcp after idle": StatusNote,
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}

// Every bad finding has advice, and a property that cannot be read does not pass.
func TestChecksGiveAdvice(t *testing.T) {
	for name, checks := range map[string][]Check{"here": Checkup(), "nowhere": machine{tree()}.checks(probe{}, 1)} {
		for _, c := range checks {
			if c.Name == "" || c.Found == "" || (c.Status == StatusOK) != (c.Advice == "") ||
				!slices.Contains([]string{StatusOK, StatusNote, StatusWarn, StatusFail}, c.Status) {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}
