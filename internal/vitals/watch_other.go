//go:build !linux

package vitals

import "sixnines/result"

// watcherOpeners lists what is looked at here: Go's collector; the others have
// the reason why not.
func watcherOpeners() []watcherOpener {
	list := []watcherOpener{{result.PauseGC, quickLook, openCollectionWatch}}
	for _, source := range []result.PauseSource{result.PauseThrottled, result.PauseSwap, result.PauseContention, result.PauseSteal} {
		list = append(list, watcherOpener{source, slowLook, func(int64) (watcher, error) { return nil, errNotHere }})
	}
	return list
}
