package journal

import (
	"bytes"
	"cmp"
	"context"
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

// State is what became of a record that an ended process left.
type State string

// The states.
const (
	ToUndo  State = "to undo"         // Left only looked, or it is undone where somebody asks for it
	Undone  State = "undone"          // it was restored now
	Nothing State = "nothing to undo" // what it is about is gone, or was never made
	Kept    State = "kept"            // it could not be undone, or not be understood; Err says why
)

// Finding is a record of a process that has ended without undoing it, or a file that cannot be read.
type Finding struct {
	File  string    // the journal
	PID   int       // the process that made it; 0: unknown
	At    time.Time // of the process's first record, by the wall clock; zero: unknown
	For   string    // for what the act was; empty: unknown
	Text  string    // the step: "continue process 4711 (nats-1)"; of an entry that cannot be read: what it is
	State State
	Asked bool  // it is undone only where somebody asks for it, see [Kind]
	Err   error // why it is kept
}

// undoLimit is how long one undoing may take.
const undoLimit = 30 * time.Second

// Left returns what processes that have ended left in the directory's journals, by journal, the latest
// record first. It changes nothing. Journals of processes that live are not read.
func Left(dir string, kinds []Kind) ([]Finding, error) {
	return each(context.Background(), dir, kinds, false)
}

// Recover undoes what processes that have ended left, the latest record of each first, and erases the
// records of what is undone. What fails is kept, as are records of kinds that are not among kinds, and the
// others are still undone. Several processes may recover at once. A file whose records are all erased is
// removed. Records of kinds that are undone where somebody asks for it are left as they are. The error is about the directory; what is about a record is in its Finding.
func Recover(ctx context.Context, dir string, kinds []Kind) ([]Finding, error) {
	return each(ctx, dir, kinds, true)
}

// each goes through the journals of processes that have ended.
func each(ctx context.Context, dir string, kinds []Kind, clean bool) ([]Finding, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || dir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Finding
	var errs []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := filelock.Open(path)
		switch {
		case errors.Is(err, filelock.ErrBusy):
			continue // its process lives, or another one recovers it
		case err != nil:
			errs = append(errs, err)
			continue
		}
		if current(f) { // else another process has recovered and removed it
			found, err := read(ctx, f, kinds, clean)
			all, errs = append(all, found...), append(errs, err)
		}
		errs = append(errs, f.Close())
	}
	return all, errors.Join(errs...)
}

// read goes through one journal, which is locked.
func read(ctx context.Context, f *os.File, kinds []Kind, clean bool) ([]Finding, error) {
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	// A last line without its end was being written when the process ended: what it was to note was
	// not done.
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if clean && len(whole) < len(text) {
		if err := f.Truncate(int64(len(whole))); err != nil {
			return nil, err
		}
	}
	if len(text) == 0 || clean && len(whole) == 0 {
		return nil, os.Remove(f.Name()) // an empty one may have been made by opening it
	}
	if len(whole) == 0 {
		return nil, nil
	}
	first, rest, _ := bytes.Cut(whole, []byte("\n"))
	kept := func(what string, err error) Finding {
		return Finding{File: f.Name(), Text: what, State: Kept, Err: err}
	}
	var is struct { // a later format may have any other fields
		Format int `json:"sixnines_journal"`
	}
	var h header
	switch err := cmp.Or(json.Unmarshal(first, &is), strictly(first, &h)); {
	case is.Format != 0 && is.Format != format:
		return []Finding{kept("a journal", fmt.Errorf("it is of another sixnines (format %d, this one knows %d); recover it with that one, or remove it", is.Format, format))}, nil
	case err != nil || is.Format == 0:
		return []Finding{kept("a journal", fmt.Errorf("its first line is damaged (%.80q), so nothing says whose it is; look at it, then remove it", first))}, nil
	}
	found := records(rest)
	remains := len(found)
	slices.Reverse(found)
	var all []Finding
	var errs []error
	for _, r := range found {
		x := Finding{File: f.Name(), PID: h.PID, At: h.At, For: r.line.For, Text: r.text, Err: r.err}
		x.Asked = slices.ContainsFunc(kinds, func(k Kind) bool { return k.Name == r.line.Kind && k.Asked })
		x.State, x.Text, x.Err = r.recover(ctx, h, kinds, clean && !x.Asked)
		all = append(all, x)
		if clean && x.State != Kept && x.State != ToUndo {
			remains--
			errs = append(errs, add(f, line{Number: r.line.Number, Over: true}))
		}
	}
	if clean && remains == 0 {
		errs = append(errs, os.Remove(f.Name()))
	}
	return all, errors.Join(errs...)
}

// record is a line of a journal that is not erased.
type record struct {
	line line
	text string // the line, where it cannot be read
	err  error  // why
}

// records returns what is not erased, in order.
func records(text []byte) (all []record) {
	for of := range bytes.Lines(text) {
		var l line
		of = bytes.TrimSpace(of)
		switch err := strictly(of, &l); {
		case err != nil:
			all = append(all, record{text: fmt.Sprintf("the damaged line %.80q", of), err: fmt.Errorf("it cannot be read: %w; look at it, then remove the file", err)})
		case l.Over:
			all = slices.DeleteFunc(all, func(r record) bool { return r.err == nil && r.line.Number == l.Number })
		default:
			all = append(all, record{line: l})
		}
	}
	return all
}

// recover undoes one record, if clean, and returns what became of it, and what it is.
func (r record) recover(ctx context.Context, h header, kinds []Kind, clean bool) (State, string, error) {
	if r.err != nil {
		return Kept, r.text, r.err
	}
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == r.line.Kind })
	if i < 0 {
		return Kept, fmt.Sprintf("a record of the kind %q", r.line.Kind), errors.New("this sixnines does not know the kind; recover it with the one that wrote it, or remove the file")
	}
	u := kinds[i].New()
	if err := strictly(r.line.Act, u); err != nil {
		return Kept, fmt.Sprintf("a record of the kind %q", r.line.Kind), fmt.Errorf("it is damaged, or of a newer sixnines: %w; recover it with the one that wrote it, or remove the file", err)
	}
	boot, err := pid.Boot()
	if err != nil {
		return Kept, u.String(), err
	}
	host, err := os.Hostname()
	if err != nil {
		return Kept, u.String(), err
	}
	switch {
	case boot != h.Boot && host != h.Host:
		return Kept, u.String(), fmt.Errorf("it was noted on %s, and can be undone only there", cmp.Or(h.Host, "another machine"))
	case boot == h.Boot && pid.Space() != h.Space:
		return Kept, u.String(), fmt.Errorf("it was noted in another container of this machine (%s), and can be undone only there", cmp.Or(h.Host, "unnamed"))
	case boot != h.Boot && !kinds[i].Lasting:
		return Nothing, u.String(), nil // the machine was started again since
	case !clean:
		return ToUndo, u.String(), nil
	}
	limited, cancel := context.WithTimeout(ctx, undoLimit)
	defer cancel()
	did, err := undo(limited, u)
	switch {
	case err != nil:
		return Kept, u.String(), err
	case !did:
		return Nothing, u.String(), nil
	}
	return Undone, u.String(), nil
}

// strictly reads one JSON value without unknown fields: what a newer version has added to a record may
// change what must be undone.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	return nil
}
