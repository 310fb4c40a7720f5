package checker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/locktest/locktest/history"
)

// TestBench prints how the sweep and the general engine compare with Porcupine on the same histories: CPU, and memory
// above the history. make bench-checker runs it; it takes some minutes, so it asks for LOCKTEST_BENCH.
func TestBench(t *testing.T) {
	if os.Getenv("LOCKTEST_BENCH") == "" {
		t.Skip("it takes minutes and judges nothing: make bench-checker")
	}
	fmt.Println("| history | sweep | engine | Porcupine v1.3.1 | Porcupine / sweep | Porcupine / engine | aim |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range benchRows() {
		r.measure(t)
	}
	benchRegister(t, 750)
	benchRegister(t, 7_500)
	benchCommand(t)
}

// benchCommand measures locktest check of a file, from its start to its end: reading, judging and printing.
func benchCommand(t *testing.T) {
	dir := t.TempDir()
	program, file := filepath.Join(dir, "locktest"), filepath.Join(dir, "million.jsonl")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/locktest").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := benchRow{big: big{model: "mutex", ops: 1_000_000, clients: 100, unknown: 0.05}}
	h := r.big.history(r.big.make())
	h.Header.Schema = history.Schema
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(history.WriteJSONL(f, h), f.Close()); err != nil {
		t.Fatal(err)
	}
	size, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	h = nil
	debug.FreeOSMemory()
	var times, cpus []time.Duration
	for range 5 {
		cmd := exec.Command(program, "check", "--cross-check=off", file)
		began := time.Now()
		out, err := cmd.CombinedOutput()
		times = append(times, time.Since(began))
		if !strings.Contains(string(out), "mutual exclusion  held") {
			t.Fatalf("%v: %s", err, out)
		}
		cpus = append(cpus, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	slices.Sort(times)
	slices.Sort(cpus)
	fmt.Printf("\nlocktest check --cross-check=off of a file of %s ops, %d clients, %.0f %% unknown, %d MB: %s from start to end (%s CPU); the aim: ≤ 6s\n",
		grouped(r.ops), r.clients, 100*r.unknown, size.Size()>>20, short(times[2]), short(cpus[2]))
}

// benchRegister is the same of a register that 20 clients read and write at a time, each write a version of its own, all
// answered.
func benchRegister(t *testing.T, ops int) {
	const clients = 20
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("lock L owner-checked release-held\nresource x\n")
	free := make([]int, clients)
	for c := range clients {
		fmt.Fprintf(&b, "c%d:A[0,1]\n", c)
		free[c] = 1
	}
	now, version := 2, 0 // what takes effect does so now
	for i := 1; i <= ops; i++ {
		c := r.IntN(clients)
		if now++; free[c] >= now {
			c = slices.Index(free, slices.Min(free))
			now = max(now, free[c]+1)
		}
		call := now - r.IntN(min(now-free[c], clients))
		free[c] = now + r.IntN(clients)
		what := 'D'
		if r.IntN(2) == 0 {
			what, version = 'W', i
		}
		fmt.Fprintf(&b, "c%d:%c[%d,%d]on=x,v=%d\n", c, what, call, free[c], version)
	}
	h, err := history.ParseTextString(b.String())
	if err != nil {
		t.Fatal(err)
	}
	sweep := median(25, func() {
		if res := Run(context.Background(), h, []Checker{For(ResourceSafety)}, Options{}); res[0].Verdict != Held {
			t.Errorf("a legal register: %s", told(res))
		}
	})
	asked, err := questions(context.Background(), h)
	if err != nil {
		t.Fatal(err)
	}
	said := "not asked"
	var other time.Duration
	for i := range asked {
		if q := &asked[i]; q.Resource == "x" {
			other, _ = once(func() { said = q.decide(time.Minute) })
		}
	}
	ratio := "no verdict"
	if said == legal {
		ratio = fmt.Sprintf("%.0fx", float64(other)/float64(sweep.cpu))
	}
	fmt.Printf("| register, %s ops, %d clients | %s | – | %s, %s | %s | – | sweep ≥ 300x |\n", grouped(ops), clients, sweep, said, short(other), ratio)
}

type benchRow struct {
	big
	sweepAim, engineAim float64 // ratios; 0: none
	alone               bool    // Porcupine isn't run
	absolute            string
}

func benchRows() []benchRow {
	mutex := func(ops, clients int, sweep, engine float64) benchRow {
		return benchRow{big: big{model: "mutex", ops: ops, clients: clients, unknown: 0.01, permits: 4}, sweepAim: sweep, engineAim: engine}
	}
	rows := []benchRow{
		mutex(1_000, 5, 5, 0), mutex(1_000, 20, 30, 0), mutex(1_000, 100, 300, 0),
		mutex(10_000, 5, 20, 8), mutex(10_000, 20, 80, 15), mutex(10_000, 100, 500, 80),
		mutex(100_000, 5, 60, 0),
	}
	fifo := mutex(10_000, 20, 15, 0)
	fifo.fifo = true
	rows = append(rows, fifo)
	for _, m := range []string{"fenced", "rw", "semaphore"} {
		r := mutex(10_000, 20, map[string]float64{"fenced": 80}[m], 0)
		if r.sweepAim == 0 {
			r.sweepAim = 500
		}
		r.model = m
		rows = append(rows, r)
	}
	many := mutex(1_000_000, 100, 10, 0)
	many.locks = 1000
	planted := mutex(10_000, 20, 0, 0)
	planted.unknown, planted.planted = 0.05, 0.9
	rows = append(rows, many, planted)
	for _, at := range []float64{0, 0.1, 0.9} {
		r := mutex(100_000, 20, 0, 0)
		r.unknown, r.planted, r.alone = 0.05, at, true
		rows = append(rows, r)
	}
	for _, clients := range []int{5, 20, 100} {
		r := mutex(1_000_000, clients, 0, 0)
		r.unknown, r.alone, r.absolute = 0.05, true, "sweep ≤ 500ms and 150 MB, engine ≤ 2s"
		rows = append(rows, r)
	}
	return rows
}

func (r *benchRow) name() string {
	s := fmt.Sprintf("%s, %s ops, %d clients, %.0f %% unknown", r.model, grouped(r.ops), r.clients, 100*r.unknown)
	if r.fifo {
		s += ", FIFO"
	}
	if r.locks > 0 {
		s += fmt.Sprintf(", %d locks", r.locks)
	}
	if r.planted > 0 {
		s += fmt.Sprintf(", a violation at %.0f %%", 100*r.planted)
	}
	return s
}

// cost is the median of several runs.
type cost struct {
	cpu   time.Duration
	bytes uint64
}

func (c cost) String() string { return fmt.Sprintf("%s, %d MB", short(c.cpu), c.bytes>>20) }

func short(d time.Duration) string {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// median runs f n times and returns the median CPU time and the largest heap above what there was before.
func median(n int, f func()) cost {
	var c cost
	var times []time.Duration
	for range n {
		cpu, bytes := once(f)
		times = append(times, cpu)
		c.bytes = max(c.bytes, bytes)
	}
	slices.Sort(times)
	c.cpu = times[len(times)/2]
	return c
}

func once(f func()) (cpu time.Duration, bytes uint64) {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		top := uint64(0)
		for {
			select {
			case <-stop:
				peak <- top
				return
			case <-time.After(5 * time.Millisecond):
				top = max(top, heapInUse())
			}
		}
	}()
	start := cpuTime()
	f()
	cpu = cpuTime() - start
	close(stop)
	if top := <-peak; top > before.HeapAlloc {
		bytes = top - before.HeapAlloc
	}
	return cpu, bytes
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (r *benchRow) measure(t *testing.T) {
	ops := r.big.make()
	h := r.big.history(ops)
	want := r.planted == 0
	var legal bool
	runs := 5
	if r.ops <= 10_000 {
		runs = 25 // what takes a millisecond is measured often
	}
	sweep := median(runs, func() {
		v, err := newView(h)
		if err != nil {
			t.Fatal(err)
		}
		legal = true
		for i := range v.locks {
			legal = legal && r.legalBySweep(v, &v.locks[i])
		}
	})
	if legal != want {
		t.Errorf("%s: the sweep says legal=%v, want %v", r.name(), legal, want)
	}
	engine := median(runs, func() {
		v, err := newView(h)
		if err != nil {
			t.Fatal(err)
		}
		legal = true
		for i := range v.locks {
			got := decideDeeds(context.Background(), v.deedsOf(&v.locks[i]), &v.locks[i].contract, budget{configs: 1 << 20})
			if got.gaveUp != "" {
				t.Errorf("%s: the engine gave up: %s", r.name(), got.gaveUp)
			}
			legal = legal && got.legal
		}
	})
	if legal != want {
		t.Errorf("%s: the engine says legal=%v, want %v", r.name(), legal, want)
	}
	other, ratio1, ratio2 := "not run", "–", "–"
	if !r.alone {
		other, ratio1, ratio2 = r.against(sweep, engine)
	}
	fmt.Printf("| %s | %s | %s | %s | %s | %s | %s |\n", r.name(), sweep, engine, other, ratio1, ratio2, r.aims())
}

func (r *benchRow) aims() string {
	var out []string
	if r.absolute != "" {
		out = append(out, r.absolute)
	}
	if r.sweepAim > 0 {
		out = append(out, fmt.Sprintf("sweep ≥ %.0fx", r.sweepAim))
	}
	if r.engineAim > 0 {
		out = append(out, fmt.Sprintf("engine ≥ %.0fx", r.engineAim))
	}
	return strings.Join(out, ", ")
}

func (r *benchRow) legalBySweep(v *view, l *lockView) bool {
	n := l.holds()
	if len(n.breaches) > 0 || v.sweepFinds(l, n) {
		return false
	}
	return r.model != "fenced" || !v.tokensDisagree(l, n)
}

// against runs Porcupine on the operations as they are, in a process of its own with 60 s and 4 GB.
func (r *benchRow) against(sweep, engine cost) (said, ratio1, ratio2 string) {
	exe, err := os.Executable()
	if err != nil {
		return err.Error(), "–", "–"
	}
	cmd := exec.Command(exe, "-test.run", "^TestBenchChild$")
	cmd.Env = append(os.Environ(), "LOCKTEST_BENCH_CHILD="+r.encode())
	out, err := cmd.CombinedOutput()
	var verdict string
	var ms float64
	var mb int
	for line := range strings.Lines(string(out)) {
		if n, _ := fmt.Sscanf(line, "porcupine %s %f %d", &verdict, &ms, &mb); n == 3 {
			break
		}
	}
	if verdict != "Ok" && verdict != "Illegal" {
		return fmt.Sprintf("no verdict (%s; %.0f ms, %d MB)", verdict, ms, mb), "no verdict", "no verdict"
	}
	cpu := time.Duration(ms * float64(time.Millisecond))
	return fmt.Sprintf("%s, %s, %d MB", verdict, short(cpu), mb),
		fmt.Sprintf("%.0fx", float64(cpu)/float64(sweep.cpu)), fmt.Sprintf("%.0fx", float64(cpu)/float64(engine.cpu))
}

func (r *benchRow) encode() string {
	return fmt.Sprintf("%s %d %d %g %g %d %d %t", r.model, r.ops, r.clients, r.unknown, r.planted, max(1, r.locks), r.permits, r.fifo)
}

// TestBenchChild is Porcupine's side of TestBench.
func TestBenchChild(t *testing.T) {
	spec := os.Getenv("LOCKTEST_BENCH_CHILD")
	if spec == "" {
		t.Skip("it is a part of TestBench")
	}
	var b big
	if _, err := fmt.Sscan(spec, &b.model, &b.ops, &b.clients, &b.unknown, &b.planted, &b.locks, &b.permits, &b.fifo); err != nil {
		t.Fatal(err)
	}
	ops := b.make()
	byLock := make([][]porcupine.Operation, b.locks)
	for i := range ops {
		o := &ops[i]
		byLock[o.lock] = append(byLock[o.lock], porcupine.Operation{ClientId: int(o.owner), Input: &o.small, Call: o.call, Return: o.ret})
	}
	go func() { // it can't be stopped otherwise
		for {
			time.Sleep(20 * time.Millisecond)
			if rss() > 4<<10 {
				fmt.Printf("porcupine over-4-GB %f %d\n", float64(cpuTime().Milliseconds()), rss())
				os.Exit(0)
			}
		}
	}()
	d := dice{model: b.model, permits: b.permits, limit: 1}
	end, verdict := time.Now().Add(60*time.Second), porcupine.Ok
	var times []time.Duration
	var sum time.Duration
	for verdict != porcupine.Unknown && len(times) < 25 && sum < time.Second { // what takes long is measured once
		runtime.GC()
		start := cpuTime()
		verdict = porcupine.Ok
		for _, list := range byLock {
			if got := porcupine.CheckOperationsTimeout(d.porcupine(), list, time.Until(end)); got != porcupine.Ok {
				verdict = got
				break
			}
		}
		times = append(times, cpuTime()-start)
		sum += times[len(times)-1]
	}
	slices.Sort(times)
	middle := float64(times[len(times)/2]) / 1e6
	if verdict == porcupine.Unknown {
		fmt.Printf("porcupine over-60-s %f %d\n", middle, rss())
		return
	}
	fmt.Printf("porcupine %s %f %d\n", verdict, middle, rss())
}

// rss is the largest resident size so far, in MB.
func rss() int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb >> 10
		}
	}
	return 0
}
