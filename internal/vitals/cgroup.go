package vitals

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// group is one control group that holds the process: its own or an ancestor.
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

// findGroups returns the control groups that can limit this process's CPU, of
// both versions, each from the process's own up to the topmost one in sight. A
// limit anywhere among them binds.
func findGroups(root fs.FS) ([]group, error) {
	own, err := fs.ReadFile(root, "proc/self/cgroup")
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
		if !v2 && !slices.Contains(strings.Split(part[1], ","), "cpu") {
			continue
		}
		if mount, ok := findMount(string(mounts), v2); ok {
			groups = append(groups, mount.upwards(part[2], v2)...)
		}
	}
	if len(groups) == 0 {
		return nil, errors.New("no control group hierarchy for the CPU is mounted")
	}
	return groups, nil
}

// mount is where a hierarchy can be seen: the group top appears as dir.
type mount struct{ dir, top string }

// findMount looks for version 2's hierarchy, or version 1's of the CPU.
func findMount(mountinfo string, v2 bool) (mount, bool) {
	for l := range strings.Lines(mountinfo) {
		// id parent device top dir options optional… - type source superoptions
		left, right, ok := strings.Cut(strings.TrimSpace(l), " - ")
		a, b := strings.Fields(left), strings.Fields(right)
		if !ok || len(a) < 5 || len(b) < 3 {
			continue
		}
		if v2 && b[0] == "cgroup2" || !v2 && b[0] == "cgroup" && slices.Contains(strings.Split(b[2], ","), "cpu") {
			return mount{dir: strings.TrimPrefix(unescape(a[4]), "/"), top: unescape(a[3])}, true
		}
	}
	return mount{}, false
}

// unescape undoes mountinfo's octal escapes of blanks.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// upwards lists the groups from the one at p up to the mount's top. In a
// container that sees the host's path but mounts its own group alone, the
// path is cut at the top; a path outside the mount leaves the top itself.
func (m mount) upwards(p string, v2 bool) []group {
	relative := path.Clean("/" + p)
	if m.top != "/" {
		below, ok := strings.CutPrefix(relative, m.top)
		if !ok || below != "" && below[0] != '/' {
			below = ""
		}
		relative = path.Clean("/" + below)
	}
	if strings.HasPrefix(p, "/..") { // outside the namespace: not to be seen
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

// cpuQuota is the tightest CPU quota over all control groups in sight.
type cpuQuota struct {
	cores   float64
	limited bool
	at      string // the group that sets it
	groups  int    // how many were looked at
	// hidden: the process is in a control group namespace of its own, so
	// groups above it may limit it unseen.
	hidden bool
}

// readQuota looks at all groups. Groups without the files of a quota have none.
func readQuota(root fs.FS) (cpuQuota, error) {
	groups, err := findGroups(root)
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
