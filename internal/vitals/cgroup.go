package vitals

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// group is one control group that holds a process: its own or an ancestor.
type group struct {
	dir string // below the root, without a leading slash
	v2  bool
}

// quota returns the cores that the group's CPU quota allows, false if it has
// none.
func (g group) quota(root fs.FS) (cores float64, limited bool, err error) {
	if g.v2 {
		text, err := readWord(root, path.Join(g.dir, "cpu.max"))
		if err != nil {
			return 0, false, err
		}
		limit, period, _ := strings.Cut(text, " ")
		return ratio(limit, period)
	}
	limit, err := readWord(root, path.Join(g.dir, "cpu.cfs_quota_us"))
	if err != nil {
		return 0, false, err
	}
	period, err := readWord(root, path.Join(g.dir, "cpu.cfs_period_us"))
	if err != nil {
		return 0, false, err
	}
	return ratio(limit, period)
}

// ratio returns limit/period; "max" and "-1" mean that there is no limit.
func ratio(limit, period string) (cores float64, limited bool, err error) {
	if limit == "max" || limit == "-1" {
		return 0, false, nil
	}
	l, err := strconv.ParseUint(limit, 10, 63)
	if err != nil {
		return 0, false, fmt.Errorf("quota %q is not a number", limit)
	}
	p, err := strconv.ParseUint(period, 10, 63)
	if err != nil || p == 0 {
		return 0, false, fmt.Errorf("period %q of a quota is not a positive number", period)
	}
	return float64(l) / float64(p), true, nil
}

// The controllers of control groups whose limits are read.
const (
	controlCPU    = "cpu"
	controlMemory = "memory"
)

// self stands for this process in place of a process number.
const self = "self"

// findGroups returns the control groups that can limit a process (a number or self) by a
// controller, of both versions: from the process's own group up to the topmost visible one.
// A limit of any of them applies.
func findGroups(root fs.FS, process, controller string) ([]group, error) {
	own, err := fs.ReadFile(root, "proc/"+process+"/cgroup")
	if err != nil {
		return nil, err
	}
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var groups []group
	for l := range strings.Lines(string(own)) {
		// hierarchy:controllers:path
		part := strings.SplitN(strings.TrimSpace(l), ":", 3)
		if len(part) != 3 {
			continue
		}
		v2 := part[0] == "0" && part[1] == ""
		if !v2 && !slices.Contains(strings.Split(part[1], ","), controller) {
			continue
		}
		if mount, ok := findMount(string(mounts), v2, controller); ok {
			groups = append(groups, mount.upwards(part[2], v2)...)
		}
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("no control group hierarchy for %s is mounted", controller)
	}
	return groups, nil
}

// mount is where a hierarchy can be seen: the group top appears as dir.
type mount struct{ dir, top string }

// findMount finds the mount of version 2's hierarchy, or of version 1's for a controller.
func findMount(mountinfo string, v2 bool, controller string) (mount, bool) {
	for l := range strings.Lines(mountinfo) {
		// id parent device top dir options optional… - type source superoptions
		left, right, ok := strings.Cut(strings.TrimSpace(l), " - ")
		a, b := strings.Fields(left), strings.Fields(right)
		if !ok || len(a) < 5 || len(b) < 3 {
			continue
		}
		if v2 && b[0] == "cgroup2" || !v2 && b[0] == "cgroup" && slices.Contains(strings.Split(b[2], ","), controller) {
			return mount{dir: strings.TrimPrefix(unescape(a[4]), "/"), top: unescape(a[3])}, true
		}
	}
	return mount{}, false
}

// unescape replaces mountinfo's octal escapes of blanks.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// upwards lists the groups from the one at p up to the mount's top. p is relative to the
// hierarchy's root: if a container mounts only its own group, the part of p up to that
// group is cut off. For a p outside the mount only the top is listed.
func (m mount) upwards(p string, v2 bool) []group {
	relative := path.Clean("/" + p)
	if m.top != "/" {
		below, ok := strings.CutPrefix(relative, m.top)
		if !ok || below != "" && below[0] != '/' {
			below = ""
		}
		relative = path.Clean("/" + below)
	}
	if strings.HasPrefix(p, "/..") { // outside the namespace: not visible
		relative = "/"
	}
	var groups []group
	for {
		groups = append(groups, group{dir: strings.TrimPrefix(path.Join("/", m.dir, relative), "/"), v2: v2})
		if relative == "/" {
			return groups
		}
		relative = path.Dir(relative)
	}
}

