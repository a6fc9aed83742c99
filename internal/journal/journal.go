// Package journal keeps, outside of the process, how to undo what the process is about to do to the
// machine: a stopped process, a mounted file system, a rule of the network. Each record is written and
// synced before the act, and erased when the act is undone. What a killed process did not undo, another
// one does, see [Recover].
//
// A record is data: a kind and what it is about. Each package that changes the machine has its kinds,
// each an [Undoing] with a [Kind], and undoes by them in every case, so that what undoes after a crash is
// what undoes after each run. The program lists all kinds in one place and hands them to Recover.
//
// Each process has one file, named after the process. The process keeps the file locked as long as it
// lives; the system ends the lock with the process, so a file without a lock is of a process that has
// ended. The file is made with the first record: a process that notes nothing leaves nothing.
package journal

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sixnines/internal/filelock"
	"sixnines/internal/pid"
)

// Mark is the beginning of the names of all that Sixnines makes outside of its own directories.
const Mark = "sixnines"

// Undoing says how to undo one act. Its JSON is what the journal keeps. A pointer to a struct
// whose fields have JSON names.
type Undoing interface {
	// Kind is the name of its Kind, as the journal has it.
	Kind() string
	// Check returns why it cannot be of Sixnines: what it is about lacks our mark, or is
	// incomplete. It is called before the record is written, and before Undo.
	Check() error
	// Undo restores what was before the act, and reports whether there was anything to restore. It must
	// not fail, and must do nothing, if the act was never done, done in part or undone before, and must
	// touch nothing that Sixnines has not made.
	Undo(ctx context.Context) (did bool, err error)
	// String says what Undo does, such as "continue process 4711 (nats-1)".
	String() string
}

// Kind is a row of the table of kinds.
type Kind struct {
	Name string         // of what Undoing.Kind returns; it never changes
	New  func() Undoing // a pointer, into which JSON is read
	// Lasting says that the change outlives a restart of the machine, as files do.
	Lasting bool
	// Asked says that what an ended process left is undone only where somebody asks for it: it runs what a user wrote.
	Asked bool
}

// header is the first line of a file: whose it is.
type header struct {
	Format int       `json:"sixnines_journal"`
	PID    int       `json:"pid"`
	Start  string    `json:"start"` // of the process, see pid.Start
	Boot   string    `json:"boot"`  // of the machine, see pid.Boot
	Space  string    `json:"space"` // see pid.Space
	Host   string    `json:"host"`
	At     time.Time `json:"at"` // of the first record, by the wall clock
}

// format is the version of the files' format.
const format = 1

// line is any other line: a record, or that one was undone.
type line struct {
	Number int             `json:"n"`
	Kind   string          `json:"kind,omitempty"`
	For    string          `json:"for,omitempty"`  // what it was noted for, for people
	Act    json.RawMessage `json:"act,omitempty"`  // the Undoing
	Over   bool            `json:"over,omitempty"` // the record is erased
}

// suffix ends the names of journals.
const suffix = ".journal"

// Journal is what this process has noted. Its methods are safe for concurrent use.
type Journal struct {
	dir string

	mu   sync.Mutex // guards the rest
	file *os.File   // nil: nothing is noted
	last int        // number of the last record
	open []*Entry   // records that are not erased, in the order in which they were noted
}

// New returns a journal of this process whose file will be in the directory. It makes nothing. An empty
// directory means that there is no place to note anything, and each Note fails.
func New(dir string) *Journal { return &Journal{dir: dir} }

// Entry is a record that was noted.
type Entry struct {
	journal *Journal
	number  int
	undoing Undoing

	undoes sync.Mutex // held by the Undo that is under way
	over   bool       // it is erased; guarded by undoes
}

