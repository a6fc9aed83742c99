package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sixnines/driver"
	"sixnines/internal/spell"
	"sixnines/scenario"
)

// driverObject is a driver in JSON.
type driverObject struct {
	Name         string           `json:"name"`
	Summary      string           `json:"summary"`
	DefaultURL   string           `json:"default_url"`
	Schemes      []string         `json:"schemes"` // that URLs may begin with
	Managed      string           `json:"managed"` // the product that a run starts without a URL; empty: none
	Capabilities capabilityObject `json:"capabilities"`
	Options      []driver.Option  `json:"options"`
}

// managedName names the product that a run of the driver starts by itself.
func managedName(e driver.Entry) string {
	p, ok, err := managedProduct(&scenario.Scenario{}, e)
	if err != nil || !ok {
		return ""
	}
	return p.Name
}

// capabilityObject is driver.Capabilities in JSON.
type capabilityObject struct {
	Ack          string `json:"ack"`
	RequestReply bool   `json:"request_reply"`
	Groups       bool   `json:"groups"`
	FanOut       bool   `json:"fan_out"`
	ConsumerAck  bool   `json:"consumer_ack"`
	Keys         bool   `json:"keys"`
	Headers      bool   `json:"headers"`
	Brokerless   bool   `json:"brokerless"`
	Reconnects   bool   `json:"reconnects"`
	Ordered      bool   `json:"ordered"`
	TLS          bool   `json:"tls"`
	MinSize      int    `json:"min_size"`
}

func objectOf(e driver.Entry) driverObject {
	c := e.Capabilities
	o := driverObject{Name: e.Name, Summary: e.Summary, DefaultURL: e.DefaultURL, Schemes: e.Schemes, Managed: managedName(e),
		Capabilities: capabilityObject{Ack: string(c.Ack), RequestReply: c.RequestReply, Groups: c.Groups, FanOut: c.FanOut,
			ConsumerAck: c.ConsumerAck, Keys: c.Keys, Headers: c.Headers, Brokerless: c.Brokerless, Reconnects: c.Reconnects, Ordered: c.Ordered, TLS: c.TLS, MinSize: c.MinSize},
		Options: driver.DescribeOptions(e.Options)}
	if o.Options == nil {
		o.Options = []driver.Option{}
	}
	return o
}

func (a *app) driversCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drivers",
		Short: "List the drivers, or show one with its options",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.driversListCommand(), a.driversShowCommand())
	return cmd
}

func (a *app) driversListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the drivers in this build",
		Args:  counted(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			entries := a.Drivers.Entries()
			if asJSON {
				return a.writeJSON(each(entries, objectOf))
			}
			width := 0
			for _, e := range entries {
				width = max(width, len(e.Name))
			}
			for _, e := range entries {
				fmt.Fprintf(a.Stdout, "%-*s  %s\n", width, e.Name, e.Summary)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

func (a *app) driversShowCommand() *cobra.Command {
	var asJSON, permissions bool
	var prefix string
	cmd := &cobra.Command{
		Use:       "show NAME",
		Short:     "Show the abilities and options of a driver",
		Args:      counted(1, 1, "one NAME of "+strings.Join(a.Drivers.Names(), ", ")),
		ValidArgs: a.Drivers.Names(),
		RunE: func(_ *cobra.Command, args []string) error {
			e, ok := a.Drivers.Lookup(args[0])
			if !ok {
				return a.unknownDriver(args[0])
			}
			switch {
			case prefix != "" && !permissions:
				return wrongUsage("add --permissions", "--prefix is that of --permissions")
			case permissions:
				return a.showPermissions(e, prefix, asJSON)
			case asJSON:
				return a.writeJSON(objectOf(e))
			}
			_, err := a.Stdout.Write([]byte(a.driverText(e)))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with --permissions an array")
	cmd.Flags().BoolVar(&permissions, "permissions", false, "show what the account of a run must be allowed, in the broker's terms")
	cmd.Flags().StringVar(&prefix, "prefix", "", "with --permissions: for runs with this `PREFIX`, such as bench.")
	return cmd
}

// driverText describes a driver for people.
func (env *Env) driverText(e driver.Entry) string {
	columns := env.columns(40)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", e.Name, e.Summary)
	line := func(name, value string) { fmt.Fprintf(&b, "  %-16s%s\n", name, value) }
	url := e.DefaultURL
	if name := managedName(e); name != "" {
		url += "; without --url " + name + " is started for the run"
	}
	line("usual address", url)
	line("schemes", strings.Join(each(e.Schemes, addressed), ", "))
	line("acknowledgement", string(e.Capabilities.Ack))
	can, cannot := abilities(e.Capabilities)
	line("can", strings.Join(can, ", "))
	if len(cannot) > 0 {
		line("cannot", strings.Join(cannot, ", "))
	}
	options := driver.DescribeOptions(e.Options)
	if len(options) == 0 {
		b.WriteString("\nNo options.\n")
		return b.String()
	}
	b.WriteString("\nOptions, given as --option NAME=VALUE or under target.options of a scenario:\n")
	for _, o := range options {
		fmt.Fprintf(&b, "\n  %s  %s\n", o.Name, optionFacts(o))
		b.WriteString(indented(o.Doc, 6, columns-6))
	}
	return b.String()
}

// abilities lists what a driver can and cannot do.
func abilities(c driver.Capabilities) (can, cannot []string) {
	for _, x := range []struct {
		name string
		has  bool
	}{
		{"request–reply", c.RequestReply}, {"groups", c.Groups}, {"fan-out", c.FanOut}, {"consumer acknowledgements", c.ConsumerAck},
		{"keys", c.Keys}, {"headers", c.Headers}, {"keep messages", c.Keeps},
		{"keep order", c.Ordered}, {"reconnect", c.Reconnects}, {"TLS", c.TLS},
	} {
		if x.has {
			can = append(can, x.name)
		} else {
			cannot = append(cannot, x.name)
		}
	}
	return can, cannot
}

// optionFacts says what an option takes.
func optionFacts(o driver.Option) string {
	facts := []string{o.Type}
	if len(o.Enum) > 0 {
		facts = []string{strings.Join(o.Enum, " | ")}
	}
	if span := spell.Span(o.Min, o.Max); span != "" {
		facts = append(facts, span)
	}
	if o.Default != "" {
		facts = append(facts, "default "+o.Default)
	}
	if o.Secret {
		facts = append(facts, "never shown; also env:NAME or @FILE")
	}
	return "(" + strings.Join(facts, "; ") + ")"
}