// cpuQuota is the tightest CPU quota of all visible control groups.
type cpuQuota struct {
	cores   float64
	limited bool
	at      string // the group that sets it
	groups  int    // number of groups read
	// hidden: the process is in a control group namespace of its own, so
	// groups above it may limit it and are not visible.
	hidden bool
}

// readQuota reads the quotas of all groups. A group without quota files has no quota.
func readQuota(root fs.FS) (cpuQuota, error) {
	groups, err := findGroups(root, self, controlCPU)
	if err != nil {
		return cpuQuota{}, err
	}
	q := cpuQuota{groups: len(groups)}
	for _, g := range groups {
		cores, limited, err := g.quota(root)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return cpuQuota{}, fmt.Errorf("/%s: %w", g.dir, err)
		}
		if limited && (!q.limited || cores < q.cores) {
			q.cores, q.limited, q.at = cores, true, "/"+g.dir
		}
	}
	// The initial namespaces have fixed numbers (linux/proc_ns.h).
	ns, err := fs.ReadLink(root, "proc/self/ns/cgroup")
	q.hidden = err == nil && ns != "cgroup:[4026531835]"
	return q, nil
}

// processors returns how many of n processors are worth using: no more than the
// quota's cores, rounded up, and at least one.
func (q cpuQuota) processors(n int) int {
	if q.limited && q.cores < float64(n) {
		n = int(math.Ceil(q.cores))
	}
	return max(n, 1)
}

// Processors returns how many processors this process may keep busy: those that
// it may run on, or fewer if the CPU quota of its control group or one above
// allows less; rounded up, and at least 1. Quotas that cannot be read are ignored.
func Processors() int {
	q, err := readQuota(hostRoot())
	if err != nil {
		return runtime.NumCPU()
	}
	return q.processors(runtime.NumCPU())
}

// memoryLeft is how much memory control groups still let the process have.
type memoryLeft struct {
	bytes   int64 // at least 0
	limited bool
	at      string // the group that leaves the least
}

// noMemoryLimit is the value, in bytes, from which on a limit counts as no limit: version 1
// shows the largest number of pages that it can count instead of "max".
const noMemoryLimit = 1 << 60

// readMemory reads the limits of all groups. A group without limit files has no limit.
func readMemory(root fs.FS) (memoryLeft, error) {
	groups, err := findGroups(root, self, controlMemory)
	if err != nil {
		return memoryLeft{}, err
	}
	var left memoryLeft
	for _, g := range groups {
		bytes, limited, err := g.memory(root)
		if err != nil {
			return memoryLeft{}, fmt.Errorf("/%s: %w", g.dir, err)
		}
		if limited && (!left.limited || bytes < left.bytes) {
			left = memoryLeft{bytes: bytes, limited: true, at: "/" + g.dir}
		}
	}
	return left, nil
}

// memory returns how many bytes the group's limit leaves; limited is false without
// a limit. Inactive file pages do not count as used: the kernel reclaims them
// before it refuses memory.
func (g group) memory(root fs.FS) (left int64, limited bool, err error) {
	limits, usage, cached := []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
	if !g.v2 {
		limits, usage, cached = []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
	}
	limit := uint64(noMemoryLimit)
	for _, name := range limits {
		text, err := readWord(root, path.Join(g.dir, name))
		if errors.Is(err, fs.ErrNotExist) || text == "max" {
			continue
		}
		if err != nil {
			return 0, false, err
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, false, fmt.Errorf("%s %q is not a number", name, text)
		}
		limit = min(limit, n)
	}
	if limit == noMemoryLimit {
		return 0, false, nil
	}
	text, err := readWord(root, path.Join(g.dir, usage))
	if err != nil {
		return 0, false, err // a limit without it is not used
	}
	used, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, false, fmt.Errorf("%s %q is not a number", usage, text)
	}
	stat, err := fs.ReadFile(root, path.Join(g.dir, "memory.stat"))
	if err != nil {
		return 0, false, err
	}
	if files, ok := counter(stat, cached); ok {
		used -= min(used, files)
	}
	return int64(limit - min(limit, used)), true, nil
}

// MemoryAvailable returns how many bytes of memory this process can still get
// without swapping: what the machine has available, or less if a control group,
// its own or one above, leaves less. ok is false if neither can be read.
func MemoryAvailable() (bytes int64, ok bool) { return machine{hostRoot()}.memoryAvailable() }

func (m machine) memoryAvailable() (bytes int64, ok bool) {
	kb, err := m.kibibytes("MemAvailable")
	bytes, ok = int64(kb)<<10, err == nil
	if left, err := readMemory(m.root); err == nil && left.limited && (!ok || left.bytes < bytes) {
		bytes, ok = left.bytes, true
	}
	return bytes, ok
}
