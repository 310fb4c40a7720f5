package checker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/locktest/locktest/history"
)

// CrossCheckChild is CrossCheck in a process of its own, exe with args, which calls CrossCheckMain: Porcupine's memory
// has no bound but n²/8 bytes, and it must not take the harness with it. What the child has not answered when its time
// or memory is over has no verdict. Its error says that h breaks the rules of recording, or that exe can't be started.
func CrossCheckChild(ctx context.Context, h *history.History, exe string, args []string, limits Limits) ([]Agreement, error) {
	qs, err := questions(ctx, h)
	if err != nil {
		return nil, err
	}
	limits = limits.filled()
	out := make([]Agreement, len(qs))
	var asked []int // the questions that are put to the child
	work := assignment{Limits: limits}
	for i := range qs {
		out[i] = qs[i].blank()
		if len(qs[i].Moves) > limits.Operations {
			out[i] = qs[i].ask(ctx, time.Time{}, limits)
			continue
		}
		asked = append(asked, i)
		work.Questions = append(work.Questions, qs[i])
	}
	if len(asked) == 0 {
		return out, nil
	}
	answers, why, err := runChild(ctx, exe, args, work)
	if err != nil {
		return nil, fmt.Errorf("cross-check: %w", err)
	}
	for k, i := range asked {
		if k < len(answers) {
			out[i] = answers[k]
		} else {
			out[i].Because = why
		}
	}
	return out, nil
}

// assignment is what the child reads; it answers with one line a question, in their order, and perhaps a last one that
// says why it stopped.
type assignment struct {
	Limits    Limits     `json:"limits"`
	Questions []question `json:"questions"`
}

type reply struct {
	Agreement *Agreement `json:"agreement,omitempty"`
	Stopped   string     `json:"stopped,omitempty"`
}

// runChild returns the answers that came, and why there are no more.
func runChild(ctx context.Context, exe string, args []string, work assignment) (answers []Agreement, why string, err error) {
	ctx, cancel := context.WithTimeout(ctx, work.Limits.Time+2*time.Second)
	defer cancel()
	in, err := json.Marshal(work)
	if err != nil {
		return nil, "", err
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Stdin = bytes.NewReader(in)
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	answers, why = readReplies(out)
	ended := cmd.Wait()
	switch {
	case why != "":
	case ctx.Err() != nil:
		why = fmt.Sprintf("the time for it, %s, was over", work.Limits.Time)
	case ended != nil:
		why = "its process ended early: " + ended.Error()
	default:
		why = "its process said nothing about it"
	}
	return answers, why, nil
}

func readReplies(r io.Reader) (answers []Agreement, why string) {
	d := json.NewDecoder(r)
	for {
		var x reply
		if d.Decode(&x) != nil {
			return answers, why
		}
		if x.Agreement != nil {
			answers = append(answers, *x.Agreement)
		}
		if x.Stopped != "" {
			why = x.Stopped
		}
	}
}

var errMemory = errors.New("cross-check: over the limit of memory")

// CrossCheckMain is the child's side of CrossCheckChild: it reads what to decide from in, answers on out, and returns
// the exit status. It returns when all is answered or the limits are reached; then the process has to end, as the search
// can't be stopped otherwise.
func CrossCheckMain(in io.Reader, out io.Writer) int {
	var work assignment
	if err := json.NewDecoder(bufio.NewReader(in)).Decode(&work); err != nil {
		return 1
	}
	limits := work.Limits.filled()
	debug.SetMemoryLimit(int64(limits.Memory))
	replies := make(chan Agreement, len(work.Questions))
	go func() {
		defer close(replies)
		end := time.Now().Add(limits.Time)
		for i := range work.Questions {
			replies <- work.Questions[i].ask(context.Background(), end, limits)
		}
	}()
	if err := answerAll(replies, json.NewEncoder(out), limits.Memory); err != nil {
		return 1
	}
	return 0
}

// answerAll passes on what is decided and watches the heap.
func answerAll(replies <-chan Agreement, out *json.Encoder, memory uint64) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case a, more := <-replies:
			if !more {
				return nil
			}
			if err := out.Encode(reply{Agreement: &a}); err != nil {
				return err
			}
		case <-tick.C:
			if heapInUse() > memory {
				why := fmt.Sprintf("it needed more than %d MiB of memory", memory>>20)
				return errors.Join(errMemory, out.Encode(reply{Stopped: why}))
			}
		}
	}
}

func heapInUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
