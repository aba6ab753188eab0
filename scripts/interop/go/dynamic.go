package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgets     = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}
)

// object is the JSON form of an object, or a part of it.
type object = map[string]any

// definition returns the definition of widgets, which have the subresources status and scale.
func definition() *unstructured.Unstructured {
	number := object{"type": "integer", "minimum": int64(0)}
	colour := object{"type": "string", "default": "green"}
	schema := object{"type": "object", "properties": object{
		"spec":   object{"type": "object", "properties": object{"size": number, "colour": colour}},
		"status": object{"type": "object", "properties": object{"size": number}},
	}}
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": "widgets.example.org"},
		"spec": object{
			"group": "example.org", "scope": "Namespaced",
			"names": object{"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": []any{"wd"}},
			"versions": []any{object{
				"name": "v1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": schema},
				"subresources": object{"status": object{}, "scale": object{
					"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size",
				}},
			}},
		},
	}}
}

func widget(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "example.org/v1", "kind": "Widget",
		"metadata": object{"name": name},
		"spec":     object{"size": size},
	}}
}

// define creates the definition of widgets, and waits until they are served.
func define(ctx context.Context, client dynamic.Interface) {
	must(client.Resource(definitions).Create(ctx, definition(), metav1.CreateOptions{}))
	until("the kind is served", func() bool {
		_, err := client.Resource(widgets).List(ctx, metav1.ListOptions{})
		return err == nil
	})
}

// checkDynamic defines a kind, and uses it by the dynamic client and an informer.
func checkDynamic() {
	const space = "default"
	config := configured()
	client := must(dynamic.NewForConfig(config))
	ctx, cancel := inTime()
	defer cancel()
	define(ctx, client)

	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, space, nil)
	informer := factory.ForResource(widgets).Informer()
	calls := make(chan seen, 100)
	must(informer.AddEventHandler(recorded(calls)))
	factory.Start(ctx.Done())
	check("an informer of the kind syncs", cache.WaitForCacheSync(ctx.Done(), informer.HasSynced), true)

	mine := client.Resource(widgets).Namespace(space)
	made := must(mine.Create(ctx, widget("one", 1), metav1.CreateOptions{}))
	colour, _, _ := unstructured.NestedString(made.Object, "spec", "colour")
	check("a default is set", colour, "green")
	check("the informer tells it", receive("a call", calls), seen{"add", "default/one"})
	_, err := mine.Create(ctx, widget("two", -1), metav1.CreateOptions{})
	refused("the schema is held", err, metav1.StatusReasonInvalid)
	strict := widget("two", 1)
	strict.Object["spec"].(object)["other"] = "field"
	_, err = mine.Create(ctx, strict, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	refused("an unknown field is refused if strict", err, metav1.StatusReasonBadRequest)

	succeed(unstructured.SetNestedField(made.Object, int64(5), "status", "size"))
	status := must(mine.UpdateStatus(ctx, made, metav1.UpdateOptions{}))
	size, _, _ := unstructured.NestedInt64(status.Object, "status", "size")
	check("a status is written", size, int64(5))
	check("the informer tells it", receive("a call", calls), seen{"update", "default/one"})
	scale := must(mine.Patch(ctx, "one", types.MergePatchType, []byte(`{"spec": {"replicas": 7}}`), metav1.PatchOptions{}, "scale"))
	replicas, _, _ := unstructured.NestedInt64(scale.Object, "spec", "replicas")
	check("a scale is patched", []any{scale.GetKind(), replicas}, []any{"Scale", int64(7)})
	check("the informer tells it", receive("a call", calls), seen{"update", "default/one"})
	succeed(mine.Delete(ctx, "one", metav1.DeleteOptions{}))
	check("the informer tells a delete", receive("a call", calls), seen{"delete", "default/one"})
}
