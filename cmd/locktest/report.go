package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/checker"
	"github.com/locktest/locktest/reports"
	"github.com/locktest/locktest/runner"
)

// pageFlags are those of `report` alone.
type pageFlags struct {
	dir, output string
	most        int
	open, serve bool
	cross       string
	promise     promise
}

func (a *app) reportCommand() *cobra.Command {
	f := &pageFlags{}
	cmd := &cobra.Command{
		Use:   "report [RUN|HISTORY]",
		Short: "Write the page of a run anew, open it, or serve it",
		Long: `Judge what was recorded (by default in the latest run) and write its page: one HTML file with everything in it, that asks for nothing from anywhere. It lies
in the run's folder unless --output says otherwise; of a history from elsewhere it lies beside that.

Exit status 0 once the page is written, whatever the verdict is: locktest check has that.`,
		Example: "  locktest report latest --open\n  locktest report 7f3a -o /tmp/report.html\n  locktest report runs/latest --serve",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.makePage(cmd.Context(), append(args, runner.Latest)[0], f)
		},
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write")
	cmd.Flags().BoolVar(&f.open, "open", false, "open it in the browser (never where CI is set)")
	cmd.Flags().BoolVar(&f.serve, "serve", false, "serve it on a free port of this machine until Ctrl-C")
	cmd.Flags().IntVar(&f.most, "report-max", mostOperations, "operations that the page has at most")
	cmd.Flags().StringVar(&f.dir, "run-dir", "runs", "folder of the runs' folders")
	cmd.Flags().StringVar(&f.cross, "cross-check", "on", "off: leave the second engine out")
	f.promise.flags(cmd)
	return cmd
}

func (a *app) makePage(ctx context.Context, arg string, f *pageFlags) error {
	switch {
	case f.most < 1:
		return usage{fmt.Errorf("--report-max %d: expected 1 or more", f.most)}
	case f.cross != "on" && f.cross != "off":
		return usage{fmt.Errorf("--cross-check %s: expected on or off", f.cross)}
	case f.open && f.serve:
		return usage{errors.New("--open and --serve exclude each other")}
	}
	o, err := a.check(ctx, arg, f.dir, f.cross == "on", &f.promise, checker.Options{})
	if err != nil {
		return err
	}
	if dir, err := filepath.EvalSymlinks(o.Dir); err == nil && o.Dir != "" {
		o.Dir = dir // latest is another run's folder tomorrow
	}
	recorded(o)
	path, err := f.place(arg, o)
	if err != nil {
		return err
	}
	if err := a.writePage(path, o, f.most); err != nil {
		return unwritten{fmt.Errorf("the page is missing: %w", err)}
	}
	if a.json {
		err = a.print(map[string]string{"schema": "locktest.page/1", "report": filepath.ToSlash(path)})
	} else {
		fmt.Fprintln(a.stdout, filepath.ToSlash(path))
	}
	switch {
	case err != nil:
		return err
	case f.open:
		return a.open(path)
	case f.serve:
		return a.serve(ctx, path)
	}
	return nil
}

// place is where the page is to lie.
func (f *pageFlags) place(arg string, o *runner.Outcome) (string, error) {
	switch {
	case f.output != "":
		return f.output, nil
	case o.Dir != "":
		return filepath.Join(o.Dir, reports.HTMLFile), nil
	}
	history, err := historyOf(arg, f.dir)
	return history + ".html", err
}

// recorded adds what the run's own result says and its history doesn't. Without one, the history has to be enough.
func recorded(o *runner.Outcome) {
	var r struct {
		Cluster     struct{ Kind, Why, Ran string }
		Again       string
		Interrupted string
	}
	b, err := os.ReadFile(filepath.Join(o.Dir, runner.ResultFile))
	if o.Dir == "" || err != nil || json.Unmarshal(b, &r) != nil {
		return
	}
	o.Cluster, o.KindWhy, o.Interrupted = r.Cluster.Ran, r.Cluster.Why, r.Interrupted
	if r.Again != "" {
		o.Again = r.Again
	}
}

// open asks the desktop for a browser, and doesn't wait for it.
func (a *app) open(path string) error {
	if os.Getenv("CI") != "" {
		fmt.Fprintln(a.stderr, "locktest: nothing is opened where CI is set")
		return nil
	}
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return explained{fmt.Errorf("open the page: %w", err), "", []string{"open " + path + " in a browser by hand"}}
	}
	return cmd.Process.Release()
}

// serve offers the page on a loopback address until the context or a signal ends it, which is its normal end.
func (a *app) serve(ctx context.Context, path string) error {
	ctx, done := a.signals(ctx, 0)
	defer done()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve the page: %w", err)
	}
	server := &http.Server{Handler: onePage(path, l.Addr().String()), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(a.stderr, "locktest: http://%s/ until Ctrl-C\n", l.Addr())
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}

// onePage serves one file under / to who asks by this machine's address: a name that somebody else pointed here gets nothing.
func onePage(path, address string) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != address && r.Host != "localhost:"+port {
			http.Error(w, "not for this host", http.StatusForbidden)
			return
		}
		if r.URL.Path != "/" || r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		http.ServeFile(w, r, path)
	})
}
