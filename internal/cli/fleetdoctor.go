package cli

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/spell"
	"sixnines/internal/vitals"
)

// fleetDoctorObject is what fleet doctor finds, as JSON.
type fleetDoctorObject struct {
	Fit    bool           `json:"fit"` // no check failed
	Checks []vitals.Check `json:"checks"`
	Agents []agentRow     `json:"agents"`
}

func (a *app) fleetDoctorCommand() *cobra.Command {
	var (
		l       fleetLogin
		address string
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether a fleet is fit to measure",
		Long: `Check whether a fleet is fit to measure: whether each agent answers and how fast, which
version and how many cores it has, within which bound its clock is known, whether it is
on the broker's host, and whether the control plane keeps what it acknowledges, has
space, and still has what runs without a coordinator recorded.`,
		Example: `  sixnines fleet doctor --fleet tls://control.example:4222 --tls-ca ca.pem --url nats://broker.example:4222
  sixnines fleet doctor --fleet embedded --json | jq '.checks[] | select(.status != "ok")'`,
		Args: counted(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			hosts, err := vitals.BrokerHosts(address)
			if err != nil {
				return wrongUsage("give the address in the form that run takes, such as --url nats://broker.example:4222", "--url: %v", err)
			}
			return l.onFleet(cmd.Context(), &a.Env, "fleet doctor", func(ctx context.Context, nc *wire.Conn) error {
				return a.examineFleet(ctx, nc, hosts, asJSON)
			})
		},
	}
	plane := sectionOf("Control plane", func(f *pflag.FlagSet) { l.flags(f, "fleet", "", fleetFlag) })
	output := sectionOf("What is checked and printed", func(f *pflag.FlagSet) {
		f.StringVar(&address, "url", "", "`URL` of the broker to be measured, to see which agents are on its host")
		jsonFlag(f, &asJSON, "one JSON object")
	})
	a.take(cmd, output, plane)
	return cmd
}

func (a *app) examineFleet(ctx context.Context, nc *wire.Conn, hosts []string, asJSON bool) error {
	seen, err := coordinator.Survey(ctx, nc, a.Tool.Version)
	if err != nil {
		return err
	}
	checks, err := a.checkControl(ctx, nc)
	if err != nil {
		return err
	}
	broker, unresolved := addressesOf(ctx, hosts)
	if unresolved != nil {
		checks = append(checks, vitals.Check{Name: "broker", Status: vitals.StatusNote, Found: vitals.Unknown + ": " + oneLine(unresolved.Error()), Advice: "see that the broker's name can be resolved from here"})
	}
	agents := make([]vitals.Check, len(seen))
	var all sync.WaitGroup
	for i := range seen {
		all.Go(func() { agents[i] = a.checkAgent(ctx, nc, &seen[i], broker) })
	}
	all.Wait()
	checks = append(checks, agents...)
	if len(seen) == 0 {
		checks = append(checks, vitals.Check{Name: "agents", Status: vitals.StatusFail, Found: "no agent is there", Advice: "sixnines agent --join URL makes a machine one"})
	}
	fit := !slices.ContainsFunc(checks, func(c vitals.Check) bool { return c.Status == vitals.StatusFail })
	if asJSON {
		err = a.writeJSON(fleetDoctorObject{fit, checks, agentRows(seen)})
	} else {
		a.printChecks(conclusion(checks), checks)
	}
	if err == nil && !fit {
		return status(exitFailure)
	}
	return err
}

// wantedSpace is what a control plane should have for a run, in bytes.
const wantedSpace = 2 << 30

