package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sixnines/internal/brokers"
	"sixnines/internal/spell"
)

// brokerRow is a product in a list, in JSON.
type brokerRow struct {
	Name      string            `json:"name"`
	Summary   string            `json:"summary"`
	Drivers   []string          `json:"drivers"`
	Clusters  []int             `json:"clusters"` // numbers of nodes that can be started; empty: it has no broker
	Variable  string            `json:"variable,omitempty"`
	Installed bool              `json:"installed"`
	Version   string            `json:"version,omitempty"`
	Path      string            `json:"path,omitempty"`
	Origin    string            `json:"origin,omitempty"`
	Problem   string            `json:"problem,omitempty"` // why it cannot be used as it is
	State     string            `json:"state"`             // running, starting, damaged, gone, elsewhere or stopped
	URL       string            `json:"url,omitempty"`
	URLs      map[string]string `json:"urls,omitempty"` // by driver, where it differs
	Info      map[string]string `json:"info,omitempty"`
	// Access is how clients of each driver use a broker that was started with --secured.
	Access    map[string]brokers.Access `json:"access,omitempty"`
	Nodes     int                       `json:"nodes,omitempty"`
	Dir       string                    `json:"dir,omitempty"`
	Started   *time.Time                `json:"started,omitempty"`
	Processes []processRow              `json:"processes,omitempty"`
}

// processRow is one of its processes.
type processRow struct {
	Name    string  `json:"name"`
	PID     int     `json:"pid"`
	Running bool    `json:"running"`
	RSS     int64   `json:"rss,omitempty"`         // bytes
	CPU     float64 `json:"cpu_seconds,omitempty"` // since it was started
	Log     string  `json:"log"`
}

const stopped = "stopped"

func (a *app) brokerListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the brokers, whether they are installed and whether they run",
		Long: `List the brokers, whether they are installed and whether they run, and the additional
versions that are installed, such as kafka@3.9.1.`,
		Args: counted(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.home()
			if err != nil {
				return err
			}
			return a.listBrokers(cmd.Context(), h, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

func (env *Env) listBrokers(ctx context.Context, h brokers.Home, asJSON bool) error {
	var rows []brokerRow
	seen := map[string]bool{} // paths of what has a row
	add := func(p brokers.Product, version bool) error {
		in, found := p.Find(ctx, h)
		s, err := brokers.ReadState(h, p.Name)
		if err != nil {
			return brokerFault(err, p, byHome)
		}
		if version && s == nil && seen[in.Path] {
			return nil
		}
		seen[in.Path] = found == nil
		rows = append(rows, rowOf(p, in, found, s))
		return nil
	}
	products := brokers.Products()
	for _, p := range products {
		if err := add(p, false); err != nil {
			return err
		}
	}
	for _, p := range products {
		versions, err := p.Installed(h)
		if err != nil {
			return err
		}
		for _, v := range versions {
			if err := add(v, true); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(rows, func(x, y brokerRow) int {
		a, _, _ := strings.Cut(x.Name, "@")
		b, _, _ := strings.Cut(y.Name, "@")
		return strings.Compare(a, b)
	})
	if asJSON {
		return env.writeJSON(rows)
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tORIGIN\tSTATE\tNODES\tPROCESSES\tMEMORY\tADDRESS")
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r.columns(), "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Problem != "" {
			fmt.Fprintf(env.Stderr, "%s: %s\n", r.Name, r.Problem)
		}
		switch brokers.Condition(r.State) {
		case brokers.Gone, brokers.Damaged:
			fmt.Fprintf(env.Stderr, "%s has ended unexpectedly, or the machine was restarted: sixnines broker logs %s, sixnines broker down %s\n", r.Name, r.Name, r.Name)
		}
	}
	return nil
}

// rowOf describes a product: as it was found, or why not, and as it runs.
func rowOf(p brokers.Product, in brokers.Installation, found error, s *brokers.State) brokerRow {
	r := brokerRow{Name: p.Name, Summary: p.Summary, Drivers: p.Drivers, Clusters: p.Clusters, Variable: p.Variable,
		Installed: found == nil, Version: in.Version, Path: in.Path, Origin: in.Origin, State: stopped}
	if r.Drivers == nil {
		r.Drivers = []string{}
	}
	if r.Clusters == nil {
		r.Clusters = []int{}
	}
	if found != nil && !errors.Is(found, brokers.ErrNotInstalled) {
		r.Problem = oneLine(found.Error())
	}
	if s == nil {
		return r
	}
	r.State, r.URL, r.URLs, r.Info, r.Nodes, r.Dir, r.Started = string(s.Condition()), s.URL, s.URLs, s.Info, s.Asked.Nodes, s.Dir, &s.Started
	r.Access = s.Access
	for _, p := range s.List {
		x := processRow{Name: p.Name, PID: p.PID, Log: p.Log}
		u, err := s.Usage(p)
		if err == nil {
			x.RSS, x.CPU = u.RSS, (u.UserCPU + u.SysCPU).Seconds()
		}
		x.Running = err == nil || errors.Is(err, brokers.ErrUnavailable)
		r.Processes = append(r.Processes, x)
	}
	return r
}

// columns returns the row for people.
func (r brokerRow) columns() []string {
	version, origin := r.Version, r.Origin
	switch {
	case r.Problem != "":
		version, origin = "?", "see below"
	case !r.Installed:
		version, origin = "-", "not installed"
	}
	if r.State == stopped {
		return []string{r.Name, version, origin, "-", "-", "-", "-", "-"}
	}
	var pids []string
	var rss int64
	for _, p := range r.Processes {
		if p.Running {
			pids = append(pids, fmt.Sprint(p.PID))
			rss += p.RSS
		}
	}
	processes, memory := cmp.Or(strings.Join(pids, " "), "-"), "-"
	if rss > 0 {
		memory = spell.Size(rss)
	}
	return []string{r.Name, version, origin, r.State, fmt.Sprint(r.Nodes), processes, memory, r.URL}
}
