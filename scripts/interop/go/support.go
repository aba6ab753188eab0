package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// limit is long for a server on this machine, and short for a check that hangs.
	limit = 60 * time.Second
	poll  = 20 * time.Millisecond
)

// stats is what the server counts.
type stats struct {
	Watchers int                       `json:"watchers"`
	Requests map[string]map[string]int `json:"requests"`
}

// check prints that something holds, or what differs, and ends.
func check(what string, found, wanted any) {
	if !reflect.DeepEqual(found, wanted) {
		fail(what, fmt.Sprintf("found %#v, wanted %#v", found, wanted))
	}
	fmt.Println("ok -", what)
}

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	succeed(err)
	return value
}

// succeed ends with the error, if there is one.
func succeed(err error) {
	if err != nil {
		fail("a call that has to succeed", err.Error())
	}
}

func fail(what, why string) {
	fmt.Fprintf(os.Stderr, "FAILED - %s: %s\n", what, why)
	os.Exit(1)
}

// refused checks the reason of an error.
func refused(what string, err error, reason metav1.StatusReason) {
	check(what, apierrors.ReasonForError(err), reason)
}

// until polls a condition until it holds, up to the limit.
func until(what string, condition func() bool) {
	deadline := time.Now().Add(limit)
	for !condition() {
		if time.Now().After(deadline) {
			fail(what, fmt.Sprintf("not so within %s", limit))
		}
		time.Sleep(poll)
	}
	fmt.Println("ok -", what)
}

// receive returns the next value of a channel, up to the limit.
func receive[T any](what string, values <-chan T) T {
	select {
	case value, open := <-values:
		if !open {
			fail(what, "the channel was closed")
		}
		return value
	case <-time.After(limit):
		fail(what, fmt.Sprintf("nothing within %s", limit))
		panic("unreachable")
	}
}

// inTime returns a context that ends after the limit.
func inTime() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), limit)
}

// configured returns the configuration of clients.
func configured() *rest.Config {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config := must(clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig())
	// Requests are not delayed on this side.
	config.QPS = -1
	return config
}

// typed returns a client of the built-in types.
func typed(config *rest.Config) *kubernetes.Clientset { return must(kubernetes.NewForConfig(config)) }

// hasStreamingLists returns whether the server's version serves them: of those from 1.31 two do not.
func hasStreamingLists(client kubernetes.Interface) bool {
	minor := must(client.Discovery().ServerVersion()).Minor
	return minor != "31" && minor != "33"
}

// control does something behind the API: disconnect, expire, or stats.
func control(config *rest.Config, method, action string) stats {
	client := must(rest.HTTPClientFor(config))
	request := must(http.NewRequest(method, config.Host+"/_control/"+action, nil))
	response := must(client.Do(request))
	defer response.Body.Close()
	check("control: "+action, response.StatusCode/100, 2)
	var counted stats
	if method == http.MethodGet {
		succeed(json.NewDecoder(response.Body).Decode(&counted))
	}
	return counted
}

// requests returns how many requests for config maps there were with a verb.
func requests(config *rest.Config, verb string) int {
	return control(config, http.MethodGet, "stats").Requests["configmaps"][verb]
}

// makeNamespace creates the namespace that a check works in.
func makeNamespace(ctx context.Context, client kubernetes.Interface, name string) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	must(client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}))
}

// configMap returns a config map for a create.
func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

// mergePatch returns a merge patch of a config map's data.
func mergePatch(data map[string]string) []byte {
	return must(json.Marshal(map[string]any{"data": data}))
}
