package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/internal/fleet/manifests"
	"sixnines/scenario"
)

// manifestsOptions are the flags of fleet manifests.
type manifestsOptions struct {
	manifests.Options
	out string
}

func (a *app) fleetManifestsCommand() *cobra.Command {
	var o manifestsOptions
	cmd := &cobra.Command{
		Use:   "manifests [SCENARIO.yaml]",
		Short: "Write what runs a fleet on Kubernetes",
		Long: `Write manifests for kustomize that run a fleet on Kubernetes: the control plane, agents as
an Indexed Job, and a Job that leads one run of SCENARIO.yaml, or of an example to edit,
when all agents are there. The result is what that Job logs.

No pod of the fleet shares a node with a pod that has the brokers' label: it stays Pending
if there is no other node. Requests equal limits, so that pods are Guaranteed.

The directory secrets, which git ignores, has the fleet's keys. They are made anew each
time, so a fleet is applied and removed with the same directory.`,
		Example: `  sixnines fleet manifests --agents 3 --brokers-label app.kubernetes.io/name=kafka -o fleet
  kubectl apply -k fleet
  kubectl -n sixnines logs -f job/sixnines-coordinator > result.jsonl`,
		Args: counted(0, 1, "at most one SCENARIO.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.fleetManifests(args, o) },
	}
	what := sectionOf("Fleet", func(f *pflag.FlagSet) {
		f.IntVar(&o.Agents, "agents", 3, "`N` agents")
		f.StringVar(&o.Namespace, "namespace", manifests.DefaultNamespace, "`NAME` of the fleet's own namespace")
		f.StringVar(&o.Image, "image", manifests.DefaultImage, "`IMAGE` of this version of sixnines, in a registry that the nodes reach")
		f.StringVar(&o.Brokers, "brokers-label", manifests.DefaultBrokers, "`KEY=VALUE` of the brokers' pods")
		f.StringVar(&o.CPU, "cpu", manifests.DefaultCPU, "`N` processors of each pod")
		f.StringVar(&o.Memory, "memory", manifests.DefaultMemory, "`SIZE` of each pod's memory")
	})
	output := sectionOf("Output", func(f *pflag.FlagSet) {
		f.StringVarP(&o.out, "out", "o", "fleet", "`DIR` to write; it must be absent or empty")
	})
	a.take(cmd, what, output)
	return cmd
}

func (a *app) fleetManifests(args []string, o manifestsOptions) error {
	if len(args) > 0 {
		text, err := os.ReadFile(a.path(args[0]))
		if err != nil {
			return failed(fileHint(err), err)
		}
		s, err := scenario.Parse(args[0], text)
		if err == nil {
			s.Normalise()
			err = s.Validate()
		}
		if err != nil {
			return &fault{exitUsage, err, "correct it; docs/scenarios.md has the format"}
		}
		o.Scenario = text
	}
	switch err := manifests.Write(a.path(o.out), o.Options); {
	case errors.Is(err, manifests.ErrOption):
		return &fault{exitUsage, err, "correct the flag"}
	case errors.Is(err, fs.ErrExist):
		return &fault{exitUsage, err, "it is not empty: name another directory with -o, or remove it; a fleet that was applied from it is removed with kubectl delete -k first"}
	case err != nil:
		return failed("name another directory with -o", err)
	}
	if len(args) == 0 {
		fmt.Fprintf(a.Stderr, "edit %s/scenario.yaml first: it names the broker\n", o.out)
	}
	fmt.Fprintf(a.Stderr, "run it with: kubectl apply -k %s\n", o.out)
	_, err := fmt.Fprintln(a.Stdout, o.out)
	return err
}
