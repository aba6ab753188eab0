package main

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// seen is an event without what differs between runs.
type seen struct {
	Kind, Name string
}

func seenNext(what string, watcher watch.Interface) seen {
	event := receive(what, watcher.ResultChan())
	found, isMap := event.Object.(*corev1.ConfigMap)
	if !isMap {
		fail(what, apierrors.FromObject(event.Object).Error())
	}
	return seen{string(event.Type), found.Name}
}

// checkWatching watches from a version, with bookmarks, as a streaming list, through a disconnect, and after 410.
func checkWatching() {
	const space, elsewhere = "watching", "elsewhere"
	config := configured()
	client := typed(config)
	ctx, cancel := inTime()
	defer cancel()
	makeNamespace(ctx, client, space)
	makeNamespace(ctx, client, elsewhere)
	maps, others := client.CoreV1().ConfigMaps(space), client.CoreV1().ConfigMaps(elsewhere)
	must(maps.Create(ctx, configMap("one", nil), metav1.CreateOptions{}))
	checkBookmarks(ctx, maps, others)
	checkStreamingList(ctx, maps, hasStreamingLists(client))

	start := must(maps.List(ctx, metav1.ListOptions{})).ResourceVersion
	following := must(watchtools.NewRetryWatcherWithContext(ctx, start, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return maps.Watch(ctx, options)
		},
	}))
	defer following.Stop()
	must(maps.Patch(ctx, "one", "application/merge-patch+json", mergePatch(map[string]string{"step": "2"}), metav1.PatchOptions{}))
	check("a watch has a change", seenNext("a change", following), seen{"MODIFIED", "one"})
	control(config, http.MethodPost, "disconnect")
	must(maps.Create(ctx, configMap("two", nil), metav1.CreateOptions{}))
	check("a watch goes on after a disconnect", seenNext("a change", following), seen{"ADDED", "two"})

	// The version of the list gets old by what happens elsewhere.
	must(others.Create(ctx, configMap("later", nil), metav1.CreateOptions{}))
	control(config, http.MethodPost, "expire")
	checkExpired(ctx, maps, start)
}

// checkBookmarks waits for the bookmark before the end of a watch, which tells that there is progress elsewhere.
func checkBookmarks(ctx context.Context, maps, others corev1client.ConfigMapInterface) {
	listed := must(maps.List(ctx, metav1.ListOptions{}))
	seconds := int64(3)
	watcher := must(maps.Watch(ctx, metav1.ListOptions{
		ResourceVersion: listed.ResourceVersion, AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	}))
	defer watcher.Stop()
	other := must(others.Create(ctx, configMap("other", nil), metav1.CreateOptions{}))
	event := receive("a bookmark", watcher.ResultChan())
	check("a watch without events has a bookmark", event.Type, watch.Bookmark)
	mark := event.Object.(*corev1.ConfigMap)
	check("which has a version alone", []string{mark.ResourceVersion, mark.Name}, []string{other.ResourceVersion, ""})
	_, open := <-watcher.ResultChan()
	check("and ends in time", open, false)
}

// checkStreamingList asks for the initial events, which a server without streaming lists refuses.
func checkStreamingList(ctx context.Context, maps corev1client.ConfigMapInterface, isServed bool) {
	initial := true
	options := metav1.ListOptions{
		SendInitialEvents: &initial, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	}
	if !isServed {
		_, err := maps.Watch(ctx, options)
		refused("a server without streaming lists refuses one", err, metav1.StatusReasonInvalid)
		return
	}
	watcher := must(maps.Watch(ctx, options))
	defer watcher.Stop()
	check("a streaming list begins with what is there", seenNext("an initial event", watcher), seen{"ADDED", "one"})
	mark := receive("a bookmark", watcher.ResultChan())
	annotations := mark.Object.(*corev1.ConfigMap).Annotations
	check("and ends with a bookmark", annotations[metav1.InitialEventsAnnotationKey], "true")
	options.ResourceVersionMatch = ""
	_, err := maps.Watch(ctx, options)
	refused("without a match of versions it is refused", err, metav1.StatusReasonInvalid)
}

// checkExpired watches from a version that is too old, lists again, and goes on.
func checkExpired(ctx context.Context, maps corev1client.ConfigMapInterface, start string) {
	watcher := must(maps.Watch(ctx, metav1.ListOptions{ResourceVersion: start}))
	event := receive("an error", watcher.ResultChan())
	check("a watch from an expired version has an error", event.Type, watch.Error)
	refused("which says so", apierrors.FromObject(event.Object), metav1.StatusReasonExpired)

	// A list and a watch, until a condition holds.
	found := must(watchtools.UntilWithSync(ctx, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return maps.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return maps.Watch(ctx, options)
		},
	}, &corev1.ConfigMap{}, func(store cache.Store) (bool, error) {
		check("a new list has what is there", len(store.List()), 2)
		must(maps.Create(ctx, configMap("three", nil), metav1.CreateOptions{}))
		return false, nil
	}, func(event watch.Event) (bool, error) {
		return event.Object.(*corev1.ConfigMap).Name == "three", nil
	}))
	check("and a new watch goes on from there", found.Type, watch.Added)
}
