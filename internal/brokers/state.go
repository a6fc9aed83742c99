package brokers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sixnines/internal/filelock"
	"sixnines/internal/pid"
)

// State is the record of a product that outlives the process that started it, so
// that other processes find it: see [Up]. It is stored as a file below the home.
type State struct {
	Product string            `json:"product"`
	Version string            `json:"version"`
	Origin  string            `json:"origin"`
	URL     string            `json:"url"`
	URLs    map[string]string `json:"urls,omitempty"` // by driver, where it differs
	Info    map[string]string `json:"info,omitempty"`
	Access  map[string]Access `json:"access,omitempty"` // by driver, of a secured one
	Asked   Asked             `json:"asked"`
	Dir     string            `json:"dir"`     // configuration, data and logs
	OwnDir  bool              `json:"own_dir"` // Dir was made for it
	Started time.Time         `json:"started"` // by the wall clock
	Host    string            `json:"host"`    // the machine's name
	Boot    string            `json:"boot"`    // which start of the machine
	Ready   bool              `json:"ready"`   // it has answered
	List    []Process         `json:"processes"`
}

// Asked has the options with which a product was started.
type Asked struct {
	Nodes    int               `json:"nodes"`
	Port     int               `json:"port,omitempty"`
	Dir      string            `json:"dir,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	Secured  bool              `json:"secured,omitempty"`
}

// Process is one of a product's processes.
type Process struct {
	Name  string `json:"name"`
	PID   int    `json:"pid"`
	Start string `json:"start"` // distinguishes it from others with its number, see pid.Start
	Log   string `json:"log"`
	Node  bool   `json:"node"` // else a helper
}

// Condition says how a product that was started is doing.
type Condition string

// The conditions of a product.
const (
	Running   Condition = "running"   // all processes live, and it has answered
	Starting  Condition = "starting"  // all live; it has not answered yet, or the process that started it has ended
	Damaged   Condition = "damaged"   // some processes have ended by themselves
	Gone      Condition = "gone"      // all have ended: a crash, or the machine was rebooted
	Elsewhere Condition = "elsewhere" // it was started on another machine that shares this home
)

// stateFile is where the product's state is written.
func stateFile(h Home, product string) string { return h.Path("run", product+".json") }

// alive reports whether the process runs and is the one that was started, not a later
// one with its number.
func (s *State) alive(p Process) bool {
	boot, err := pid.Boot()
	return err == nil && boot == s.Boot && pid.Alive(p.PID, p.Start)
}

// Alive returns the processes that run.
func (s *State) Alive() []Process {
	var all []Process
	for _, p := range s.List {
		if s.alive(p) {
			all = append(all, p)
		}
	}
	return all
}

// Condition checks the processes and returns how the product is doing.
func (s *State) Condition() Condition {
	if host, err := os.Hostname(); err == nil && host != s.Host {
		return Elsewhere
	}
	switch alive := len(s.Alive()); {
	case alive == 0:
		return Gone
	case alive < len(s.List):
		return Damaged
	case !s.Ready:
		return Starting
	}
	return Running
}

// URLFor returns where clients of the driver connect.
func (s *State) URLFor(driver string) string {
	if url, ok := s.URLs[driver]; ok {
		return url
	}
	return s.URL
}

// Usage reads what the process has consumed. The error wraps [os.ErrNotExist]
// if it has ended.
func (s *State) Usage(p Process) (Usage, error) {
	if !s.alive(p) {
		return Usage{}, fmt.Errorf("brokers: usage of %s (process %d): %w", p.Name, p.PID, os.ErrNotExist)
	}
	return usage(p.PID)
}

// ReadState returns the stored state of the product, nil if it has none. A file that
// cannot be parsed is an error.
func ReadState(h Home, product string) (*State, error) {
	path := stateFile(h, product)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("brokers: %w", err)
	}
	s, err := parseState(text)
	if err == nil && s.Product != product {
		err = fmt.Errorf("it belongs to %q", s.Product)
	}
	if err != nil {
		return nil, fmt.Errorf("brokers: %s is not the record of a running broker: %w; if sixnines runs no %s, remove it", path, err, product)
	}
	return s, nil
}

// parseState reads a state file.
func parseState(text []byte) (*State, error) {
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		return nil, fmt.Errorf("its directory %q is relative", s.Dir)
	}
	for _, p := range s.List {
		// Signals to 0 and below go to whole groups.
		if p.PID <= 1 || p.Start == "" {
			return nil, fmt.Errorf("process %q has the id %d and the start time %q", p.Name, p.PID, p.Start)
		}
	}
	return &s, nil
}

// States returns the stored states of all products, ordered by name.
func States(h Home) ([]*State, error) {
	entries, err := os.ReadDir(h.Path("run"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("brokers: %w", err)
	}
	var all []*State
	for _, e := range entries {
		product, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(product, ".") {
			continue
		}
		s, err := ReadState(h, product)
		if err != nil {
			return nil, err
		}
		if s != nil {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *State) int { return strings.Compare(a.Product, b.Product) })
	return all, nil
}

// write stores the state atomically: ReadState finds the old or the new one. The file is
// readable by its owner only, because settings may contain passwords.
func (s *State) write(h Home) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return filelock.Replace(stateFile(h, s.Product), 0o600, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
}
