package vitals

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/clock"
	"sixnines/internal/spell"
)

// machine is a Linux system as its files describe it.
type machine struct{ root fs.FS }

// errNotOffered is why a file's content is unknown although nothing failed.
var errNotOffered = errors.New("the kernel does not say")

func (m machine) facts() []Fact {
	var list []Fact
	for _, section := range []struct {
		name string
		fill func(machine, *facts)
	}{
		{"cpu", machine.cpuFacts},
		{"memory", machine.memoryFacts},
		{"kernel", machine.kernelFacts},
		{"limits", machine.limitFacts},
		{"time", machine.timeFacts},
		{"network", machine.networkFacts},
	} {
		f := &facts{section: section.name}
		section.fill(m, f)
		list = append(list, f.list...)
	}
	return list
}

func (m machine) word(name string) (string, error) { return readWord(m.root, name) }

// file adds the content of a file as a fact.
func (m machine) file(f *facts, fact, name string) {
	v, err := m.word(name)
	f.addOr(fact, strings.Join(strings.Fields(v), " "), err)
}

// field returns the value of the first "key : value" line of a file.
func (m machine) field(name, key string) (string, error) {
	b, err := fs.ReadFile(m.root, name)
	if err != nil {
		return "", err
	}
	for l := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v), nil
		}
	}
	return "", fmt.Errorf("/%s: no %q in it", name, key)
}

func (m machine) cpuFacts(f *facts) {
	model, err := m.field("proc/cpuinfo", "model name")
	if err != nil { // other architectures have no such field
		if tree, treeErr := m.word("proc/device-tree/model"); treeErr == nil {
			model, err = strings.TrimRight(tree, "\x00"), nil
		}
	}
	f.addOr("model", model, err)
	cores, err := m.physicalCores()
	f.addOr("physical cores", cores, err)
	m.file(f, "online", "sys/devices/system/cpu/online")
	m.file(f, "smt", "sys/devices/system/cpu/smt/control")
	isolated, err := m.word("sys/devices/system/cpu/isolated")
	f.addOr("isolated", cmp.Or(isolated, "none"), err)
	governor, err := m.governor()
	f.addOr("governor", governor, err)
	turbo, err := m.turbo()
	f.addOr("turbo", turbo, err)
	m.file(f, "idle driver", "sys/devices/system/cpu/cpuidle/current_driver")
	mitigations, vulnerable, err := m.mitigations()
	f.addOr("mitigations", mitigations, err)
	if err == nil && vulnerable != "" {
		f.list[len(f.list)-1].Note = "vulnerable: " + vulnerable
	}
	hypervisor, err := m.hypervisor()
	f.addOr("hypervisor", hypervisor, err)
}

// physicalCores counts the distinct pairs of package and core in
// /proc/cpuinfo, which only some architectures give.
func (m machine) physicalCores() (string, error) {
	b, err := fs.ReadFile(m.root, "proc/cpuinfo")
	if err != nil {
		return "", err
	}
	seen, socket := map[string]bool{}, ""
	for l := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(l, ":")
		switch strings.TrimSpace(key) {
		case "physical id":
			socket = strings.TrimSpace(value)
		case "core id":
			seen[socket+"/"+strings.TrimSpace(value)] = true
		}
	}
	if len(seen) == 0 {
		return "", errNotOffered
	}
	return strconv.Itoa(len(seen)), nil
}

