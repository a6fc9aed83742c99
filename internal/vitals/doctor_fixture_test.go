package vitals

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sixnines/internal/spell/spelltest"
)

// bareMetal is a server whose only finding is its card.
func bareMetal() fstest.MapFS {
	return tree(
		"proc/cpuinfo", "processor\t: 0\nmodel name\t: Server\nphysical id\t: 0\ncore id\t: 0\nflags\t: fpu\n",
		"proc/meminfo", "MemTotal:  64000000 kB\nMemAvailable:  60000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
		"proc/loadavg", "0.01 0.0 0.0 1/2 3\n",
		"proc/self/cgroup", "0::/user.slice\n", "proc/self/mountinfo", mountV2, "sys/fs/cgroup/user.slice/cpu.max", "max 100000\n",
		"proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3\n",
		"proc/sys/net/ipv4/tcp_slow_start_after_idle", "0\n",
		"sys/class/net/lo/flags", "0x9\n", "sys/class/net/lo/mtu", "65536\n",
		"sys/class/net/eth0/device/vendor", "0x8086\n", "sys/class/net/eth0/operstate", "up\n", "sys/class/net/eth0/mtu", "1500\n", "sys/class/net/eth0/speed", "10000\n",
		"sys/class/net/eth1/device/vendor", "0x8086\n", "sys/class/net/eth1/operstate", "down\n",
		"sys/class/dmi/id/sys_vendor", "Maker\n",
		"sys/devices/system/cpu/isolated", "4-7\n",
		"sys/devices/system/cpu/smt/active", "1\n", "sys/devices/system/cpu/smt/control", "on\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo", "1\n",
		"sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n",
		"sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n",
	)
}

// guest is a virtual machine: no frequencies, no boost, a card with few settings.
func guest() fstest.MapFS {
	m := bareMetal()
	maps.DeleteFunc(m, func(name string, _ *fstest.MapFile) bool {
		return strings.Contains(name, "cpufreq") || strings.Contains(name, "intel_pstate")
	})
	maps.Copy(m, tree(
		"proc/cpuinfo", "processor\t: 0\nmodel name\t: Guest\nflags\t: fpu hypervisor\n",
		"sys/class/dmi/id/sys_vendor", "QEMU\n",
		"sys/class/net/eth0/speed", "-1\n", "sys/devices/system/cpu/isolated", "\n",
		"sys/devices/system/cpu/smt/active", "0\n", "sys/devices/system/cpu/smt/control", "notsupported\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n",
		"sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n", "sys/devices/system/cpu/vulnerabilities/mds", "Vulnerable\n",
	))
	return m
}

// boxed is a container on the guest, with a quota two groups up, version 1.
func boxed() fstest.MapFS {
	m := guest()
	maps.Copy(m, tree(
		".dockerenv", "", "proc/self/cgroup", "1:cpu,cpuacct:/docker/abc\n", "proc/self/mountinfo", mountV1,
		"sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n", "sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n",
		"sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "150000\n", "sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n",
	))
	for name, link := range map[string]string{"cgroup": "cgroup:[4026532000]", "pid": "pid:[4026532001]"} {
		m["proc/self/ns/"+name] = &fstest.MapFile{Data: []byte(link), Mode: fs.ModeSymlink}
	}
	return m
}

// cards gives all interfaces the same settings.
type cards struct {
	o   offloads
	c   coalescing
	err error
}

func (c cards) offloads(string) (offloads, error)     { return c.o, c.err }
func (c cards) coalescing(string) (coalescing, error) { return c.c, c.err }

