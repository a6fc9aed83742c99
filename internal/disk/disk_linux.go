package disk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sixnines/internal/journal"
)

// LargestImage is the size of an image, in bytes, unless the disk that holds it has less than twice that
// free. The file is sparse: what is not written takes no space.
const LargestImage = 8 << 30

// smallestImage is the least size in bytes with which ext4 has a journal of a useful size.
const smallestImage = 16 << 20

// Check returns why no file system can be made here, an error that wraps [ErrUnavailable], or nil.
func Check() error {
	fail := func(format string, a ...any) error {
		return fmt.Errorf("%w: %s", ErrUnavailable, fmt.Sprintf(format, a...))
	}
	if os.Geteuid() != 0 {
		return fail("it takes the rights of root to mount one; run it with sudo, or in a virtual machine or privileged container as root")
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		return fail("there are no loop devices (%v); load the kernel's module loop, or give the container /dev/loop-control and /dev/loop0 and following", err)
	}
	if known, err := os.ReadFile("/proc/filesystems"); err != nil || !strings.Contains(string(known), "\text4\n") {
		return fail("this kernel has no ext4 now; load its module ext4, or use a kernel that has it")
	}
	if _, err := mkfs(); err != nil {
		return fail("mkfs.ext4 is not there; install the package e2fsprogs")
	}
	return nil
}

// mkfs returns the program's path, also where directories of system programs are not on PATH.
func mkfs() (string, error) {
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/local/sbin"} {
		if p, err := exec.LookPath(filepath.Join(dir, "mkfs.ext4")); err == nil {
			return p, nil
		}
	}
	return exec.LookPath("mkfs.ext4")
}

// FileSystem is an ext4 file system in an image. Its methods must not be called at the same time.
type FileSystem struct {
	Dir   string // where it is mounted
	Image string
	Size  int64 // in bytes
	entry *journal.Entry
}

// Make makes a file system of the size, in bytes, mounted at dir, which must exist; what dir holds is copied
// into it. 0: [LargestImage], or half of what is free there. The image is beside dir. What undoes it is in the
// journal before anything is made; the text says for people what it is for. On an error nothing is left.
func Make(j *journal.Journal, what, dir string, size int64) (_ *FileSystem, err error) {
	if err := Check(); err != nil {
		return nil, err
	}
	// The kernel names files without symbolic links, and by its names what is ours is found again.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	above := filepath.Dir(dir)
	if size == 0 {
		var s unix.Statfs_t
		if err := unix.Statfs(above, &s); err != nil {
			return nil, fmt.Errorf("ask %s how much is free: %w", above, err)
		}
		size = min(LargestImage, int64(s.Bavail)*s.Bsize/2)
	}
	if size < smallestImage {
		return nil, fmt.Errorf("an image of %d MiB is too small for ext4 with a journal, the least is %d MiB; set TMPDIR to a disk with more space", size>>20, smallestImage>>20)
	}
	f := &FileSystem{Dir: dir, Size: size, Image: filepath.Join(above, journal.Mark+"-"+filepath.Base(dir)+".ext4")}
	if f.entry, err = j.Note(what, &Made{f.Image, f.Dir}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Remove(context.Background()))
		}
	}()
	image, err := os.OpenFile(f.Image, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(image.Truncate(size), image.Close()); err != nil {
		return nil, err
	}
	program, err := mkfs()
	if err != nil {
		return nil, err
	}
	// Nothing is left to be initialised in the background, which would write during the run; nothing is
	// reserved for root, as which brokers run here.
	out, err := exec.Command(program, "-q", "-F", "-m", "0", "-i", "262144", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", "-d", dir, f.Image).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %.300s", program, err, strings.TrimSpace(string(out)))
	}
	return f, f.mount()
}

