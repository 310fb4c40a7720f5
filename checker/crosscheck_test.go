package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locktest/locktest/history"
)

// TestMain lets the test binary be the child of a cross-check, and says how many histories of other projects were judged.
func TestMain(m *testing.M) {
	if os.Getenv("LOCKTEST_CROSSCHECK_CHILD") != "" {
		os.Exit(CrossCheckMain(os.Stdin, os.Stdout))
	}
	status := m.Run()
	sayForeign()
	os.Exit(status)
}

// TestGoldenCrossCheck asks Porcupine about every hand-made history.
func TestGoldenCrossCheck(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	models := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		given, _, _ := strings.Cut(string(text), "\n---\n")
		as, err := CrossCheck(context.Background(), parsed(t, given), Limits{})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, a := range as {
			models[a.Model+" "+a.Answer]++
			if !a.Agrees {
				t.Errorf("%s: %+v", file, a)
			}
		}
	}
	for _, want := range []string{"mutex", "fenced mutex", "belief exclusion", "register", "fenced register"} {
		if models[want+" legal"] == 0 || models[want+" illegal"] == 0 {
			t.Errorf("%s was asked %d legal and %d illegal histories; want some of each", want, models[want+" legal"], models[want+" illegal"])
		}
	}
}

// TestPrunedAgainstSweep asks Porcupine about the pruned history, which is what a run does.
func TestPrunedAgainstSweep(t *testing.T) {
	n, seed := fuzzCount(t)
	for name, d := range campaigns() {
		if noExclusion(ptr(d.contract())) != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for i := range n {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				ops := d.draw(r)
				as, err := CrossCheck(context.Background(), d.history(ops), Limits{})
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range as {
					if !a.Agrees {
						t.Fatalf("seed %d/%d: %+v\n%s", seed, i, a, spell(ops))
					}
				}
			}
		})
	}
}

func ptr[T any](x T) *T { return &x }

func child(t *testing.T, h *history.History, limits Limits) []Agreement {
	t.Helper()
	t.Setenv("LOCKTEST_CROSSCHECK_CHILD", "1")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	as, err := CrossCheckChild(context.Background(), h, exe, nil, limits)
	if err != nil {
		t.Fatal(err)
	}
	return as
}

func TestCrossCheckChild(t *testing.T) {
	as := child(t, parsed(t, "a:A[0,10] b:A[20,30] a:R[50,60]"), Limits{})
	if len(as) != 1 || !as[0].Agrees || as[0].Answer != "illegal" || as[0].Model != ModelMutex {
		t.Errorf("%+v, want one that agrees on illegal", as)
	}
}

// crowd is a history in which n clients wait all along and are granted in an order that no search guesses.
func crowd(n, rounds int) *history.History {
	var b strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	calls := make([]int, n)
	at := 1000
	for range rounds {
		c := r.IntN(n)
		fmt.Fprintf(&b, "c%d:A[%d,%d] c%d:R[%d,%d]\n", c, calls[c], at+2, c, at+3, at+5)
		calls[c] = at + 6
		at += 4
	}
	h, err := history.ParseTextString(b.String())
	if err != nil {
		panic(err)
	}
	return h
}

func TestCrossCheckLimits(t *testing.T) {
	tests := map[string]struct {
		limits Limits
		want   string
	}{
		"operations": {Limits{Operations: 100}, "over the limit of 100"},
		"memory":     {Limits{Memory: 8 << 20}, "more than 8 MiB of memory"},
		"time":       {Limits{Time: time.Millisecond}, "1ms"},
	}
	h := crowd(60, 8000)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			as := child(t, h, tt.limits)
			if len(as) != 1 || as[0].Answer != "" || as[0].Disagrees() || !strings.Contains(as[0].Because, tt.want) {
				t.Errorf("%+v, want no verdict, because of %q", as, tt.want)
			}
		})
	}
}
