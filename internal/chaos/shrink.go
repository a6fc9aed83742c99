package chaos

// Shrink returns a part of items, in their order, for which fails still holds and that is as short as
// can be found by leaving out runs of items: without any one of its items fails does not hold. It holds
// for all items, or the result is nil. An error of fails, such as that of a search that is ended, ends
// Shrink: the part that had been found by then comes with it.
//
// The method is delta debugging: A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing
// input", IEEE Transactions on Software Engineering 28(2), 2002.
func Shrink[T any](items []T, fails func(part []T) (bool, error)) ([]T, error) {
	if is, err := fails(items); err != nil || !is {
		return nil, err
	}
	for parts := min(2, len(items)); parts > 0; {
		shorter, err := without(items, parts, fails)
		switch {
		case err != nil:
			return items, err
		case shorter != nil:
			items = shorter
			parts = min(max(parts-1, 2), len(items)) // 0: nothing is left, and nothing is needed
		case parts == len(items):
			return items, nil
		default:
			parts = min(2*parts, len(items))
		}
	}
	return items, nil
}

// without divides items into parts of about equal length and returns them without the first part that
// fails can do without; nil: it needs all.
func without[T any](items []T, parts int, fails func([]T) (bool, error)) ([]T, error) {
	for k := range parts {
		from, to := k*len(items)/parts, (k+1)*len(items)/parts
		rest := append(items[:from:from], items[to:]...) // never nil
		if is, err := fails(rest); err != nil || is {
			return rest, err
		}
	}
	return nil, nil
}
