package vitals

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree makes a root of files from pairs of name and content.
func tree(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

const (
	mountV2     = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountV1     = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	mountPart   = "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	mountHybrid = mountV1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)

func TestFindGroups(t *testing.T) {
	for _, c := range []struct {
		name, own, mounts string
		want              []string
		v2                bool
	}{
		{"v2, nested", "0::/user.slice/a.scope\n", mountV2, []string{"sys/fs/cgroup/user.slice/a.scope", "sys/fs/cgroup/user.slice", "sys/fs/cgroup"}, true},
		{"v2, in a namespace", "0::/\n", mountV2, []string{"sys/fs/cgroup"}, true},
		{"v2, outside the namespace", "0::/../other\n", mountV2, []string{"sys/fs/cgroup"}, true},
		{"v1, nested", "4:memory:/m\n1:cpu,cpuacct:/a/b\n", mountV1, []string{"sys/fs/cgroup/cpu,cpuacct/a/b", "sys/fs/cgroup/cpu,cpuacct/a", "sys/fs/cgroup/cpu,cpuacct"}, false},
		{"v1, part of the tree mounted", "1:cpu:/docker/abc/x\n", mountPart, []string{"sys/fs/cgroup/cpu/x", "sys/fs/cgroup/cpu"}, false},
		{"v1, another part mounted", "1:cpu:/docker/abcdef\n", mountPart, []string{"sys/fs/cgroup/cpu"}, false},
		{"blank in a name", "0::/a b\n", strings.ReplaceAll(mountV2, "/sys/fs/cgroup", `/my\040groups`), []string{"my groups/a b", "my groups"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			groups, err := findGroups(tree("proc/self/cgroup", c.own, "proc/self/mountinfo", c.mounts), self, controlCPU)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range groups {
				got = append(got, g.dir)
				if g.v2 != c.v2 || !fs.ValidPath(g.dir) {
					t.Errorf("group %+v", g)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestFindGroupsOfBothVersions(t *testing.T) {
	groups, err := findGroups(tree("proc/self/cgroup", "1:cpu,cpuacct:/a\n0::/b\n", "proc/self/mountinfo", mountHybrid), self, controlCPU)
	if err != nil || len(groups) != 4 {
		t.Errorf("%v, %v; want two of each version", groups, err)
	}
}

func TestFindGroupsSaysWhyNot(t *testing.T) {
	for name, root := range map[string]fs.FS{
		"no files":     tree(),
		"no mountinfo": tree("proc/self/cgroup", "0::/\n"),
		"no mount":     tree("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mountV1),
		"nonsense":     tree("proc/self/cgroup", "x\n\n:\n", "proc/self/mountinfo", "y - \n -\n"),
	} {
		if g, err := findGroups(root, self, controlCPU); err == nil {
			t.Errorf("%s: %v without an error", name, g)
		}
	}
}

func TestQuotaIsTheTightestOfAllAncestors(t *testing.T) {
	base := []string{"proc/self/cgroup", "0::/a/b\n", "proc/self/mountinfo", mountV2}
	for _, c := range []struct {
		name    string
		files   []string
		want    cpuQuota
		failing bool
	}{
		{"none", []string{"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}, cpuQuota{groups: 3}, false},
		{"its own", []string{"sys/fs/cgroup/a/b/cpu.max", "150000 100000\n"}, cpuQuota{cores: 1.5, limited: true, at: "/sys/fs/cgroup/a/b", groups: 3}, false},
		{"an ancestor's", []string{"sys/fs/cgroup/a/b/cpu.max", "max 100000\n", "sys/fs/cgroup/a/cpu.max", "50000 100000\n"},
			cpuQuota{cores: 0.5, limited: true, at: "/sys/fs/cgroup/a", groups: 3}, false},
		{"several", []string{"sys/fs/cgroup/a/b/cpu.max", "200000 100000\n", "sys/fs/cgroup/a/cpu.max", "300000 100000\n", "sys/fs/cgroup/cpu.max", "100000 100000\n"},
			cpuQuota{cores: 1, limited: true, at: "/sys/fs/cgroup", groups: 3}, false},
		{"nonsense", []string{"sys/fs/cgroup/a/cpu.max", "much\n"}, cpuQuota{}, true},
		{"no period", []string{"sys/fs/cgroup/a/cpu.max", "1000 0\n"}, cpuQuota{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readQuota(tree(append(base[:len(base):len(base)], c.files...)...))
			if (err != nil) != c.failing || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestQuotaOfVersion1(t *testing.T) {
	root := tree("proc/self/cgroup", "1:cpu,cpuacct:/a\n", "proc/self/mountinfo", mountV1,
		"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n",
		"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "25000\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "50000\n")
	root["proc/self/ns/cgroup"] = &fstest.MapFile{Data: []byte("cgroup:[4026532000]"), Mode: fs.ModeSymlink}
	got, err := readQuota(root)
	want := cpuQuota{cores: 0.5, limited: true, at: "/sys/fs/cgroup/cpu,cpuacct/a", groups: 2, hidden: true}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestProcessorsOfAQuota(t *testing.T) {
	for _, c := range []struct {
		q       cpuQuota
		n, want int
	}{
		{cpuQuota{}, 64, 64},
		{cpuQuota{cores: 1, limited: true}, 64, 1},
		{cpuQuota{cores: 1.5, limited: true}, 64, 2},
		{cpuQuota{cores: 0.2, limited: true}, 64, 1},
		{cpuQuota{cores: 8, limited: true}, 4, 4},
	} {
		if got := c.q.processors(c.n); got != c.want {
			t.Errorf("%+v of %d: %d, want %d", c.q, c.n, got, c.want)
		}
	}
}

// The memory left is the least of all groups, the process's own and its ancestors, and
// of the machine.
func TestMemoryLeftByControlGroups(t *testing.T) {
	const (
		a    = "sys/fs/cgroup/a/"
		b    = "sys/fs/cgroup/a/b/"
		old  = "sys/fs/cgroup/memory/"
		stat = "anon 5\ninactive_file 1048576\nactive_file 7\n"
	)
	unlimited := "9223372036854771712\n"
	v2 := []string{"proc/self/cgroup", "0::/a/b\n", "proc/self/mountinfo", mountV2}
	v1 := []string{"proc/self/cgroup", "3:memory:/m/n\n1:cpu,cpuacct:/x\n", "proc/self/mountinfo", mountV1}
	hybrid := []string{"proc/self/cgroup", "3:memory:/m\n1:cpu,cpuacct:/x\n0::/u\n", "proc/self/mountinfo", mountHybrid}
	for _, c := range []struct {
		name    string
		base    []string
		files   []string
		want    memoryLeft
		failing bool
	}{
		{"none", v2, []string{b + "memory.max", "max\n", b + "memory.high", "max\n"}, memoryLeft{}, false},
		{"no files", v2, nil, memoryLeft{}, false},
		{"its own", v2, []string{b + "memory.max", "8388608\n", b + "memory.high", "max\n", b + "memory.current", "3145728\n", b + "memory.stat", stat},
			memoryLeft{6 << 20, true, "/sys/fs/cgroup/a/b"}, false},
		{"high before max", v2, []string{b + "memory.max", "8388608\n", b + "memory.high", "4194304\n", b + "memory.current", "3145728\n", b + "memory.stat", stat},
			memoryLeft{2 << 20, true, "/sys/fs/cgroup/a/b"}, false},
		{"an ancestor's", v2, []string{b + "memory.max", "max\n", a + "memory.max", "2097152\n", a + "memory.current", "0\n", a + "memory.stat", ""},
			memoryLeft{2 << 20, true, "/sys/fs/cgroup/a"}, false},
		{"the ancestor has less", v2, []string{b + "memory.max", "2097152\n", b + "memory.current", "0\n", b + "memory.stat", "",
			a + "memory.max", "4194304\n", a + "memory.current", "3145728\n", a + "memory.stat", ""},
			memoryLeft{1 << 20, true, "/sys/fs/cgroup/a"}, false},
		{"used up", v2, []string{b + "memory.max", "2097152\n", b + "memory.current", "9097152\n", b + "memory.stat", ""},
			memoryLeft{0, true, "/sys/fs/cgroup/a/b"}, false},
		{"version 1, an ancestor's", v1, []string{old + "m/n/memory.limit_in_bytes", unlimited, old + "m/memory.limit_in_bytes", "4194304\n",
			old + "m/memory.usage_in_bytes", "3145728\n", old + "m/memory.stat", "inactive_file 5\ntotal_inactive_file 1048576\n", old + "memory.limit_in_bytes", unlimited},
			memoryLeft{2 << 20, true, "/sys/fs/cgroup/memory/m"}, false},
		{"hybrid", hybrid, []string{old + "m/memory.limit_in_bytes", "4194304\n", old + "m/memory.usage_in_bytes", "0\n", old + "m/memory.stat", ""},
			memoryLeft{4 << 20, true, "/sys/fs/cgroup/memory/m"}, false},
		{"nonsense", v2, []string{a + "memory.max", "much\n"}, memoryLeft{}, true},
		{"a limit without a use", v2, []string{a + "memory.max", "5\n"}, memoryLeft{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(append(c.base[:len(c.base):len(c.base)], c.files...)...)
			got, err := readMemory(root)
			if (err != nil) != c.failing || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
			root["proc/meminfo"] = &fstest.MapFile{Data: []byte("MemTotal: 9000 kB\nMemAvailable: 5120 kB\n")}
			want := int64(5 << 20)
			if c.want.limited {
				want = min(want, c.want.bytes)
			}
			if bytes, ok := (machine{root}).memoryAvailable(); !ok || bytes != want {
				t.Errorf("%d available, %v; want %d", bytes, ok, want)
			}
		})
	}
	if bytes, ok := (machine{tree()}).memoryAvailable(); ok {
		t.Errorf("%d available where nothing tells", bytes)
	}
}

func FuzzFindGroups(f *testing.F) {
	f.Add("0::/a/b\n", mountV2)
	f.Add("1:cpu:/docker/abc/x\n", mountPart)
	f.Add("0::/..\n", mountHybrid)
	f.Fuzz(func(t *testing.T, own, mounts string) {
		groups, err := findGroups(tree("proc/self/cgroup", own, "proc/self/mountinfo", mounts), self, controlCPU)
		if (err == nil) != (len(groups) > 0) {
			t.Errorf("%d groups, error %v", len(groups), err)
		}
	})
}
