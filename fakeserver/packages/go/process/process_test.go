package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fakeserver/control"
	"fakeserver/process"
)

const limit = 10 * time.Second

// owner is the variable that makes this program the owner of a server, which it tells of and waits.
const owner = "FAKESERVER_TEST_OWNER"

type owned struct {
	Pid        int
	Kubeconfig string
}

func TestMain(m *testing.M) {
	if os.Getenv(owner) == "" {
		os.Exit(m.Run())
	}
	server, err := process.Start(process.Options{})
	if err != nil {
		panic(err)
	}
	_ = json.NewEncoder(os.Stdout).Encode(owned{server.Pid(), server.Kubeconfig})
	time.Sleep(time.Minute)
}

func start(t *testing.T, flags ...string) *process.Server {
	t.Helper()
	server, err := process.Start(process.Options{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return server
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, server *process.Server, method, path, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	answer, err := server.Client.Do(request)
	must(t, err)
	_ = answer.Body.Close()
	return answer.StatusCode
}

func expectStatus(t *testing.T, server *process.Server, method, path, body string, wanted int) {
	t.Helper()
	if found := status(t, server, method, path, body); found != wanted {
		t.Fatalf("%s %s: found %d, wanted %d", method, path, found, wanted)
	}
}

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

const (
	namespaces = "/api/v1/namespaces"
	shop       = `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}`
)

func TestResetTakesObjectsAndFaultsBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "faults.json")
	must(t, os.WriteFile(file, []byte(`{"fault": "forbidden", "match": {"verb": "watch"}}`), 0o600))
	server := start(t, "--faults", file)
	expectStatus(t, server, http.MethodPost, namespaces, shop, 201)
	_, err := server.Control.InstallFaults(t.Context(), control.Fault{Name: control.FaultThrottle})
	must(t, err)
	must(t, server.Reset(t.Context()))
	faults, err := server.Control.ListFaults(t.Context())
	must(t, err)
	if len(faults.Items) != 1 || faults.Items[0].Spec.Name != control.FaultForbidden || faults.Items[0].Spec.Match.Verb != "watch" {
		t.Fatalf("faults: %+v", faults)
	}
	expectStatus(t, server, http.MethodGet, namespaces+"/shop", "", 404)
}

func TestVersions(t *testing.T) {
	t.Setenv("FAKESERVER_KUBERNETES_VERSION", "1.33")
	for version, wanted := range map[string]string{"1.34": "v1.34.9", "1.35.x": "v1.35.6", "": "v1.33.13"} {
		server, err := process.Start(process.Options{KubernetesVersion: version})
		must(t, err)
		t.Cleanup(server.Stop)
		answer, err := server.Client.Get(server.URL + "/version")
		must(t, err)
		var found struct{ GitVersion string }
		must(t, json.NewDecoder(answer.Body).Decode(&found))
		_ = answer.Body.Close()
		if found.GitVersion != wanted {
			t.Fatalf("%q: found %s, wanted %s", version, found.GitVersion, wanted)
		}
	}
	if _, err := process.Start(process.Options{KubernetesVersion: "1.30"}); err == nil || !strings.Contains(err.Error(), "there are 1.31") {
		t.Fatal(err)
	}
}

func TestControlOfFaults(t *testing.T) {
	server, times := start(t), uint64(1)
	fault := control.Fault{
		Name:       control.FaultThrottle,
		Match:      control.Match{Verb: "get", Resource: "nodes"},
		When:       control.When{Times: &times},
		Parameters: map[string]any{"retryAfterSeconds": 2},
	}
	installed, err := server.Control.InstallFaults(t.Context(), fault, control.Fault{Name: control.FaultHang, When: control.When{AfterMs: 60_000}})
	must(t, err)
	expectStatus(t, server, http.MethodGet, "/api/v1/nodes/none", "", 429)
	expectStatus(t, server, http.MethodGet, "/api/v1/nodes/none", "", 404)
	found, err := server.Control.GetFault(t.Context(), installed.Items[0].ID)
	must(t, err)
	if found.Fired != 1 || found.LastRevision == nil || found.Spec.Parameters["retryAfterSeconds"] != 2.0 {
		t.Fatalf("fault: %+v", found)
	}
	must(t, server.Control.RemoveFault(t.Context(), found.ID))
	var refused *control.Error
	if _, err := server.Control.GetFault(t.Context(), found.ID); !errors.As(err, &refused) || refused.StatusCode != 404 {
		t.Fatalf("a removed fault: %v", err)
	}
	must(t, server.Control.RemoveFaults(t.Context()))
	expectStatus(t, server, http.MethodGet, "/api/v1/nodes/none", "", 404)
}

