//go:build !linux

package engine

// lowerPriority does nothing where priorities belong to processes.
func lowerPriority() {}

// raisePriority likewise.
func raisePriority() {}
