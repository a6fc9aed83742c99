package scenario_test

import (
	"fmt"

	"sixnines/scenario"
)

func ExampleParse() {
	_, err := scenario.Parse("run.yaml", []byte("workload:\n  rat: 3000/s\n  size: 256x\n"))
	fmt.Println(err)
	// Output:
	// run.yaml:2:3: unknown key "rat" in workload (did you mean rate?)
	// run.yaml:3:9: the size "256x" has an unknown unit "x" (a size is a number of bytes, or has a unit: kB, MB, GB (powers of 1000), K or KiB, MiB, GiB (powers of 1024))
}

func ExampleScenario_Apply() {
	s, err := scenario.Parse("run.yaml", []byte("workload: {rate: 3000/s, think: 1ms}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Apply(scenario.Override{Key: "workload.size", Value: "1kbit", Flag: "--size"}))
	fmt.Println(s.Apply(scenario.Override{Key: "workload.rate", Value: "20k/s", Flag: "--rate"}))
	fmt.Println(s.Workload.Rate)
	fmt.Println(s.Validate())
	// Output:
	// --size: the size "1kbit" has an unknown unit "kbit" (did you mean KiB?)
	// <nil>
	// 20000/s
	// run.yaml:1:33: think time needs a closed loop (choose loop: closed, or leave it out)
}
