// Package fakeserver gives tests a Kubernetes API server in a process of its own, which starts in milliseconds.
package fakeserver

import (
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fakeserver/process"
)

// Server is the server of a test.
type Server = process.Server

// WithKubernetesVersion returns the flag for Start by which the server is of a version of Kubernetes, as in "1.34".
func WithKubernetesVersion(version string) string { return "--kubernetes-version=" + version }

// Start starts a server for a test, with flags of `fakeserver serve`, and returns a configuration of client-go for it.
//
// The server ends with the test, which fails if the server has ended before; and with the process, even if that is killed.
func Start(t testing.TB, flags ...string) (*rest.Config, *Server) {
	t.Helper()
	server, err := process.Start(process.Options{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Err(); err != nil {
			t.Error(err)
		}
		server.Stop()
	})
	config, err := clientcmd.BuildConfigFromFlags("", server.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	// As envtest has it: the limits of clients are for clusters that others use.
	config.QPS, config.Burst = 1000, 2000
	return config, server
}
