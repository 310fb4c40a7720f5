package nemesis_test

import (
	"fmt"
	"time"

	"github.com/locktest/locktest/nemesis"
)

// A schedule is laid out before the run: the same seed gives the same one.
func ExampleLay() {
	every := nemesis.Range{Min: 10 * time.Second, Max: 10 * time.Second}
	lasting := nemesis.Range{Min: 2 * time.Second, Max: 2 * time.Second}
	plans, err := nemesis.Lay([]nemesis.Entry{{
		Fault:   nemesis.NewPause(nemesis.Target{Of: nemesis.Holder}),
		Trigger: nemesis.Trigger{Every: &every},
		For:     lasting,
	}}, 42, nemesis.Window{From: time.Second, Until: 35 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range plans[0].Times {
		fmt.Printf("at %v for %v: %s\n", o.Begin, o.For, plans[0].Fault.Text())
	}
	// Output:
	// at 11s for 2s: pause the holder
	// at 21s for 2s: pause the holder
	// at 31s for 2s: pause the holder
}
