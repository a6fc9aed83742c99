package selftest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

func floorOf(rate float64, size int64, at time.Time, id string) result.Floor {
	return result.Floor{ID: id, At: at, Pattern: "deliver", Rate: rate, Size: size,
		Percentiles: map[result.Metric]map[result.Percentile]int64{result.DeliveryResponse: {"50": 80_000}}}
}

func TestFloorIsFoundForLikeLoads(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	here := MachineKey{CPU: "a", Processors: 2, Kernel: "6.1"}
	other, updated := here, here
	other.Processors, updated.Kernel = 4, "6.2"
	s := FloorStore{filepath.Join(t.TempDir(), "sub", FloorFile)}
	keep := func(m MachineKey, f result.Floor, disturbed string) bool {
		t.Helper()
		kept, _, err := s.Keep(m, f, disturbed)
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	if found, err := s.Find(here, "deliver", 1000, 256, now); err != nil || found.Floor != nil || found.Note != "" {
		t.Fatalf("an empty store has %+v, %v", found, err)
	}
	keep(here, floorOf(1000, 256, now.Add(-48*time.Hour), "old"), "")
	keep(here, floorOf(1000, 256, now.Add(-24*time.Hour), "new"), "")
	keep(here, floorOf(1500, 256, now.Add(-time.Hour), "near"), "")
	keep(other, floorOf(20_000, 256, now, "elsewhere"), "")
	keep(here, floorOf(100_000, 256, now.Add(-31*24*time.Hour), "ancient"), "")
	keep(updated, floorOf(300_000, 256, now, "kernel"), "")
	keep(here, floorOf(7, 256, now, "loud"), "others used the processors")
	for _, tt := range []struct {
		pattern string
		rate    float64
		size    int64
		want    string // the floor's
		note    string
	}{
		{"deliver", 1000, 256, "new", ""},
		{"deliver", 2000, 512, "near", ""}, // 1.33 times the rate is nearer than twice
		{"deliver", 1000, 513, "", ""},
		{"deliver", 499, 256, "", ""},
		{"publish", 1000, 256, "", ""},
		{"deliver", 20_000, 256, "", ""},
		{"deliver", 100_000, 256, "", "31 days old"},
		{"deliver", 300_000, 256, "", "another kernel"},
		{"deliver", 7, 256, "loud", "too high"},
		{"deliver", 0, 256, "", ""},
	} {
		found, err := s.Find(here, tt.pattern, tt.rate, tt.size, now)
		if err != nil {
			t.Fatal(err)
		}
		id := ""
		if found.Floor != nil {
			id = found.Floor.ID
		}
		if id != tt.want || (tt.note == "") != (found.Note == "") || !strings.Contains(found.Note, tt.note) {
			t.Errorf("%+v: found %q, %q", tt, id, found.Note)
		}
	}
	if keep(here, floorOf(1000, 256, now, "disturbed"), "steal") {
		t.Error("a disturbed floor took the place of an undisturbed one")
	}
	if !keep(here, floorOf(1000, 256, now, "quiet"), "") {
		t.Error("an undisturbed one was not kept")
	}
}

// A damaged file loses only its damaged lines, and the next Keep drops them.
func TestDamagedFloors(t *testing.T) {
	now := time.Now()
	m := MachineKey{CPU: "a"}
	s := FloorStore{filepath.Join(t.TempDir(), FloorFile)}
	if _, _, err := s.Keep(m, floorOf(10, 10, now, "x"), ""); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path, append([]byte("{\"machine\":{}}\nnonsense\n\n"), append(text, text[:len(text)/2]...)...), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := s.Find(m, "deliver", 10, 10, now)
	if err != nil || found.Floor == nil || found.Floor.ID != "x" || found.Damaged != 3 {
		t.Errorf("%+v, %v", found, err)
	}
	if _, damaged, err := s.Keep(m, floorOf(1000, 10, now, "y"), ""); err != nil || damaged != 3 {
		t.Errorf("%d damaged, %v", damaged, err)
	}
	if found, err := s.Find(m, "deliver", 10, 10, now); err != nil || found.Floor == nil || found.Damaged != 0 {
		t.Errorf("after mending: %+v, %v", found, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(s.Path)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: a temporary file was left", entries, err)
	}
}

func TestStoreIsBounded(t *testing.T) {
	s := FloorStore{filepath.Join(t.TempDir(), FloorFile)}
	var text []byte
	for i := range linesKept + 2 {
		line, err := json.Marshal(keptFloor{Floor: floorOf(float64(i+1), 10, time.Unix(int64(i), 0), "x")})
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	if err := os.WriteFile(s.Path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Keep(MachineKey{}, floorOf(linesKept+3, 10, time.Unix(linesKept+2, 0), "x"), ""); err != nil {
		t.Fatal(err)
	}
	all, _, err := s.read()
	if err != nil || len(all) != linesKept || all[0].Floor.Rate != 4 {
		t.Errorf("%d floors, %v", len(all), err)
	}
}