// checkControl examines the control plane.
func (a *app) checkControl(ctx context.Context, nc *wire.Conn) ([]vitals.Check, error) {
	c, err := control.Describe(ctx, nc)
	if err != nil {
		return nil, err
	}
	plane := vitals.Check{Name: "control plane", Status: vitals.StatusOK, Found: fmt.Sprintf("%s, round trip %s", c.Server, spell.Duration(c.RoundTrip))}
	switch {
	case c.Ours:
		plane.Found += ", each write is synced to its disk"
	case c.Cluster != "":
		plane.Found += fmt.Sprintf(", cluster %s, streams of runs have three copies", c.Cluster)
	default:
		plane.Status, plane.Found = vitals.StatusNote, plane.Found+", one server; whether it syncs each write it does not say"
		plane.Advice = "set sync_interval: always in its jetstream section: otherwise a power failure there takes records that it had acknowledged"
	}
	space := vitals.Check{Name: "space", Status: vitals.StatusOK, Found: spell.Size(int64(c.Used)) + " in streams"}
	if free := c.Limit - int64(c.Used); c.Limit > 0 {
		space.Found += " of at most " + spell.Size(c.Limit)
		if free < wantedSpace {
			space.Status, space.Advice = vitals.StatusWarn, "a long run of many agents may take "+spell.Size(wantedSpace)+": raise the server's limit, or remove old runs"
		}
	}
	checks := []vitals.Check{plane, space}
	runs, err := control.Runs(ctx, nc)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		led, err := coordinator.Led(ctx, nc, a.Tool.Version, r.Run)
		if err != nil {
			return nil, err
		}
		run := vitals.Check{Name: "run " + r.Run, Status: vitals.StatusNote, Found: fmt.Sprintf("goes on since %s, %s", r.Made.Local().Format("2006-01-02 15:04:05"), spell.Size(int64(r.Bytes)))}
		if !led {
			run.Status = vitals.StatusWarn
			run.Found = fmt.Sprintf("has no coordinator; begun %s, %s in the control plane", r.Made.Local().Format("2006-01-02 15:04:05"), spell.Size(int64(r.Bytes)))
			run.Advice = "sixnines fleet attach " + r.Run + " finishes its result, sixnines fleet stop " + r.Run + " --discard removes it"
		}
		checks = append(checks, run)
	}
	return checks, nil
}

// checkAgent examines an agent. broker are the addresses of the broker.
func (a *app) checkAgent(ctx context.Context, nc *wire.Conn, s *coordinator.Seen, broker []net.IP) vitals.Check {
	c := vitals.Check{Name: "agent " + cmp.Or(s.Hello.Name, s.Hello.ID), Status: vitals.StatusFail}
	switch {
	case s.Skew != nil:
		c.Found, c.Advice = s.Skew.Error(), "end it, and start the same version there"
		return c
	case s.Err != nil:
		c.Found, c.Advice = oneLine(s.Err.Error()), "see its log; end it, and start it again"
		return c
	}
	within, cancel := context.WithTimeout(ctx, controlPatience)
	defer cancel()
	k, err := coordinator.AskClock(within, nc, &s.Hello, 0)
	if err != nil {
		c.Found, c.Advice = "its clock is not known: "+oneLine(err.Error()), "see that it is reachable and not overloaded"
		return c
	}
	c.Status = vitals.StatusOK
	clock := "its clock is this machine's"
	if !k.Same {
		clock = "its clock is known within ±" + spell.Duration(time.Duration(k.Bound))
	}
	c.Found = fmt.Sprintf("%s, %s, %s, round trip %s, %s", s.Hello.System, plural(s.Hello.Cores, "core"), a.Tool.Version, spell.Duration(k.RoundTrip), clock)
	if s.Status.State != wire.Idle {
		c.Status, c.Found = vitals.StatusNote, c.Found+", "+string(s.Status.State)+" run "+s.Status.Run
	}
	if onHost(&s.Hello, broker) {
		c.Status, c.Found = vitals.StatusWarn, c.Found+"; it is on the broker's host"
		c.Advice = "what is measured from there does not cross a network, and its load takes the broker's processors: use an agent on another machine"
	}
	return c
}

// addressesOf are the addresses of hosts.
func addressesOf(ctx context.Context, hosts []string) (all []net.IP, err error) {
	ctx, cancel := context.WithTimeout(ctx, resolveLimit)
	defer cancel()
	for _, host := range hosts {
		found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
		if err != nil {
			return all, err
		}
		for _, f := range found {
			all = append(all, f.IP)
		}
	}
	return all, nil
}

// onHost reports whether an agent is on a machine with one of the addresses. Each machine has those of loopback.
func onHost(h *wire.Hello, broker []net.IP) bool {
	return slices.ContainsFunc(broker, func(ip net.IP) bool {
		return ip.IsLoopback() || slices.ContainsFunc(h.Addresses, func(own string) bool { return strings.EqualFold(own, ip.String()) })
	})
}
