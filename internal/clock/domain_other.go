//go:build !linux

package clock

// boot is not known here.
func boot() (string, bool) { return "", false }

// sharedDomain is not available here: there is no clock to share.
func sharedDomain() (string, bool) { return "", false }
