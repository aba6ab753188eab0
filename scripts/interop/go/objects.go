package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// checkObjects carries out every verb of the typed client, with each encoding.
func checkObjects() {
	for name, encoding := range map[string]string{"json": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf} {
		config := configured()
		config.ContentType, config.AcceptContentTypes = encoding, encoding
		checkVerbs(config, name)
		checkDeployment(config, name)
	}
}

func checkVerbs(config *rest.Config, space string) {
	ctx, cancel := inTime()
	defer cancel()
	client := typed(config)
	makeNamespace(ctx, client, space)
	maps := client.CoreV1().ConfigMaps(space)
	for at := range 5 {
		must(maps.Create(ctx, configMap(fmt.Sprint("map-", at), map[string]string{"at": fmt.Sprint(at)}), metav1.CreateOptions{}))
	}
	_, err := maps.Create(ctx, configMap("map-0", nil), metav1.CreateOptions{})
	refused(space+": a second create is refused", err, metav1.StatusReasonAlreadyExists)
	_, err = maps.Create(ctx, configMap("Not a name", nil), metav1.CreateOptions{})
	refused(space+": a bad name is refused", err, metav1.StatusReasonInvalid)

	page := must(maps.List(ctx, metav1.ListOptions{Limit: 2}))
	check(space+": a page has what was asked for", len(page.Items), 2)
	check(space+": and says what remains", *page.RemainingItemCount, int64(3))
	rest := must(maps.List(ctx, metav1.ListOptions{Continue: page.Continue}))
	check(space+": the next page goes on", rest.Items[0].Name, "map-2")
	check(space+": at the same version", rest.ResourceVersion, page.ResourceVersion)

	before := must(maps.Get(ctx, "map-1", metav1.GetOptions{}))
	changed := before.DeepCopy()
	changed.Data["at"] = "else"
	after := must(maps.Update(ctx, changed, metav1.UpdateOptions{}))
	check(space+": update", after.Data, map[string]string{"at": "else"})
	_, err = maps.Update(ctx, before, metav1.UpdateOptions{})
	refused(space+": an old version is refused", err, metav1.StatusReasonConflict)

	for kind, patch := range map[types.PatchType]string{
		types.JSONPatchType:           `[{"op": "replace", "path": "/data/at", "value": "patched"}]`,
		types.MergePatchType:          `{"data": {"at": "patched"}}`,
		types.StrategicMergePatchType: `{"data": {"at": "patched"}}`,
	} {
		patched := must(maps.Patch(ctx, "map-2", kind, []byte(patch), metav1.PatchOptions{}))
		check(fmt.Sprintf("%s: %s", space, kind), patched.Data["at"], "patched")
		must(maps.Patch(ctx, "map-2", types.MergePatchType, []byte(`{"data": {"at": "2"}}`), metav1.PatchOptions{}))
	}

	old := "0"
	err = maps.Delete(ctx, "map-3", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &old}})
	refused(space+": a delete of another version is refused", err, metav1.StatusReasonConflict)
	succeed(maps.Delete(ctx, "map-3", metav1.DeleteOptions{}))
	_, err = maps.Get(ctx, "map-3", metav1.GetOptions{})
	refused(space+": what is deleted is not found", err, metav1.StatusReasonNotFound)
	byName := metav1.ListOptions{FieldSelector: "metadata.name=map-4"}
	succeed(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, byName))
	remaining := names(must(maps.List(ctx, metav1.ListOptions{})).Items)
	check(space+": the selected ones are deleted", remaining, []string{"map-0", "map-1", "map-2"})
}

// checkDeployment uses the subresources status and scale, defaults, and dry runs.
func checkDeployment(config *rest.Config, space string) {
	ctx, cancel := inTime()
	defer cancel()
	deployments := typed(config).AppsV1().Deployments(space)
	labels := map[string]string{"app": "web"}
	wanted := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
	dry := must(deployments.Create(ctx, wanted, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
	check(space+": a dry run shows defaults", *dry.Spec.Replicas, int32(1))
	check(space+": and stores nothing", len(must(deployments.List(ctx, metav1.ListOptions{})).Items), 0)
	made := must(deployments.Create(ctx, wanted, metav1.CreateOptions{}))
	made.Status.Replicas = 3
	status := must(deployments.UpdateStatus(ctx, made, metav1.UpdateOptions{}))
	check(space+": a status is written", status.Status.Replicas, int32(3))
	check(space+": without a new generation", status.Generation, made.Generation)
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: space},
		Spec:       autoscalingv1.ScaleSpec{Replicas: 4},
	}
	scaled := must(deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}))
	check(space+": a scale is written", scaled.Spec.Replicas, int32(4))
	check(space+": with a new generation", must(deployments.Get(ctx, "web", metav1.GetOptions{})).Generation, made.Generation+1)
}

func names(items []corev1.ConfigMap) []string {
	found := []string{}
	for _, item := range items {
		found = append(found, item.Name)
	}
	return found
}
