//go:build !linux

package vitals

// watcherOpeners lists what is looked at here: Go's collector; of the others it
// is said why not.
func watcherOpeners() []watcherOpener {
	list := []watcherOpener{{SourceGC, quickLook, openCollectionWatch}}
	for _, source := range []string{SourceThrottled, SourceSwap, SourceCrowded, SourceSteal} {
		list = append(list, watcherOpener{source, slowLook, func(int64) (watcher, error) { return nil, errNotHere }})
	}
	return list
}