// governor returns the distinct frequency governors of all processors.
func (m machine) governor() (string, error) {
	if _, err := fs.Stat(m.root, "sys/devices/system/cpu"); err != nil {
		return "", err
	}
	files, err := fs.Glob(m.root, "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
	if err != nil || len(files) == 0 {
		return "", errors.New("no frequency scaling in sight (usual in virtual machines)")
	}
	var found []string
	for _, name := range files {
		g, err := m.word(name)
		if err != nil {
			return "", err
		}
		if !slices.Contains(found, g) {
			found = append(found, g)
		}
	}
	return strings.Join(found, ", "), nil
}

// turbo returns "on" or "off".
func (m machine) turbo() (string, error) {
	if _, err := fs.Stat(m.root, "sys/devices/system/cpu"); err != nil {
		return "", err
	}
	for _, s := range []struct{ name, on string }{
		{"sys/devices/system/cpu/intel_pstate/no_turbo", "0"},
		{"sys/devices/system/cpu/cpufreq/boost", "1"},
	} {
		if v, err := m.word(s.name); err == nil {
			if v == s.on {
				return "on", nil
			}
			return "off", nil
		}
	}
	return "", errors.New("no boost control in sight (usual in virtual machines)")
}

// mitigations returns which processor flaws the kernel works around, and which
// it leaves open.
func (m machine) mitigations() (active, vulnerable string, err error) {
	const dir = "sys/devices/system/cpu/vulnerabilities"
	entries, err := fs.ReadDir(m.root, dir)
	if err != nil {
		return "", "", err
	}
	var on, open []string
	for _, e := range entries {
		state, err := m.word(path.Join(dir, e.Name()))
		switch {
		case err != nil:
			return "", "", err
		case strings.HasPrefix(state, "Mitigation"):
			on = append(on, e.Name())
		case strings.HasPrefix(state, "Vulnerable"):
			open = append(open, e.Name())
		}
	}
	if len(on) == 0 {
		on = []string{"none"}
	}
	return strings.Join(on, ", "), strings.Join(open, ", "), nil
}

// hypervisor returns the virtualisation of this machine, "none" where there is no sign of one.
func (m machine) hypervisor() (string, error) {
	var who []string
	for _, name := range []string{"sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name", "sys/hypervisor/type"} {
		if v, err := m.word(name); err == nil && v != "" {
			who = append(who, v)
		}
	}
	vendor := strings.Join(who, " ")
	flags, err := m.field("proc/cpuinfo", "flags")
	switch {
	case err != nil && vendor == "":
		return "", err
	case err != nil:
		return vendor + " (from the firmware's tables; the processor does not say)", nil
	case !slices.Contains(strings.Fields(flags), "hypervisor"):
		return "none", nil
	case vendor == "":
		return "yes, of unknown make", nil
	}
	return vendor, nil
}

func (m machine) memoryFacts(f *facts) {
	for _, s := range []struct{ fact, key string }{
		{"total", "MemTotal"}, {"available", "MemAvailable"}, {"swap", "SwapTotal"}, {"swap free", "SwapFree"},
	} {
		v, err := m.field("proc/meminfo", s.key)
		f.addOr(s.fact, v, err)
	}
	m.file(f, "swappiness", "proc/sys/vm/swappiness")
	// When the kernel writes back data without a sync: how much a power failure can take.
	for _, s := range []string{"dirty_expire_centisecs", "dirty_writeback_centisecs", "dirty_background_ratio", "dirty_background_bytes", "dirty_ratio", "dirty_bytes"} {
		m.file(f, "vm."+s, "proc/sys/vm/"+s)
	}
	for _, s := range []string{"enabled", "defrag"} {
		v, err := m.word("sys/kernel/mm/transparent_hugepage/" + s)
		f.addOr("transparent huge pages "+s, chosen(v), err)
	}
}

func (m machine) kernelFacts(f *facts) {
	m.file(f, "system", "proc/sys/kernel/ostype")
	m.file(f, "release", "proc/sys/kernel/osrelease")
	m.file(f, "version", "proc/sys/kernel/version")
	distribution, err := m.distribution()
	f.addOr("distribution", distribution, err)
	m.file(f, "clock source", "sys/devices/system/clocksource/clocksource0/current_clocksource")
	m.file(f, "clock sources available", "sys/devices/system/clocksource/clocksource0/available_clocksource")
	m.file(f, "boot id", "proc/sys/kernel/random/boot_id")
	m.file(f, "timer slack of main thread, ns", "proc/self/timerslack_ns")
	m.file(f, "autogroup", "proc/sys/kernel/sched_autogroup_enabled")
	m.file(f, "numa balancing", "proc/sys/kernel/numa_balancing")
}

func (m machine) distribution() (string, error) {
	b, err := fs.ReadFile(m.root, "etc/os-release")
	if err != nil {
		if b, err = fs.ReadFile(m.root, "usr/lib/os-release"); err != nil {
			return "", err
		}
	}
	for l := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(l), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`), nil
		}
	}
	return "", errors.New("/etc/os-release: no PRETTY_NAME in it")
}

func (m machine) limitFacts(f *facts) {
	q, err := readQuota(m.root)
	switch {
	case err != nil:
		f.add("cpu quota", Unknown, reason(err))
	case q.limited:
		f.add("cpu quota", fmt.Sprintf("%.3g cores", q.cores), q.note("set at "+q.at))
	default:
		f.add("cpu quota", "none", q.note(""))
	}
	left, err := readMemory(m.root)
	switch {
	case err != nil:
		f.add("memory limit", Unknown, reason(err))
	case left.limited:
		f.add("memory limit", fmt.Sprintf("leaves %d MiB", left.bytes>>20), "set at "+left.at)
	default:
		f.add("memory limit", "none", "")
	}
	container, note := m.container()
	f.add("container", container, note)
	cpus, err := m.field("proc/self/status", "Cpus_allowed_list")
	f.addOr("processors allowed", cpus, err)
	if soft, hard, err := nofileLimit(); err != nil {
		f.add("open files", Unknown, err.Error())
	} else {
		f.add("open files", strconv.FormatUint(soft, 10), "at most "+strconv.FormatUint(hard, 10))
	}
	if prio, err := realtimeLimit(); err != nil {
		f.add("real-time priority", Unknown, err.Error())
	} else {
		f.add("real-time priority", strconv.FormatUint(prio, 10), "the highest this process may take")
	}
}

// note says how far the search for quotas reached.
func (q cpuQuota) note(what string) string {
	parts := []string{fmt.Sprintf("%d control groups looked at", q.groups)}
	if what != "" {
		parts = append([]string{what}, parts...)
	}
	if q.hidden {
		parts = append(parts, "groups above this container's cannot be seen")
	}
	return strings.Join(parts, "; ")
}

// container reports whether the process runs in one, and the evidence.
func (m machine) container() (value, note string) {
	for _, s := range []struct{ name, kind string }{
		{".dockerenv", "docker"}, {"run/.containerenv", "podman"},
		{"var/run/secrets/kubernetes.io/serviceaccount/token", "kubernetes"},
	} {
		if _, err := fs.Stat(m.root, s.name); err == nil {
			return s.kind, "/" + s.name + " exists"
		}
	}
	if ns, err := fs.ReadLink(m.root, "proc/self/ns/cgroup"); err == nil && ns != "cgroup:[4026531835]" {
		return "some", "a control group namespace of its own"
	}
	groups, err := m.word("proc/self/cgroup")
	if err != nil {
		return Unknown, reason(err)
	}
	for _, sign := range []string{"docker", "kubepods", "containerd", "libpod", "lxc", "garden"} {
		if strings.Contains(groups, sign) {
			return sign, "a control group says so"
		}
	}
	return "none", "no sign of one"
}

func (m machine) timeFacts(f *facts) {
	s, err := clockSync()
	if err != nil {
		f.add("synchronised", Unknown, err.Error())
		f.add("maximum error", Unknown, err.Error())
	} else {
		f.add("synchronised", yesNo(s.synchronised), "what the kernel was told (adjtimex); hosts that set their guests' clocks do not report it")
		f.add("maximum error", spell.Duration(s.maxError), "")
	}
	f.add("clock domain", clock.Domain(), "processes with the same one share CLOCK_MONOTONIC")
	f.add("clock bracket", spell.Duration(clock.Bracket()), "")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// networkSettings are the kernel settings that affect latencies, below /proc/sys/net.
func networkSettings() []string {
	return []string{
		"ipv4/tcp_congestion_control", "ipv4/tcp_rmem", "ipv4/tcp_wmem", "ipv4/tcp_autocorking", "ipv4/tcp_slow_start_after_idle",
		"ipv4/tcp_notsent_lowat", "ipv4/tcp_limit_output_bytes", "ipv4/tcp_rto_min_us", "ipv4/tcp_tw_reuse", "ipv4/tcp_max_syn_backlog",
		"ipv4/ip_local_port_range", "core/somaxconn", "core/rmem_max", "core/wmem_max", "core/default_qdisc", "core/busy_read", "core/busy_poll",
	}
}

func (m machine) networkFacts(f *facts) {
	m.file(f, "loopback mtu", "sys/class/net/lo/mtu")
	for _, s := range networkSettings() {
		m.file(f, "net."+strings.ReplaceAll(s, "/", "."), "proc/sys/net/"+s)
	}
}
