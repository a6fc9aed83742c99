// Package disk makes file systems that can fail: ext4 in an image file that it creates, on a loop device. A power
// failure drops exactly what was not synced, and the image's size bounds what filling it costs. The disks of
// the machine do not fail, and nothing outside the image is touched.
//
// It needs Linux, the rights of root, loop devices, ext4 in the kernel and mkfs.ext4. Elsewhere [Check]
// says what is missing.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sixnines/internal/clock"
	"sixnines/internal/journal"
)

// ErrUnavailable says that file systems of our own cannot be made here. Errors that wrap it say why, and
// what would help.
var ErrUnavailable = errors.New("no file system of our own can be made here")

// Kinds are the kinds of records in the journal.
func Kinds() []journal.Kind {
	return []journal.Kind{{Name: kind, New: func() journal.Undoing { return new(Made) }, Lasting: true}}
}

const kind = "filesystem"

// Made is a file system as the journal has it. Undo unmounts it, detaches its loop device and removes the
// image.
type Made struct {
	Image string `json:"image"` // the file with the file system; its name begins with our mark
	Dir   string `json:"dir"`   // where it is mounted
}

// Kind is the name of the kind.
func (*Made) Kind() string { return kind }

func (m *Made) String() string { return "unmount " + m.Dir + " and remove its image " + m.Image }

// Check refuses images that are not named as ours are.
func (m *Made) Check() error {
	if !filepath.IsAbs(m.Image) || !filepath.IsAbs(m.Dir) || !strings.HasPrefix(filepath.Base(m.Image), journal.Mark+"-") || filepath.Ext(m.Image) != ".ext4" {
		return fmt.Errorf("%s at %s is no file system that sixnines has made", m.Image, m.Dir)
	}
	return nil
}

// Flip is a bit of a file that was turned over.
type Flip struct {
	File   string // below the directory, with slashes
	Offset int64  // of the byte
	Bit    int    // in the byte, from 0, the lowest
	At     int64  // just before it was written, CLOCK_MONOTONIC
}

func (f Flip) String() string { return fmt.Sprintf("%s, byte %d, bit %d", f.File, f.Offset, f.Bit) }

// Corrupt turns over bits, drawn by the generator from all bits of the files below dir whose name, or whose
// path below dir, matches the pattern of [path.Match]. Each change is synced. No bit is drawn twice. It fails, having
// changed nothing, if no file matches or they have too few bits.
func Corrupt(dir, pattern string, bits int, draw *rand.Rand) ([]Flip, error) {
	type file struct {
		name string
		size int64
	}
	var files []file
	var total int64
	err := filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile by the process whose file it is
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		whole, err := path.Match(pattern, name)
		if err != nil {
			return fmt.Errorf("%q is no pattern for names of files: %w", pattern, err)
		}
		if base, _ := path.Match(pattern, path.Base(name)); !whole && !base {
			return nil
		}
		info, err := e.Info()
		if err == nil && info.Size() > 0 {
			files, total = append(files, file{name, info.Size()}), total+info.Size()
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0:
		return nil, fmt.Errorf("no file with anything in it matches %q", pattern)
	case total*8 < int64(bits):
		return nil, fmt.Errorf("the files that match %q have fewer than %d bits", pattern, bits)
	}
	var flips []Flip
	drawn := map[int64]bool{}
	for len(flips) < bits {
		n := draw.Int64N(total * 8)
		if drawn[n] {
			continue
		}
		drawn[n] = true
		offset := n / 8
		for _, f := range files {
			if offset >= f.size {
				offset -= f.size
				continue
			}
			flip := Flip{File: f.name, Offset: offset, Bit: int(n % 8)}
			if err := flip.do(dir); err != nil {
				return flips, err
			}
			flips = append(flips, flip)
			break
		}
	}
	return flips, nil
}

// do turns the bit over, and notes when.
func (f *Flip) do(dir string) (err error) {
	file, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(f.File)), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var b [1]byte
	if _, err := file.ReadAt(b[:], f.Offset); err != nil {
		return err
	}
	b[0] ^= 1 << f.Bit
	f.At = clock.Now()
	if _, err := file.WriteAt(b[:], f.Offset); err != nil {
		return err
	}
	return file.Sync()
}
