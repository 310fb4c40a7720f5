package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/cluster"
	"github.com/locktest/locktest/history"
	"github.com/locktest/locktest/reports/prom"
	"github.com/locktest/locktest/runner"
)

// Bounds of telling of events while they happen: a reader that is slower than the run loses some, and the run loses nothing.
const (
	liveEvents   = 1 << 16
	livePatience = 5 * time.Second
)

// live tells of runs while they last: each event as a line of JSON, and metrics over HTTP.
type live struct {
	path, addr string

	queue    chan message
	done     chan struct{}
	dropped  atomic.Int64
	patience time.Duration // with the reader, at the begin and the end of a run
	stuck    bool          // it was too slow for that once
	untold   atomic.Bool   // the run's begin was lost, and with it all that would follow
	events   io.Writer     // nil: nobody asked
	failed   error         // of events
	file     io.Closer
	metrics  *prom.Metrics // nil: nobody asked
	server   *http.Server
}

// message is an event, or the begin or the end of a run.
type message struct {
	op    history.Op
	begin *history.Header
	end   *runner.Outcome
}

func (l *live) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.path, "events", "", "write each event as a line of JSON while it happens to this file; - is standard error")
	cmd.Flags().StringVar(&l.addr, "metrics-addr", "", "HOST:PORT where /metrics is served for Prometheus while runs last, such as 127.0.0.1:9464")
}

// start opens what is asked for. stop must follow, unless it fails.
func (l *live) start(a *app) error {
	if l.path == "" && l.addr == "" {
		return nil
	}
	switch l.path {
	case "":
	case "-":
		l.events = a.stderr
	default:
		f, err := os.Create(l.path)
		if err != nil {
			return fmt.Errorf("--events: %w", err)
		}
		l.events, l.file = a.discreet(f), f
	}
	if err := l.listen(a); err != nil {
		if l.file != nil {
			err = errors.Join(err, l.file.Close())
		}
		return err
	}
	l.queue, l.done, l.patience = make(chan message, liveEvents), make(chan struct{}), livePatience
	go l.work()
	return nil
}

func (l *live) listen(a *app) error {
	if l.addr == "" {
		return nil
	}
	listener, err := net.Listen("tcp", l.addr)
	if err != nil {
		return &cluster.Error{Code: cluster.CodePortInUse, Message: fmt.Sprintf("--metrics-addr %s: %v", l.addr, err), Fix: []string{"choose another port; 127.0.0.1:0 takes a free one"}}
	}
	l.metrics = prom.New(catalog.Versions())
	mux := http.NewServeMux()
	mux.Handle("/metrics", l.metrics.Handler())
	l.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go l.server.Serve(listener) // its error is that stop ended it
	fmt.Fprintf(a.stderr, "locktest: metrics are served at http://%s/metrics\n", listener.Addr())
	return nil
}

// each is told of every event of a run; it never blocks.
func (l *live) each(op *history.Op) {
	if l.untold.Load() {
		l.dropped.Add(1)
		return
	}
	select {
	case l.queue <- message{op: *op}:
	default:
		l.dropped.Add(1)
	}
}

// on returns what a run has to tell its events to; nil: nobody asked.
func (l *live) on() func(*history.Op) {
	if l.queue == nil {
		return nil
	}
	return l.each
}

func (l *live) begin(h history.Header) {
	if l.queue != nil {
		l.untold.Store(!l.send(message{begin: &h}))
	}
}

func (l *live) end(o *runner.Outcome) {
	if l.queue != nil {
		l.send(message{end: o})
	}
}

// send queues what a run begins or ends with. It waits for a slow reader, but not for ever, since nothing else is done meanwhile, and not
// at all for one that was stuck before.
func (l *live) send(m message) bool {
	select {
	case l.queue <- m:
		l.stuck = false
		return true
	default:
	}
	if !l.stuck {
		select {
		case l.queue <- m:
			return true
		case <-time.After(l.patience):
			l.stuck = true
		}
	}
	l.dropped.Add(1)
	return false
}

func (l *live) work() {
	defer close(l.done)
	var line []byte
	for m := range l.queue {
		switch {
		case m.begin != nil:
			line, _ = json.Marshal(m.begin) // it was written into the history already
			if l.metrics != nil {
				l.metrics.Begin(m.begin)
			}
		case m.end != nil:
			line, _ = json.Marshal(resultLine(m.end))
			if l.metrics != nil {
				l.metrics.Judged(m.end)
			}
		default:
			line = history.AppendJSON(line[:0], &m.op)
			if l.metrics != nil {
				l.metrics.Observe(&m.op)
			}
		}
		if l.events != nil && l.failed == nil {
			_, l.failed = l.events.Write(append(line, '\n'))
		}
	}
}

// resultLine is what ends the events of a run.
func resultLine(o *runner.Outcome) map[string]any {
	m := map[string]any{"type": "result", "run": o.Run, "lock": o.Lock, "seed": fmt.Sprint(o.Seed), "word": o.Conclusion.Word, "exit": exitOf(o, nil), "conditions": o.Conclusion.Conditions}
	if o.Scenario != nil {
		m["scenario"] = o.Scenario.Name
	}
	if o.Err != nil {
		m["error"] = o.Err.Error()
	}
	return m
}

// stop tells what is left to tell, and ends the server. What was lost is told on standard error.
func (l *live) stop(a *app) {
	if l.queue == nil {
		return
	}
	close(l.queue)
	select {
	case <-l.done:
		if l.failed != nil {
			fmt.Fprintf(a.stderr, "locktest: --events is incomplete: %v\n", l.failed)
		}
	case <-time.After(livePatience):
		fmt.Fprintf(a.stderr, "locktest: --events is incomplete: its reader takes nothing\n")
	}
	if n := l.dropped.Load(); n > 0 {
		fmt.Fprintf(a.stderr, "locktest: %d events were not told while they happened, since the reader was too slow; the history has them\n", n)
	}
	if l.file != nil {
		if err := l.file.Close(); err != nil {
			fmt.Fprintf(a.stderr, "locktest: --events is incomplete: %v\n", err)
		}
	}
	if l.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), livePatience)
		defer cancel()
		if err := l.server.Shutdown(ctx); err != nil {
			l.server.Close()
		}
	}
}
