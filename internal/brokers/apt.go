package brokers

import (
	"context"
	"slices"
	"strings"
)

// debian returns the step that installs Debian packages without letting them start
// their services. It keeps changed configuration files and waits up to 5 minutes
// for another installation.
func debian(packages ...string) Step {
	return Step{
		Doc: "install Debian's " + strings.Join(packages, ", ") + " without starting a service",
		Command: append([]string{"apt-get", "install", "--yes", "--no-install-recommends",
			"-o", "Dpkg::Options::=--force-confold", "-o", "DPkg::Lock::Timeout=300"}, packages...),
		Env:  []string{"DEBIAN_FRONTEND=noninteractive"},
		Root: true,
	}
}

// planDebian is the plan of a product that is Debian packages.
func planDebian(packages ...string) func(context.Context, Home) ([]Step, error) {
	return func(context.Context, Home) ([]Step, error) { return []Step{debian(packages...)}, nil }
}

// aptUpdate fetches the list of packages.
func aptUpdate() Step {
	return Step{Doc: "fetch the list of Debian's packages", Command: []string{"apt-get", "update", "-o", "DPkg::Lock::Timeout=300"}, Root: true}
}

// aptInstalls reports whether packages are installed, whose scripts may start
// services.
func (s Step) aptInstalls() bool {
	return s.Root && len(s.Command) > 1 && s.Command[0] == "apt-get" && slices.Contains(s.Command, "install")
}

// stalePackages reports whether apt-get's output says that the list of packages is
// missing or outdated.
func stalePackages(said string) bool {
	return slices.ContainsFunc([]string{"Unable to locate package", "has no installation candidate", "Couldn't find any package",
		"Unable to fetch some archives", "Failed to fetch", "404  Not Found"},
		func(sign string) bool { return strings.Contains(said, sign) })
}

// quietServices is a shell program that runs a command with a policy under which
// packages start no services. It leaves a policy of the administrator alone, and replaces
// one that an earlier call left behind, for example after a power failure. It is a
// separate process so that the policy is removed even if this process is killed: a shell
// runs its traps when the command has ended.
const quietServices = `policy=/usr/sbin/policy-rc.d
if [ -e $policy ] && ! grep -q 'made by sixnines' $policy; then "$@"; exit; fi
trap 'rm -f $policy' EXIT
trap : HUP INT TERM
printf '#!/bin/sh\n# made by sixnines for the time of an installation\nexit 101\n' >$policy && chmod 755 $policy || exit
"$@"
exit $?
`
