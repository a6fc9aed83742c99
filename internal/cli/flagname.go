package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/spell"
)

// withTwoDashes returns the arguments with two dashes before long flags that have only one,
// as some tools allow: -rate 3k is --rate 3k, and not -r with the value "ate". Arguments
// after -- stay unchanged. The result is never nil: cobra would use the process's own
// arguments instead.
func withTwoDashes(root *cobra.Command, args []string) []string {
	all := append([]string{}, args...)
	cmd, _, err := root.Find(args)
	if err != nil || strings.HasPrefix(strings.Join(args, ""), "__") { // the shell's own questions
		return all
	}
	for i, arg := range all {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if len(name) > 1 && name[0] != '-' && arg[0] == '-' && (cmd.Flags().Lookup(name) != nil || name == "help") {
			all[i] = "-" + arg
		}
	}
	return all
}

// unknownFlag looks for the flag that was meant: one of the command at hand by another
// tool's name or mistyped, and then one of another command.
func unknownFlag(cmd *cobra.Command, name string) error {
	names := flagNames(cmd)
	hint := "see " + cmd.CommandPath() + " --help"
	switch near, value := elsewhereCalled(name); {
	case slices.Contains(names, near):
		hint = fmt.Sprintf("did you mean --%s%s? %s", near, value, hint)
	case spell.Nearest(name, names) != "":
		hint = fmt.Sprintf("did you mean --%s? %s", spell.Nearest(name, names), hint)
	default:
		for _, other := range cmd.Root().Commands() {
			if !slices.Contains(flagNames(other), name) {
				continue
			}
			hint = fmt.Sprintf("--%s is a flag of %q", name, other.CommandPath())
			if other.Name() == "run" { // of those that share its flags, the one that is meant most often
				break
			}
		}
	}
	return wrongUsage(hint, "unknown flag --%s for %q", name, cmd.CommandPath())
}

// elsewhereCalled returns the name here of a flag of other load generators, and the value that it
// needs, behind a space, if it is an option of a driver; empty: it is not known.
func elsewhereCalled(flag string) (name, value string) {
	flag = strings.ReplaceAll(flag, "_", "-")
	switch flag {
	case "password", "token":
		return "option", " " + flag + "=env:NAME"
	case "user", "acks", "linger", "batch-size":
		return "option", " " + strings.ReplaceAll(flag, "-", "_") + "=…"
	}
	for _, x := range []struct{ here, elsewhere string }{
		{"rate", "throughput qps rps target-rate"},
		{"size", "message-size msg-size record-size payload-size body-size bytes"},
		{"duration", "time length"},
		{"messages", "num-records num-messages msgs count requests iterations total"},
		{"producers", "pub pubs publishers vus clients concurrency threads workers"},
		{"consumers", "sub subs subscribers"},
		{"topics", "queues subjects channels partitions"},
		{"url", "bootstrap-server bootstrap-servers broker-list broker server servers host address uri"},
		{"slo", "threshold thresholds objective"},
		{"out", "output directory"},
		{"option", "producer-config consumer-config producer-props config"},
		{"tls-ca", "cacert ca tlsca"},
		{"tls-cert", "cert tlscert"},
		{"tls-key", "key tlskey"},
		{"tls-insecure", "insecure insecure-skip-tls-verify"},
		{"warmup", "warm-up ramp-up"},
	} {
		if slices.Contains(strings.Fields(x.elsewhere), flag) {
			return x.here, ""
		}
	}
	return "", ""
}

// flagNames are the names of a command's flags that are shown.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}
