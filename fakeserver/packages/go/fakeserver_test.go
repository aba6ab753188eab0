package fakeserver_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"fakeserver"
	"fakeserver/control"
)

const limit = 30 * time.Second

func receive(t *testing.T, what string, names <-chan string, wanted string) {
	t.Helper()
	select {
	case name := <-names:
		if name != wanted {
			t.Fatalf("%s: found %s, wanted %s", what, name, wanted)
		}
	case <-time.After(limit):
		t.Fatalf("%s: not within %s", what, limit)
	}
}

// An informer goes on after a disconnect, an expired version and a throttled list.
func TestInformer(t *testing.T) {
	config, server := fakeserver.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	clients := kubernetes.NewForConfigOrDie(config)
	create := func(name string) {
		t.Helper()
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := clients.CoreV1().ConfigMaps("default").Create(ctx, object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	configMaps := cache.NewListWatchFromClient(clients.CoreV1().RESTClient(), "configmaps", "default", fields.Everything())
	informer, added := cache.NewSharedInformer(configMaps, &corev1.ConfigMap{}, 0), make(chan string, 8)
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		added <- object.(*corev1.ConfigMap).Name
	}}); err != nil {
		t.Fatal(err)
	}
	create("one")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		informer.RunWithContext(ctx)
	}()
	defer func() {
		cancel()
		<-stopped
	}()
	receive(t, "the first list", added, "one")

	times := uint64(1)
	throttle := control.Fault{Name: control.FaultThrottle, Match: control.Match{Verb: "watch"}, When: control.When{Times: &times}}
	installed, err := server.Control.InstallFaults(ctx, throttle)
	if err != nil {
		t.Fatal(err)
	}
	create("two")
	receive(t, "a change", added, "two")
	for _, operation := range []func(context.Context) error{server.Control.Expire, server.Control.Disconnect} {
		if err := operation(ctx); err != nil {
			t.Fatal(err)
		}
	}
	create("three")
	receive(t, "a change after the disconnect", added, "three")
	fault, err := server.Control.GetFault(ctx, installed.Items[0].ID)
	if err != nil || fault.Fired != 1 {
		t.Fatal(fault, err)
	}
}

func TestVersions(t *testing.T) {
	for version, wanted := range map[string]string{"1.34": "v1.34.9", "1.35.x": "v1.35.6"} {
		config, _ := fakeserver.Start(t, fakeserver.WithKubernetesVersion(version))
		found, err := kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
		if err != nil || found.GitVersion != wanted {
			t.Fatal(version, found, err)
		}
	}
}

func TestTLSWithRoles(t *testing.T) {
	config, server := fakeserver.Start(t, "--tls", "--authorization", "rbac")
	clients := kubernetes.NewForConfigOrDie(config)
	if _, err := clients.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := server.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
}
