package schedule_test

import (
	"fmt"
	"time"

	"sixnines/internal/schedule"
	"sixnines/scenario"
)

// Two producers share 100 messages in 3 s; a pacer serves both.
func ExamplePlan_Merge() {
	w := scenario.Workload{Rate: scenario.Rate{Messages: 100, Per: 3 * time.Second}, Producers: 2}
	plan, err := schedule.New(&w, 120*time.Millisecond, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	due := plan.Merge([]int{0, 1}, schedule.Window)
	for {
		offset, producer, ok := due.Next()
		if !ok {
			break
		}
		fmt.Println(offset, producer)
	}
	// Output:
	// 0 0
	// 30000000 1
	// 60000000 0
	// 90000000 1
}