// Note writes and syncs how the act that comes next is undone. If it fails the act must not be done.
// The text says for what the act is, for people.
func (j *Journal) Note(what string, u Undoing) (*Entry, error) {
	fail := func(err error) (*Entry, error) { return nil, fmt.Errorf("note how to %s: %w", u, err) }
	if err := u.Check(); err != nil {
		return fail(err)
	}
	act, err := json.Marshal(u)
	if err != nil {
		return fail(err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		if err := j.create(); err != nil {
			return fail(err)
		}
	}
	e := &Entry{journal: j, number: j.last + 1, undoing: u}
	if err := errors.Join(add(j.file, line{Number: e.number, Kind: u.Kind(), For: what, Act: act}), j.file.Sync()); err != nil {
		return fail(err)
	}
	j.last = e.number
	j.open = append(j.open, e)
	return e, nil
}

// create makes the file of this process, locked, and writes whose it is. A process that clears the
// directory may remove the file before it is locked; then it is made again.
func (j *Journal) create() error {
	if j.dir == "" {
		return errors.New("there is no directory for it; set SIXNINES_HOME or HOME")
	}
	h := header{Format: format, PID: os.Getpid(), Space: pid.Space(), At: time.Now().Round(time.Second)}
	var err error
	if h.Start, err = pid.Start(h.PID); err != nil {
		return err
	}
	if h.Boot, err = pid.Boot(); err != nil {
		return err
	}
	if h.Host, err = os.Hostname(); err != nil {
		return err
	}
	// The random word tells journals apart that one process makes.
	for {
		name := fmt.Sprintf("%d-%s-%s", h.PID, pid.Machine(), random())
		f, err := filelock.Open(filepath.Join(j.dir, name+suffix))
		if errors.Is(err, filelock.ErrBusy) {
			continue
		}
		if err != nil {
			return err
		}
		if !current(f) {
			f.Close()
			continue
		}
		// Commands may hold what only the user is to read.
		if err := errors.Join(f.Chmod(0o600), add(f, h), syncDir(j.dir)); err != nil {
			return errors.Join(err, f.Close())
		}
		j.file = f
		return nil
	}
}

// Undo undoes the act and erases its record. Called again, or after Erase, it does nothing. If it fails, the
// record stays, and the next process that recovers tries again.
func (e *Entry) Undo(ctx context.Context) error {
	e.undoes.Lock()
	defer e.undoes.Unlock()
	if e.over {
		return nil
	}
	if _, err := undo(ctx, e.undoing); err != nil {
		return err
	}
	return e.erase()
}

// Erase erases the record of an act that was not done or is undone.
func (e *Entry) Erase() error {
	e.undoes.Lock()
	defer e.undoes.Unlock()
	if e.over {
		return nil
	}
	return e.erase()
}

// erase writes that the record is over; the caller holds undoes. It is not synced: to undo again does no harm.
func (e *Entry) erase() error {
	j := e.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := add(j.file, line{Number: e.number, Over: true}); err != nil {
		return fmt.Errorf("erase the note how to %s: %w", e.undoing, err)
	}
	e.over = true
	j.open = slices.DeleteFunc(j.open, func(o *Entry) bool { return o == e })
	return nil
}

// Close undoes what is not undone, the latest first, and removes the file if nothing is left. The journal
// may be used again.
func (j *Journal) Close(ctx context.Context) error {
	j.mu.Lock()
	open := slices.Clone(j.open)
	j.mu.Unlock()
	var errs []error
	for _, e := range slices.Backward(open) {
		if err := e.Undo(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.undoing, err))
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return errors.Join(errs...)
	}
	if len(j.open) == 0 {
		errs = append(errs, os.Remove(j.file.Name()))
	}
	errs = append(errs, j.file.Close())
	j.file, j.open = nil, nil
	return errors.Join(errs...)
}

// undo calls Undo after Check. A panic becomes an error: other records must still be undone.
func undo(ctx context.Context, u Undoing) (did bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	if err := u.Check(); err != nil {
		return false, err
	}
	return u.Undo(ctx)
}

// add appends a value as a line, or nothing if that fails.
func add(f *os.File, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(text, '\n')); err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	return nil
}

// current reports whether the open file is the one at its path, not one that was removed.
func current(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(mine, there)
}

// random returns a word that no other journal has.
func random() string {
	return strings.ToLower(rand.Text()[:10])
}
