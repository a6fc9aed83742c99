package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/driver"
	"sixnines/internal/spell"
	"sixnines/scenario"
)

const (
	// cleanAfter is how long something must not have been used until clean takes it for left: a run may be under way.
	cleanAfter = time.Hour
	// cleanTimeout bounds the whole command.
	cleanTimeout = time.Minute
)

// cleanOptions are the flags of clean, beside those of the target.
type cleanOptions struct {
	remove bool
	names  []string // to remove, whatever their age; empty: all that are old enough
	asJSON bool
}

// cleanCommand lists and removes what runs have left at a broker.
func (a *app) cleanCommand() *cobra.Command {
	var (
		flags overrides
		o     cleanOptions
	)
	cmd := &cobra.Command{
		Use:   "clean DRIVER --url URL [flags]",
		Short: "List what runs have left at a broker, and remove it",
		Long: `List what runs have left at a broker because they were killed, lost their connection or had
no right to delete it, or kept by --lifetime keep. With --remove it is removed.

Only names are listed that a run makes: s9, or the --prefix, and the run's eight
hexadecimal digits. --remove removes what was not used for an hour, as the broker's clock
says. What the broker gives no time for is removed by --name only, since a run may be under way:
that is all but JetStream and Redis. So is what follows a --prefix, but in JetStream: eight
digits may be a date, and nothing says who made it. Of a stream JetStream says that.

For jetstream, kafka, redis-streams, nsq, pulsar, and amqp10 on Artemis. What other brokers
keep, their own tools list.

Exit codes: 0 done; 1 something could not be listed or removed; 2 wrong usage.`,
		Example: `  sixnines clean jetstream --url nats://broker:4222
  sixnines clean kafka --url kafka://broker:9092 --remove --name s9.1b2c3d4e.t0`,
		Args:              counted(1, 1, "a DRIVER"),
		ValidArgsFunction: a.completeSubjects(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, release := a.interruptible(cmd.Context(), nil)
			defer release()
			return a.clean(ctx, args, flags.list, o)
		},
	}
	cleaning := sectionOf("Cleaning", func(f *pflag.FlagSet) {
		f.BoolVar(&o.remove, "remove", false, "remove what is listed")
		f.BoolVar(&o.asJSON, "json", false, "print one JSON object")
		f.StringArrayVar(&o.names, "name", nil, "with --remove: remove this `NAME` alone, whatever its age; repeatable")
	})
	a.take(cmd, cleaning, scenarioFlags(&flags)[0])
	return cmd
}

func (a *app) clean(ctx context.Context, args []string, flags []scenario.Override, o cleanOptions) error {
	if len(o.names) > 0 && !o.remove {
		return wrongUsage("add --remove", "--name says what to remove, and nothing is removed")
	}
	s, e, err := a.load(args, flags)
	switch {
	case err != nil:
		return err
	case s.Target.URL == "":
		return wrongUsage("give the broker's address: --url", "clean needs a broker, and starts none")
	}
	ctx, cancel := context.WithTimeout(ctx, cleanTimeout)
	defer cancel()
	t := s.Target
	target := driver.Target{URL: t.URL, Run: "clean", Prefix: t.Prefix, Options: t.Options, TLS: (*driver.TLS)(t.TLS), Dial: new(net.Dialer).DialContext}
	fail := func(err error) error { return runFault(conceal(err, s, e), s, e, false) }
	session, err := e.Driver.Open(ctx, target)
	if err != nil {
		return fail(err)
	}
	defer session.Close(context.WithoutCancel(ctx))
	c, ok := session.(driver.Cleaner)
	if !ok {
		hint := "use the broker's own tools"
		if e.Naming.ListedBy != "" {
			hint = e.Naming.ListedBy + " lists it"
		}
		return wrongUsage(hint+"; names of runs begin with "+e.Naming.Begins(t.Prefix), "driver %s cannot list what is at the broker", e.Name)
	}
	all, err := c.Leftovers(ctx)
	if err != nil {
		return fail(err)
	}
	for _, name := range o.names {
		if !slices.ContainsFunc(all, func(l driver.Leftover) bool { return l.Name == name }) {
			return failed("list them: leave --remove and --name out", fmt.Errorf("the broker has no %q that a run has made", name))
		}
	}
	errs, err := a.cleanAll(ctx, c, all, o)
	if len(errs) > 0 {
		return fail(errors.Join(errs...))
	}
	return err
}

// cleanAll lists what was found, and removes what it may. It returns what the broker refuses.
func (a *app) cleanAll(ctx context.Context, c driver.Cleaner, all []driver.Leftover, o cleanOptions) (errs []error, err error) {
	slices.SortFunc(all, func(a, b driver.Leftover) int { return strings.Compare(a.What+" "+a.Name, b.What+" "+b.Name) })
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	now := time.Now()
	found := cleanObject{Leftovers: []leftoverObject{}}
	for _, l := range all {
		object := leftoverObject{What: l.What, Name: l.Name, Ours: l.Ours}
		if !l.Used.IsZero() {
			object.Used = &l.Used
		}
		shown := keeps(l, o, now)
		switch {
		case shown != "":
			object.State = leftKept
		case !o.remove:
			object.State = leftUnused
		default:
			object.State, shown = leftRemoved, "removed"
			if err := c.Remove(ctx, l); err != nil {
				errs = append(errs, err)
				object.State, shown = leftRefused, "not removed"
			}
		}
		found.Leftovers = append(found.Leftovers, object)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.What, l.Name, unused(l, now), shown)
	}
	if o.asJSON {
		return errs, a.writeJSON(found)
	}
	if err := w.Flush(); err != nil {
		return errs, err
	}
	if len(all) == 0 {
		fmt.Fprintln(a.Stderr, "nothing is left by runs")
	}
	return errs, nil
}

// cleanObject is what clean finds, as JSON.
type cleanObject struct {
	Leftovers []leftoverObject `json:"leftovers"`
}

// leftoverObject is something that a run has left.
type leftoverObject struct {
	What  string     `json:"what"` // in the broker's terms
	Name  string     `json:"name"`
	Used  *time.Time `json:"used"`  // when it was made or last written, as the broker says; null: it does not say
	Ours  bool       `json:"ours"`  // a run has made it beyond doubt; else only its name is like a run's
	State string     `json:"state"` // unused: --remove would remove it; kept; removed; refused
}

// The states of leftovers.
const (
	leftUnused  = "unused"
	leftKept    = "kept"
	leftRemoved = "removed"
	leftRefused = "refused"
)

// unused says how long something was not used.
func unused(l driver.Leftover, now time.Time) string {
	if l.Used.IsZero() {
		return "age not known"
	}
	return "unused for " + spell.Period(max(0, now.Sub(l.Used)).Truncate(time.Second))
}

// keeps says why something is not removed; empty: it is, if that is asked for.
func keeps(l driver.Leftover, o cleanOptions, now time.Time) string {
	switch {
	case len(o.names) > 0 && slices.Contains(o.names, l.Name):
		return ""
	case len(o.names) > 0:
		return "kept"
	case !l.Ours:
		return "kept: only its name looks like a run's; remove it by --name"
	case l.Used.IsZero():
		return "kept: a run may use it; remove it by --name"
	case now.Sub(l.Used) < cleanAfter:
		return "kept: a run may use it; after an hour, or by --name"
	}
	return ""
}