func TestDoctorKnowsItsPatients(t *testing.T) {
	refused := errors.New("operation not supported")
	busy := othersCPU{busiest: []processShare{{7, "java", 0.85}, {9, "rsync", 0.12}}, ticks: 30, elapsed: 300 * time.Millisecond}
	type want struct{ status, part string }
	for _, c := range []struct {
		name string
		root fs.FS
		p    probe
		want map[string]want
	}{
		{"bare metal", bareMetal(), probe{slack: "50000", nic: cards{o: offloads{true, true, true}, c: coalescing{adaptive: true, rxDelay: 50}},
			sync: syncState{synchronised: true, maxError: time.Millisecond}, chronyErr: refused}, map[string]want{
			"cpu quota": {StatusOK, "none"}, "cpu governor": {StatusOK, "performance"}, "turbo": {StatusOK, "off"},
			"smt": {StatusNote, "two threads"}, "isolated processors": {StatusNote, "4-7; this process may use 0-3"},
			"mitigations": {StatusOK, "none needed"}, "virtualisation": {StatusOK, "no hypervisor"}, "container": {StatusOK, "no sign"},
			"other processes": {StatusOK, "no other process uses"}, "timer slack": {StatusOK, "50.0 µs elsewhere"}, "suspend": {StatusOK, "has not been asleep"},
			"time synchronisation": {StatusOK, "at most 1.00 ms"}, "clock source": {StatusOK, "tsc"}, "swap": {StatusOK, "none"}, "memory": {StatusOK, "available"},
			"loopback": {StatusOK, "mtu 65536"}, "loopback offloads": {StatusOK, "on"}, "tcp after idle": {StatusOK, "keeps"},
			"network card": {StatusNote, "eth0 mtu 1500, 10,000 Mbit/s, interrupts are coalesced adaptively, now for 50 µs"},
		}},
		{"virtual machine", guest(), probe{nic: cards{err: refused}, others: busy, asleep: time.Hour, slackErr: refused,
			chrony: tracking{stratum: 3, bound: 2 * time.Millisecond, leap: "Normal"}}, map[string]want{
			"cpu governor": {StatusNote, "unknown: no frequency scaling in sight"}, "turbo": {StatusNote, "unknown: no boost control"},
			"smt": {StatusNote, "as far as a virtual machine can see"}, "isolated processors": {StatusNote, "none"},
			"mitigations": {StatusNote, "against meltdown; none against mds"}, "virtualisation": {StatusNote, "a virtual machine: QEMU"},
			"other processes": {StatusWarn, "java (process 7) 85 %, rsync (process 9) 12 % of a core"}, "timer slack": {StatusNote, "cannot be set"},
			"suspend": {StatusNote, "asleep for 1 h"}, "clock source": {StatusNote, "kvm-clock"},
			"time synchronisation": {StatusNote, "no time service has reported to the kernel that the clock is synchronised; chrony: stratum 3, off by 0 ns, within 2.00 ms"},
			"loopback offloads":    {StatusNote, "unknown: operation not supported"},
			"network card":         {StatusNote, "speed unknown (its driver does not say), interrupt coalescing unknown (operation not supported)"},
		}},
		{"container", boxed(), probe{nic: cards{o: offloads{tso: true}, c: coalescing{rxDelay: 8}}, others: othersCPU{ticks: 10, elapsed: time.Second},
			cpu: cpuTime{busy: 90, idle: 100}, sync: syncState{synchronised: true, maxError: time.Second}, chronyErr: refused}, map[string]want{
			"cpu quota": {StatusWarn, "1.5 cores, set at /sys/fs/cgroup/cpu,cpuacct/docker"}, "container": {StatusNote, "docker (/.dockerenv exists)"},
			"other processes":      {StatusWarn, "processes outside this container cannot be seen, and use 80 % of a core"},
			"time synchronisation": {StatusNote, "error at most 1.00 s"}, "loopback offloads": {StatusNote, "gso, gro off"},
			"network card": {StatusNote, "interrupts are coalesced for 8 µs (receive), 0 µs (send)"},
		}},
		{"nothing can be read", tree(), probe{cpuErr: refused, othersErr: refused, asleepErr: refused, syncErr: refused, chronyErr: refused, slackErr: refused}, map[string]want{
			"cpu quota": {StatusNote, Unknown}, "smt": {StatusNote, Unknown}, "isolated processors": {StatusNote, Unknown}, "mitigations": {StatusNote, Unknown},
			"virtualisation": {StatusNote, Unknown}, "container": {StatusNote, Unknown}, "other processes": {StatusNote, Unknown}, "suspend": {StatusNote, Unknown},
			"time synchronisation": {StatusNote, Unknown}, "loopback offloads": {StatusNote, Unknown}, "network card": {StatusNote, Unknown}, "memory": {StatusNote, Unknown},
			"clock source": {StatusNote, Unknown}, "cpu steal": {StatusNote, Unknown}, "load": {StatusNote, Unknown}, "swap": {StatusNote, Unknown},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := map[string]Check{}
			for _, x := range (machine{c.root}).checks(c.p, 4) {
				got[x.Name] = x
				if (x.Status == StatusOK) != (x.Advice == "") || x.Found == "" {
					t.Errorf("%+v", x)
				}
				for _, found := range slices.Concat(spelltest.Words(x.Found+" "+x.Advice), spelltest.Numbers(x.Found)) {
					t.Errorf("%s: %s", x.Name, found)
				}
			}
			for name, w := range c.want {
				if g := got[name]; g.Status != w.status || !strings.Contains(g.Found, w.part) {
					t.Errorf("%s: %q %q, want %q %q", name, g.Status, g.Found, w.status, w.part)
				}
			}
		})
	}
}

