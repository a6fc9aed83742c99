//go:build !linux

package main

import "syscall"

// changeRoot is for Linux, whose images these are.
func changeRoot(string) *syscall.SysProcAttr { return nil }