// mount attaches the image to a free loop device and mounts that. The kernel detaches the device when the
// file system is unmounted (LO_FLAGS_AUTOCLEAR).
func (f *FileSystem) mount() (err error) {
	fail := func(what string, err error) error { return fmt.Errorf("%s %s: %w", what, f.Image, err) }
	image, err := os.OpenFile(f.Image, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer image.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer control.Close()
	for range 100 { // another process may take the free one in between
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return fail("find a free loop device for", err)
		}
		device, err := os.OpenFile("/dev/loop"+strconv.Itoa(number), os.O_RDWR, 0)
		if err != nil {
			return fail("open a loop device for", err)
		}
		config := unix.LoopConfig{Fd: uint32(image.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
		copy(config.Info.File_name[:len(config.Info.File_name)-1], f.Image)
		if err := unix.IoctlLoopConfigure(int(device.Fd()), &config); err != nil {
			device.Close()
			if errors.Is(err, unix.EBUSY) {
				continue
			}
			return fail("attach a loop device to", err)
		}
		// If this fails, closing the device detaches it.
		if err := unix.Mount(device.Name(), f.Dir, "ext4", unix.MS_NODEV|unix.MS_NOSUID, ""); err != nil {
			return errors.Join(fail("mount "+f.Dir+" from", err), device.Close())
		}
		return device.Close()
	}
	return fail("no loop device stays free for", unix.EBUSY)
}

// shutdownIoctl is EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32), and noLogFlush its argument
// EXT4_GOING_FLAGS_NOLOGFLUSH: neither data nor the file system's own journal are written any more.
const (
	shutdownIoctl = 0x8004587d
	noLogFlush    = 2
)

// Shutdown is a power failure of the file system: what was not synced, or written back by the kernel before, is
// gone, and each call on it fails until [FileSystem.Recover].
func (f *FileSystem) Shutdown() error {
	dir, err := os.Open(f.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.IoctlSetPointerInt(int(dir.Fd()), shutdownIoctl, noLogFlush); err != nil {
		return fmt.Errorf("shut down the file system at %s: %w", f.Dir, err)
	}
	return nil
}

// Sync writes everything to the image, as if the kernel had had the time to.
func (f *FileSystem) Sync() error {
	dir, err := os.Open(f.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return fmt.Errorf("sync the file system at %s: %w", f.Dir, err)
	}
	return nil
}

// Recover mounts the file system again after Shutdown: the kernel recovers it from its journal, as after a
// power failure of the machine. No process may use it any more; those that were killed get a while to end.
func (f *FileSystem) Recover(ctx context.Context) error {
	if _, err := unmount(ctx, f.Image, f.Dir); err != nil {
		return err
	}
	if err := f.mount(); err != nil {
		return err
	}
	return f.Empty() // that the file was removed may be among what was lost
}

// filler is the file that fills a file system.
const filler = journal.Mark + "-full"

// Fill takes all space that is free, and returns how many bytes that was. Nothing is written: the file system
// reserves the space.
func (f *FileSystem) Fill() (taken int64, err error) {
	file, err := os.OpenFile(filepath.Join(f.Dir, filler), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &s); err != nil {
		return 0, err
	}
	for step := int64(s.Bfree) * s.Bsize; step >= s.Bsize; {
		switch err := unix.Fallocate(int(file.Fd()), 0, taken, step); {
		case err == nil:
			taken += step
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOSPC):
			step = step / 2 / s.Bsize * s.Bsize
		default:
			return taken, errors.Join(fmt.Errorf("fill the file system at %s: %w", f.Dir, err), os.Remove(file.Name()))
		}
	}
	return taken, nil
}

// Empty frees what Fill has taken. It does nothing if that was nothing.
func (f *FileSystem) Empty() error {
	if err := os.Remove(filepath.Join(f.Dir, filler)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Remove unmounts the file system and removes its image. Again it does nothing.
func (f *FileSystem) Remove(ctx context.Context) error { return f.entry.Undo(ctx) }

// Undo unmounts it, which detaches the loop device, and removes the image.
func (m *Made) Undo(ctx context.Context) (did bool, err error) {
	did, err = unmount(ctx, m.Image, m.Dir)
	if err != nil {
		return did, err
	}
	switch err := os.Remove(m.Image); {
	case err == nil:
		return true, nil
	case errors.Is(err, os.ErrNotExist):
		return did, nil
	default:
		return did, err
	}
}

// busyLimit is how long processes that were killed may take to let go of a file system.
const busyLimit = 10 * time.Second

// unmount unmounts the image from dir, and reports whether it was mounted. What else is mounted there stays.
func unmount(ctx context.Context, image, dir string) (did bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, busyLimit)
	defer cancel()
	for {
		device, err := mounted(dir)
		if err != nil {
			return did, err
		}
		if device == "" || backing(device) != image {
			return did, nil
		}
		switch err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW); {
		case err == nil:
			did = true
			continue // it may be mounted twice
		case !errors.Is(err, unix.EBUSY):
			return did, fmt.Errorf("unmount %s: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			return did, fmt.Errorf("%s cannot be unmounted: processes use it still; fuser -vm %s shows them", dir, dir)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// mounted returns the device of the ext4 file system that is mounted at dir, the latest if there are several;
// empty: none is.
func mounted(dir string) (device string, err error) {
	table, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	defer table.Close()
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		// 36 35 7:0 / /mnt rw,nodev - ext4 /dev/loop0 rw, see proc_pid_mountinfo(5)
		before, after, _ := strings.Cut(lines.Text(), " - ")
		of, at := strings.Fields(before), strings.Fields(after)
		if len(of) >= 5 && len(at) >= 2 && octal.Replace(of[4]) == dir {
			device = ""
			if at[0] == "ext4" {
				device = at[1]
			}
		}
	}
	return device, lines.Err()
}

// octal replaces what the kernel writes for characters that divide fields.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// backing returns the file that is attached to a loop device; empty: none, or it is no loop device.
func backing(device string) string {
	name, loop := strings.CutPrefix(device, "/dev/loop")
	if !loop {
		return ""
	}
	text, err := os.ReadFile("/sys/block/loop" + name + "/loop/backing_file")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), " (deleted)")
}
