package send

// laneQueue is a pacer's lanes by when they need attention, the earliest
// first: a binary heap.
type laneQueue []*lane

// first returns the lane that needs attention first.
func (q laneQueue) first() *lane { return q[0] }

// order makes a heap of lanes in any order.
func (q laneQueue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
}

// sink restores the order after the key of lane i has grown.
func (q laneQueue) sink(i int) {
	moving := q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1].key < q[child].key {
			child++
		}
		if q[child].key >= moving.key {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = moving
}