func TestOthersBetween(t *testing.T) {
	before := map[int]processCPU{1: {"init", 500}, 2: {"me", 10}, 3: {"java", 100}, 4: {"old", 900}, 6: {"quiet", 5}}
	after := map[int]processCPU{1: {"init", 500}, 2: {"me", 60}, 3: {"java", 140}, 4: {"new", 25}, 5: {"born", 60}, 6: {"quiet", 9}}
	want := othersCPU{busiest: []processShare{{5, "born", 1.2}, {3, "java", 0.8}, {4, "new", 0.5}}, ticks: 179, elapsed: 500 * time.Millisecond}
	got := othersBetween(before, after, 2, 500*time.Millisecond)
	if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestReadProcesses(t *testing.T) {
	const rest = " S 1 1 1 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 17 0 300 400000 512 1\n"
	got, err := readProcesses(tree("proc/12/stat", "12 (a (b) c)"+rest, "proc/13/stat", "13 nonsense", "proc/14/stat", "14 (x) S 1", "proc/self/stat", "12 (a)"+rest, "proc/15/comm", "y"))
	if diff := cmp.Diff(fmt.Sprint(map[int]processCPU{12: {"a (b) c", 12}}), fmt.Sprint(got)); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := readProcesses(tree("proc/loadavg", "1")); err == nil {
		t.Errorf("%v of no processes", got)
	}
}

func TestParseTracking(t *testing.T) {
	got, err := parseTracking("C0A80101,192.168.1.1,3,1700000000.123456789,-0.000012500,0.000001,0.000002,-5.1,0.01,0.1,0.001000000,0.000500000,64.2,Normal\n")
	want := tracking{stratum: 3, offset: -12500 * time.Nanosecond, bound: time.Millisecond, leap: "Normal"}
	if err != nil || got != want || !got.synchronised() {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = parseTracking("00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised\n")
	if err != nil || got.synchronised() || got.String() != "not synchronised" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "506 Cannot talk to daemon", strings.Repeat(",", 13), "a,b,3,1,x,1,1,1,1,1,1,1,1,Normal", "a,b,3,1,1,1,1,1,1,1,x,1,1,Normal"} {
		if got, err := parseTracking(bad); err == nil {
			t.Errorf("%q gives %+v", bad, got)
		}
	}
}

func TestPlaceBroker(t *testing.T) {
	_, own, _ := net.ParseCIDR("192.0.2.7/24")
	own.IP = net.ParseIP("192.0.2.7")
	book := map[string]string{"near": "192.0.2.7", "far": "192.0.2.8", "localhost": "127.0.0.1", "six": "::1"}
	lookup := func(host string) ([]net.IPAddr, error) {
		a, ok := book[host]
		if !ok {
			return nil, errors.New("no such host")
		}
		return []net.IPAddr{{IP: net.ParseIP(a)}}, nil
	}
	for _, c := range []struct{ hosts, status, part string }{
		{"near", StatusNote, "on this machine: near"}, {"localhost", StatusNote, "on this machine"}, {"six", StatusNote, "on this machine"},
		{"far", StatusOK, "elsewhere: far"}, {"far near", StatusNote, "on this machine: near; elsewhere: far"}, {"nobody", StatusNote, "unknown: no such host"},
	} {
		got := placeBroker(strings.Fields(c.hosts), []net.Addr{own}, lookup)
		if got.Status != c.status || !strings.Contains(got.Found, c.part) || (got.Status == StatusOK) != (got.Advice == "") {
			t.Errorf("%s: %+v", c.hosts, got)
		}
	}
}

// Every name that the issue asks for is among the checks.
func TestDoctorIsComplete(t *testing.T) {
	var names []string
	for _, c := range Checkup() {
		names = append(names, c.Name)
		if strings.HasPrefix(c.Found, Unknown) {
			t.Logf("%s: %s", c.Name, c.Found)
		}
	}
	for _, want := range []string{"cpu governor", "turbo", "cpu quota", "transparent huge pages", "clock source", "time synchronisation", "open files",
		"loopback", "loopback offloads", "network card", "timer slack", "smt", "mitigations", "swap", "memory", "isolated processors", "other processes",
		"suspend", "virtualisation", "cpu steal"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not examined", want)
		}
	}
}
