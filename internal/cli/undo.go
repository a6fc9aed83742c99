package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"sixnines/internal/brokers"
	"sixnines/internal/disk"
	"sixnines/internal/faults"
	"sixnines/internal/journal"
	"sixnines/internal/netns"
	"sixnines/internal/network"
	"sixnines/internal/vitals"
)

// undoKinds lists all kinds of records of how an act on the machine is undone. With asked, the user wants those undone, too,
// that wait for it.
func undoKinds(asked bool) []journal.Kind {
	all := slices.Concat(journal.Kinds(), disk.Kinds(), network.Kinds(), faults.Kinds())
	for i := range all {
		all[i].Asked = all[i].Asked && !asked
	}
	return all
}

// undoDir returns the directory of journals; empty: there is no place for them.
func (env *Env) undoDir() string {
	h, err := env.home()
	if err != nil {
		return ""
	}
	return h.Path("undo")
}

// restore undoes what killed processes left on the machine, before something is measured on it, and says
// so in one line.
func (a *app) restore(ctx context.Context, say func(string)) {
	a.restored.Do(func() {
		found, err := a.recover(ctx, false)
		if err != nil {
			say("could not look for what killed runs left: " + oneLine(err.Error()))
		}
		if text := restoredLine(found); text != "" {
			say(text)
		}
	})
}

// recover undoes what killed processes left: what is in journals, interfaces, which are known by their names and
// aliases and have owners that live or not, and directories of brokers, which are known by their names.
func (env *Env) recover(ctx context.Context, asked bool) ([]journal.Finding, error) {
	found, err := journal.Recover(ctx, env.undoDir(), undoKinds(asked))
	removed, unclean := netns.Clean()
	for _, name := range removed {
		found = append(found, journal.Finding{Text: "remove the interface " + name, State: journal.Undone})
	}
	if errors.Is(unclean, fs.ErrPermission) {
		unclean = nil // who may not remove interfaces has made none
	}
	return append(found, abandoned(true)...), errors.Join(err, unclean)
}

// abandoned lists the directories of brokers of killed processes, and removes them if it is to. Those that this user may not
// read or remove are others'.
func abandoned(remove bool) (found []journal.Finding) {
	for _, dir := range brokers.Abandoned() {
		x := journal.Finding{Text: "remove the broker's directory " + dir, State: journal.ToUndo}
		if remove {
			x.State, x.Err = journal.Undone, os.RemoveAll(dir)
		} else if _, err := os.ReadDir(dir); err != nil {
			continue
		}
		if errors.Is(x.Err, fs.ErrPermission) {
			continue
		}
		if x.Err != nil {
			x.State = journal.Kept
		}
		found = append(found, x)
	}
	return found
}

// restoredLine says what became of what killed processes left; empty if that was nothing.
func restoredLine(found []journal.Finding) string {
	undone := of(found, journal.Undone)
	kept := of(found, journal.Kept)
	waits := of(found, journal.ToUndo)
	var parts []string
	if len(undone) > 0 {
		parts = append(parts, "cleaned up after killed runs: "+strings.Join(undone, "; "))
	}
	if len(kept) > 0 {
		parts = append(parts, "could not clean up after killed runs: "+strings.Join(kept, "; ")+"; see sixnines doctor")
	}
	if len(waits) > 0 {
		parts = append(parts, "left by killed runs: "+strings.Join(waits, "; ")+": sixnines doctor --clean --exec does it")
	}
	return strings.Join(parts, "; ")
}

// of returns the findings of a state, in words.
func of(found []journal.Finding, state journal.State) (all []string) {
	for _, x := range found {
		if x.State != state {
			continue
		}
		text := x.Text
		if x.Err != nil {
			text += ": " + x.Err.Error()
		}
		all = append(all, oneLine(text))
	}
	return all
}

// checkLeft reports what killed processes left, and undoes it if clean is set: commands of users only with asked.
func (env *Env) checkLeft(ctx context.Context, clean, asked bool) vitals.Check {
	c := vitals.Check{Name: "left by killed runs", Status: vitals.StatusOK}
	var found []journal.Finding
	var err error
	if clean {
		found, err = env.recover(ctx, asked)
	} else {
		found, err = journal.Left(env.undoDir(), undoKinds(false))
		found = append(found, abandoned(false)...)
	}
	var says []string
	for _, s := range []struct {
		state journal.State
		words string
	}{{journal.Undone, "cleaned up: "}, {journal.ToUndo, "to clean up: "}, {journal.Kept, "cannot be cleaned up: "}} {
		for _, text := range of(found, s.state) {
			says = append(says, s.words+text)
		}
	}
	if len(of(found, journal.ToUndo)) > 0 {
		c.Status, c.Advice = vitals.StatusWarn, "sixnines doctor --clean does this, as does the next run"
	}
	if slices.ContainsFunc(found, func(x journal.Finding) bool { return x.State == journal.ToUndo && x.Asked }) {
		c.Advice = "sixnines doctor --clean --exec undoes it, commands included; look at them first"
	}
	for _, x := range found {
		if x.State == journal.Kept {
			c.Status = vitals.StatusWarn
			if x.File != "" {
				c.Advice = fmt.Sprintf("the record is in %s", x.File)
			}
		}
	}
	if err != nil {
		c.Status = vitals.StatusWarn
		says = append(says, oneLine(err.Error()))
	}
	if c.Found = strings.Join(says, "\n"); c.Found == "" {
		c.Found = "nothing"
	}
	return c
}
