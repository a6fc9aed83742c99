package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/wire"
)

// agentRow is an agent of a fleet, in JSON.
type agentRow struct {
	Name      string            `json:"name,omitempty"` // empty: of another version, which does not tell
	ID        string            `json:"id"`             // of the process
	Labels    map[string]string `json:"labels,omitempty"`
	Host      string            `json:"host,omitempty"`
	System    string            `json:"system,omitempty"` // operating system and architecture
	Cores     int               `json:"cores,omitempty"`
	PID       int               `json:"pid,omitempty"`
	Started   *time.Time        `json:"started,omitempty"`
	Clock     string            `json:"clock,omitempty"`      // of the monotonic clock: agents on one host with equal ones read the same
	SameClock string            `json:"same_clock,omitempty"` // the first agent of the list that reads the same one
	Drivers   []string          `json:"drivers,omitempty"`
	Targets   []string          `json:"targets,omitempty"`         // which it allows; absent: all
	MaxRate   int64             `json:"max_rate,omitempty"`        // messages a second that it allows; absent: all
	MaxSize   int64             `json:"max_size,omitempty"`        // bytes of a payload that it allows; absent: all
	MaxOpen   int64             `json:"max_connections,omitempty"` // connections at a time that it allows; absent: all
	Allows    []string          `json:"allows,omitempty"`          // files, by what they are for, and variables that plans may name
	State     string            `json:"state"`                     // idle, preparing, running, delivering, silent or another version
	Run       string            `json:"run,omitempty"`
	Records   uint64            `json:"records,omitempty"`   // of the run, so far
	Delivered uint64            `json:"delivered,omitempty"` // records that the control plane has
	Problem   string            `json:"problem,omitempty"`   // why it cannot be used as it is
}

// What an agent's state is where it does not say.
const (
	silent  = "silent"
	skewed  = "another version"
	nothing = "-"
)

func (a *app) fleetListCommand() *cobra.Command {
	var l fleetLogin
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the agents of a fleet and what they do",
		Long: `List the agents that are connected to a control plane: their labels and machines, which
of them read the same clock, and which run each has.`,
		Args: counted(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return l.onFleet(cmd.Context(), &a.Env, "fleet list", func(ctx context.Context, nc *wire.Conn) error {
				seen, err := coordinator.Survey(ctx, nc, a.Tool.Version)
				if err != nil {
					return err
				}
				return a.listAgents(agentRows(seen), asJSON)
			})
		},
	}
	control := sectionOf("Control plane", func(f *pflag.FlagSet) { l.flags(f, "fleet", "", fleetFlag) })
	output := sectionOf("Output", func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "print one JSON array") })
	a.take(cmd, control, output)
	return cmd
}

// agentRows are agents as they are listed.
func agentRows(seen []coordinator.Seen) []agentRow {
	rows := make([]agentRow, len(seen))
	for i, s := range seen {
		h := &s.Hello
		r := agentRow{Name: h.Name, ID: h.ID, Labels: h.Labels, Host: h.Host, System: h.System, Cores: h.Cores, PID: h.PID, Clock: h.Clock,
			Drivers: h.Allows.Drivers, Targets: h.Allows.Targets, MaxRate: h.Allows.Rate, MaxSize: h.Allows.Size, MaxOpen: h.Allows.Connections, Allows: h.Allows.More,
			State: string(s.Status.State), Run: s.Status.Run, Records: s.Status.Records, Delivered: s.Status.Delivered}
		switch {
		case s.Skew != nil:
			r.State, r.Problem = skewed, s.Skew.Error()
		case s.Err != nil:
			r.State, r.Problem = silent, oneLine(s.Err.Error())
		}
		if s.Skew == nil {
			r.Started = &h.Started
			same := slices.IndexFunc(seen, func(x coordinator.Seen) bool { return x.Skew == nil && wire.SameClock(&x.Hello, h) })
			r.SameClock = seen[same].Hello.Name
		}
		rows[i] = r
	}
	return rows
}

func (env *Env) listAgents(rows []agentRow, asJSON bool) error {
	if asJSON {
		return env.writeJSON(rows)
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tLABELS\tHOST\tSYSTEM\tCORES\tCLOCK\tSTATE\tRUN")
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r.columns(), "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Problem != "" {
			fmt.Fprintf(env.Stderr, "%s: %s\n", cmp.Or(r.Name, r.ID), r.Problem)
		}
	}
	if len(rows) == 0 {
		fmt.Fprintln(env.Stderr, "no agent is there; sixnines agent --join URL makes a machine one")
	}
	return nil
}

// columns returns the row for people.
func (r agentRow) columns() []string {
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
		labels = append(labels, key+"="+r.Labels[key])
	}
	clock, cores := "own", nothing
	switch r.SameClock {
	case "":
		clock = nothing
	case r.Name:
	default:
		clock = "as " + r.SameClock
	}
	if r.Cores > 0 {
		cores = fmt.Sprint(r.Cores)
	}
	or := func(text string) string { return cmp.Or(text, nothing) }
	return []string{or(r.Name), or(strings.Join(labels, ",")), or(r.Host), or(r.System), cores, clock, r.State, or(r.Run)}
}
