// Package process starts a fakeserver in a process of its own. It needs nothing but the standard library.
//
// The package fakeserver gives tests a server with less to do.
package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"fakeserver/control"
)

const (
	startTimeout = 30 * time.Second
	// Longer than the server takes to answer the requests that it has.
	stopTimeout = 10 * time.Second
)

// owned are the flags by which the server ends when this process is gone, even if it was killed.
var owned = []string{"--end-with-parent"}

var announcement = regexp.MustCompile(`^listening on (https?://\S+)$`)

// Options say how a server starts.
type Options struct {
	// Flags are those of `fakeserver serve`.
	Flags []string
	// KubernetesVersion is the version of Kubernetes, as in "1.34"; if empty, that of the variable FAKESERVER_KUBERNETES_VERSION, or
	// else the default of the program.
	KubernetesVersion string
	// Program is its path; if empty, FindProgram finds it.
	Program string
	// StartTimeout is the limit until it listens; if 0, 30 s.
	StartTimeout time.Duration
}

// Server is a server that this process owns.
type Server struct {
	// URL is its address, as in http://127.0.0.1:40123.
	URL string
	// Kubeconfig is the path of a kubeconfig for it, which is removed with it.
	Kubeconfig string
	// Control has the operations behind its API.
	Control *control.Client
	// Client sends requests to it, with its administrator's certificate if it serves by TLS.
	Client *http.Client

	command       *exec.Cmd
	said          *tail
	ended         chan struct{}
	initialFaults []uint64
}

// Start starts a server, and returns it once it listens.
func Start(options Options) (*Server, error) {
	program := options.Program
	if program == "" {
		found, err := FindProgram()
		if err != nil {
			return nil, err
		}
		program = found
	}
	// Neither the user's kubeconfig nor a name that others can guess.
	kubeconfig := filepath.Join(os.TempDir(), "fakeserver-"+rand.Text()+".kubeconfig")
	words := slices.Concat([]string{"serve", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig}, owned, options.Flags)
	if options.KubernetesVersion != "" {
		words = append(words, "--kubernetes-version", options.KubernetesVersion)
	}
	server := &Server{
		Kubeconfig: kubeconfig,
		command:    exec.Command(program, words...),
		said:       &tail{},
		ended:      make(chan struct{}),
	}
	if err := server.listen(options); err != nil {
		server.Stop()
		return nil, fmt.Errorf("fakeserver did not start: %w\ncommand: %s %s", err, program, strings.Join(words, " "))
	}
	if err := server.connect(); err != nil {
		server.Stop()
		return nil, err
	}
	return server, nil
}

// listen starts the process, and waits until it tells its address.
func (s *Server) listen(options Options) error {
	limit := options.StartTimeout
	if limit == 0 {
		limit = startTimeout
	}
	first := newFirstLine()
	s.command.Stdout, s.command.Stderr = first, s.said
	// Processes that it has left behind do not hold up its end.
	s.command.WaitDelay = time.Second
	if err := s.command.Start(); err != nil {
		close(s.ended)
		return err
	}
	go func() {
		// The state of the process tells how it ended.
		_ = s.command.Wait()
		close(s.ended)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case line := <-first.line:
		found := announcement.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			return fmt.Errorf("its first line is no address but: %s", line)
		}
		s.URL = found[1]
		return nil
	case <-s.ended:
		return s.Err()
	case <-timer.C:
		return fmt.Errorf("it said no address within %s%s", limit, s.said.quoted())
	}
}

// connect makes the clients, and notes the faults of the start.
func (s *Server) connect() error {
	client, err := clientFor(s.Kubeconfig)
	if err != nil {
		return err
	}
	s.Client = client
	s.Control = control.New(s.URL, &http.Client{Transport: told{client.Transport, s}})
	faults, err := s.Control.ListFaults(context.Background())
	if err != nil {
		return err
	}
	for _, fault := range faults.Items {
		s.initialFaults = append(s.initialFaults, fault.ID)
	}
	return nil
}

// Pid returns the id of its process.
func (s *Server) Pid() int { return s.command.Process.Pid }

// Reset takes objects and faults back to those of the start.
func (s *Server) Reset(ctx context.Context) error {
	if err := s.Control.Reset(ctx); err != nil {
		return err
	}
	faults, err := s.Control.ListFaults(ctx)
	if err != nil {
		return err
	}
	for _, fault := range faults.Items {
		if !slices.Contains(s.initialFaults, fault.ID) {
			if err := s.Control.RemoveFault(ctx, fault.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Err returns an error that tells how the server ended and what it said, or nil while it runs.
func (s *Server) Err() error {
	select {
	case <-s.ended:
	default:
		return nil
	}
	state := s.command.ProcessState
	if state == nil {
		return errors.New("the server has not begun")
	}
	return fmt.Errorf("the server has ended (%s)%s", state, s.said.quoted())
}

// Stop ends the server, and removes its kubeconfig. It can be called again.
func (s *Server) Stop() {
	if s.command.Process != nil && s.Err() == nil {
		_ = s.command.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(stopTimeout, func() { _ = s.command.Process.Kill() })
		<-s.ended
		timer.Stop()
	}
	if s.Client != nil {
		s.Client.CloseIdleConnections()
	}
	_ = os.Remove(s.Kubeconfig)
	_ = os.Remove(s.Kubeconfig + ".lock")
}

// told is a transport whose errors tell that the server has ended, if it has.
type told struct {
	inner  http.RoundTripper
	server *Server
}

// RoundTrip sends a request.
func (t told) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := t.inner.RoundTrip(request)
	if err != nil {
		if ended := t.server.Err(); ended != nil {
			return nil, errors.Join(ended, err)
		}
	}
	return answer, err
}
