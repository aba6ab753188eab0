package main

import (
	"context"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// recorded returns a handler that sends what it is called with.
func recorded(calls chan<- seen) cache.ResourceEventHandlerFuncs {
	send := func(kind string, object any) {
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		succeed(err)
		calls <- seen{kind, key}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { send("add", object) },
		UpdateFunc: func(_, object any) { send("update", object) },
		DeleteFunc: func(object any) { send("delete", object) },
	}
}

// checkInformer runs shared informers through a disconnect and an expired version.
//
// The initial objects come by a list or by a streaming list, as KUBE_FEATURE_WatchListClient or the version of client-go says.
func checkInformer() {
	const space, elsewhere = "informed", "elsewhere"
	config := configured()
	client := typed(config)
	ctx, cancel := inTime()
	defer cancel()
	makeNamespace(ctx, client, space)
	makeNamespace(ctx, client, elsewhere)
	maps := client.CoreV1().ConfigMaps(space)
	must(maps.Create(ctx, configMap("one", nil), metav1.CreateOptions{}))

	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(space))
	shared := factory.Core().V1().ConfigMaps()
	succeed(shared.Informer().AddIndexers(cache.Indexers{"step": func(object any) ([]string, error) {
		return []string{object.(*corev1.ConfigMap).Data["step"]}, nil
	}}))
	calls := make(chan seen, 100)
	must(shared.Informer().AddEventHandler(recorded(calls)))
	factory.Start(ctx.Done())
	check("the informer syncs", cache.WaitForCacheSync(ctx.Done(), shared.Informer().HasSynced), true)
	check("what is there is told", receive("a call", calls), seen{"add", "informed/one"})
	streams := features.FeatureGates().Enabled(features.WatchListClient) && hasStreamingLists(client)
	check("a client that streams lists does not list", requests(config, "list") == 0, streams)

	must(maps.Patch(ctx, "one", "application/merge-patch+json", mergePatch(map[string]string{"step": "2"}), metav1.PatchOptions{}))
	check("a change is told", receive("a call", calls), seen{"update", "informed/one"})
	indexed := must(shared.Informer().GetIndexer().ByIndex("step", "2"))
	check("the index has it", len(indexed), 1)

	lists, watches := requests(config, "list"), requests(config, "watch")
	control(config, http.MethodPost, "disconnect")
	must(maps.Create(ctx, configMap("two", nil), metav1.CreateOptions{}))
	check("it goes on after a disconnect", receive("a call", calls), seen{"add", "informed/two"})
	check("without a new list", requests(config, "list"), lists)
	check("with one more watch", requests(config, "watch"), watches+1)

	// Its version gets old by what happens elsewhere; then it may not watch from there any more.
	must(client.CoreV1().ConfigMaps(elsewhere).Create(ctx, configMap("other", nil), metav1.CreateOptions{}))
	control(config, http.MethodPost, "expire")
	control(config, http.MethodPost, "disconnect")
	succeed(maps.Delete(ctx, "two", metav1.DeleteOptions{}))
	told := []seen{receive("a call", calls)}
	for told[len(told)-1].Kind != "delete" {
		told = append(told, receive("a call", calls))
	}
	check("what was deleted meanwhile is told", slices.Contains(told, seen{"delete", "informed/two"}), true)
	selected := must(shared.Lister().ConfigMaps(space).List(labels.Everything()))
	check("the lister has what is there", len(selected), 1)
	checkMetadata(ctx, maps.Delete)
}

// checkMetadata runs an informer of metadata alone.
func checkMetadata(ctx context.Context, remove func(context.Context, string, metav1.DeleteOptions) error) {
	resource := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	client := must(metadata.NewForConfig(configured()))
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, "informed", nil)
	informer := factory.ForResource(resource).Informer()
	calls := make(chan seen, 100)
	must(informer.AddEventHandler(recorded(calls)))
	factory.Start(ctx.Done())
	check("an informer of metadata tells what is there", receive("a call", calls), seen{"add", "informed/one"})
	object, _, err := informer.GetStore().GetByKey("informed/one")
	succeed(err)
	partial, isPartial := object.(*metav1.PartialObjectMetadata)
	check("without the data", []any{isPartial, partial.Name}, []any{true, "one"})
	succeed(remove(ctx, "one", metav1.DeleteOptions{}))
	check("and what is deleted", receive("a call", calls), seen{"delete", "informed/one"})
}
