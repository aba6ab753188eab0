// A process under test: an informer of client-go's shared informer factory.
//
//	go build -o informer-under-test . &&
//	conformance score --against tcp --subject external --command ./informer-under-test
//
// conformance/docs/external.md describes the protocol.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// command is a line of standard input.
type command struct {
	Do            string  `json:"do"`
	Server        string  `json:"server"`
	Resource      string  `json:"resource"`
	Namespace     *string `json:"namespace"`
	LabelSelector *string `json:"labelSelector"`
}

// state is an object in a line of standard output.
type state struct {
	Key             string `json:"key"`
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// message is a line of standard output.
type message struct {
	Say         string   `json:"say"`
	Object      *state   `json:"object,omitempty"`
	Old         *state   `json:"old,omitempty"`
	New         *state   `json:"new,omitempty"`
	IsInitial   bool     `json:"isInitial,omitempty"`
	IsTombstone bool     `json:"isTombstone,omitempty"`
	Objects     *[]state `json:"objects,omitempty"`
	Library     string   `json:"library,omitempty"`
	Version     string   `json:"version,omitempty"`
	// An update of client-go may lead from one object to another one of the same name.
	ReplacesByUpdate bool `json:"replacesByUpdate,omitempty"`
}

// output is held while a line is written, and while the cache is read for one.
var output sync.Mutex

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	say(message{Say: "hello", Library: "client-go", Version: version("k8s.io/client-go"), ReplacesByUpdate: true})
	var informer cache.SharedIndexInformer
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var do command
		check(json.Unmarshal(lines.Bytes(), &do))
		switch do.Do {
		case "start":
			informer = start(ctx, do)
		case "cache":
			answer(informer)
		}
	}
}

// version returns the version of a module that this program was built with.
func version(path string) string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range build.Deps {
		if module.Path == path {
			if module.Replace != nil {
				module = module.Replace
			}
			return module.Version
		}
	}
	return ""
}

// start runs the informer of a selection until ctx is done.
func start(ctx context.Context, do command) cache.SharedIndexInformer {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: do.Server})
	check(err)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(orEmpty(do.Namespace)),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.LabelSelector = orEmpty(do.LabelSelector)
		}),
	)
	informer := informerOf(factory, do.Resource)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInInitialList bool) {
			say(message{Say: "added", Object: stateOf(object), IsInitial: isInInitialList})
		},
		UpdateFunc: func(old, object any) {
			say(message{Say: "updated", Old: stateOf(old), New: stateOf(object)})
		},
		DeleteFunc: func(object any) {
			tombstone, isTombstone := object.(cache.DeletedFinalStateUnknown)
			if isTombstone {
				object = tombstone.Obj
			}
			say(message{Say: "deleted", Object: stateOf(object), IsTombstone: isTombstone})
		},
	})
	check(err)
	factory.Start(ctx.Done())
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			say(message{Say: "synced"})
		}
	}()
	return informer
}

// informerOf returns the factory's informer of a resource.
func informerOf(factory informers.SharedInformerFactory, resource string) cache.SharedIndexInformer {
	core := factory.Core().V1()
	switch resource {
	case "pods":
		return core.Pods().Informer()
	case "configmaps":
		return core.ConfigMaps().Informer()
	case "nodes":
		return core.Nodes().Informer()
	}
	check(fmt.Errorf("no informer of %q", resource))
	return nil
}

// answer writes the content of the cache.
func answer(informer cache.SharedIndexInformer) {
	output.Lock()
	defer output.Unlock()
	held := []state{}
	for _, object := range informer.GetStore().List() {
		held = append(held, *stateOf(object))
	}
	write(message{Say: "cache", Objects: &held})
}

// say writes a line.
func say(line message) {
	output.Lock()
	defer output.Unlock()
	write(line)
}

func write(line message) {
	text, err := json.Marshal(line)
	check(err)
	_, err = os.Stdout.Write(append(text, '\n'))
	check(err)
}

func stateOf(object any) *state {
	found, err := meta.Accessor(object)
	check(err)
	key, err := cache.MetaNamespaceKeyFunc(object)
	check(err)
	return &state{Key: key, UID: string(found.GetUID()), ResourceVersion: found.GetResourceVersion()}
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
