//go:build !linux

package vitals

// watcherOpeners lists what is looked at here: Go's collector; the others have
// the reason why not.
func watcherOpeners() []watcherOpener {
	list := []watcherOpener{{SourceGC, quickLook, openCollectionWatch}}
	for _, source := range []string{SourceThrottled, SourceSwap, SourceOthers, SourceSteal} {
		list = append(list, watcherOpener{source, slowLook, func(int64) (watcher, error) { return nil, errNotHere }})
	}
	return list
}
