package scenario_test

import (
	"fmt"

	"sixnines/scenario"
)

func ExampleParse() {
	_, err := scenario.Parse("run.yaml", []byte("workload:\n  rat: 3000/s\n  size: 256\n"))
	fmt.Println(err)
	// Output:
	// run.yaml:2:3: unknown key "rat" in workload (did you mean rate?)
	// run.yaml:3:9: the size "256" has no unit (write 256B or 256KiB)
}

func ExampleScenario_Apply() {
	s, err := scenario.Parse("run.yaml", []byte("workload: {rate: 3000/s, think: 1ms}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Apply(scenario.Override{Key: "workload.size", Value: "1kb", Flag: "--size"}))
	fmt.Println(s.Apply(scenario.Override{Key: "workload.rate", Value: "20k/s", Flag: "--rate"}))
	fmt.Println(s.Workload.Rate)
	fmt.Println(s.Validate())
	// Output:
	// --size: the size "1kb" has an unknown unit "kb" (write 1kB)
	// <nil>
	// 20000/s
	// run.yaml:1:33: think time is for a closed loop (choose loop: closed, or leave it out)
}
