//go:build !linux

package vitals

import "sixnines/result"

// watcherOpeners lists the watcher of Go's collector; all others fail to open here and
// are reported as missing.
func watcherOpeners() []watcherOpener {
	list := []watcherOpener{{result.PauseGC, quickLook, openCollectionWatch}}
	for _, source := range []result.PauseSource{result.PauseThrottled, result.PauseSwap, result.PauseContention, result.PauseSteal} {
		list = append(list, watcherOpener{source, slowLook, func(int64) (watcher, error) { return nil, errNotHere }})
	}
	return list
}
