//go:build !linux

package selftest

import "os/exec"

func lastProcessor() (int, error) { return 0, errNoStarving }

func bind(int, int, int) error { return errNoStarving }

func startBound(*exec.Cmd, int, int) error { return errNoStarving }
