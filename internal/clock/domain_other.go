//go:build !linux

package clock

// sharedDomain is not available here: there is no clock to share.
func sharedDomain() (string, bool) { return "", false }