func TestControlOfHistory(t *testing.T) {
	server := start(t)
	before, err := server.Control.Stats(t.Context())
	must(t, err)
	expectStatus(t, server, http.MethodPost, namespaces, shop, 201)
	must(t, server.Control.Compact(t.Context()))
	query := "?limit=1&resourceVersionMatch=Exact&resourceVersion=" + jsonOf(before.Revision)
	expectStatus(t, server, http.MethodGet, namespaces+query, "", 410)
	must(t, server.Control.Expire(t.Context()))
	snapshot, err := server.Control.Snapshot(t.Context())
	must(t, err)
	if !strings.HasPrefix(string(snapshot), `{"format":"fakeserver.snapshot"`) {
		t.Fatalf("snapshot: %.80s", snapshot)
	}
	// It keeps its state in memory.
	if err := server.Control.SaveSnapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "--data FILE") {
		t.Fatalf("save: %v", err)
	}
	answer, err := server.Client.Get(server.URL + namespaces + "?watch=1")
	must(t, err)
	defer answer.Body.Close()
	until(t, "the watch is open", func() bool {
		stats, err := server.Control.Stats(t.Context())
		return err == nil && stats.Watchers == 1 && stats.Requests["namespaces"]["watch"] == 1
	})
	must(t, server.Control.Disconnect(t.Context()))
	_, err = io.ReadAll(answer.Body)
	must(t, err)
}

func jsonOf(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}

func TestEveryFaultHasAName(t *testing.T) {
	entries, err := start(t).Control.FaultCatalogue(t.Context())
	must(t, err)
	source, err := os.ReadFile("../control/faults.go")
	must(t, err)
	for _, entry := range entries {
		if !strings.Contains(string(source), ` = "`+entry.Fault+`"`) {
			t.Errorf("control/faults.go lacks %s", entry.Fault)
		}
	}
}

func TestTLSWithRoles(t *testing.T) {
	server := start(t, "--tls", "--authorization", "rbac")
	if !strings.HasPrefix(server.URL, "https://") {
		t.Fatal(server.URL)
	}
	must(t, server.Reset(t.Context()))
	expectStatus(t, server, http.MethodGet, namespaces, "", 200)
}

func TestStoppedServerLeavesNothing(t *testing.T) {
	server := start(t)
	info, err := os.Stat(server.Kubeconfig)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode())
	}
	server.Stop()
	server.Stop()
	expectGone(t, owned{server.Pid(), server.Kubeconfig})
}

func expectGone(t *testing.T, server owned) {
	t.Helper()
	until(t, "the server has ended", func() bool { return syscall.Kill(server.Pid, 0) == syscall.ESRCH })
	until(t, "its kubeconfig is removed", func() bool {
		_, err := os.Stat(server.Kubeconfig)
		return errors.Is(err, os.ErrNotExist)
	})
}

func TestKilledProcessTakesItsServerAlong(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), owner+"=1")
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	var told owned
	err = json.NewDecoder(output).Decode(&told)
	must(t, command.Process.Kill())
	_ = command.Wait()
	must(t, err)
	expectGone(t, told)
}

func TestNothingOfTheUserIsTouched(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", filepath.Join(home, "kubeconfig"))
	t.Chdir(t.TempDir())
	start(t).Stop()
	for _, folder := range []string{home, "."} {
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
			t.Errorf("%s: %v, %v", folder, entries, err)
		}
	}
}

func TestServerThatHasDiedIsTold(t *testing.T) {
	server := start(t)
	must(t, syscall.Kill(server.Pid(), syscall.SIGKILL))
	until(t, "it has ended", func() bool { return server.Err() != nil })
	err := server.Reset(context.Background())
	if err == nil || !strings.Contains(err.Error(), "the server has ended (signal: killed)") {
		t.Fatal(err)
	}
}
