package main

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// checkApply applies configurations by two managers, typed and dynamic.
func checkApply() {
	const space = "applying"
	config := configured()
	client := typed(config)
	ctx, cancel := inTime()
	defer cancel()
	makeNamespace(ctx, client, space)

	maps := client.CoreV1().ConfigMaps(space)
	first, second := metav1.ApplyOptions{FieldManager: "first"}, metav1.ApplyOptions{FieldManager: "second"}
	with := func(data map[string]string) *applycore.ConfigMapApplyConfiguration {
		return applycore.ConfigMap("settings", space).WithData(data)
	}
	made := must(maps.Apply(ctx, with(map[string]string{"colour": "green", "size": "9"}), first))
	check("apply creates", made.Data, map[string]string{"colour": "green", "size": "9"})
	made = must(maps.Apply(ctx, with(map[string]string{"colour": "red"}), first))
	check("apply takes away what is applied no more", made.Data, map[string]string{"colour": "red"})
	_, err := maps.Apply(ctx, with(map[string]string{"colour": "blue"}), second)
	refused("a conflict is refused", err, metav1.StatusReasonConflict)
	cause, _ := apierrors.StatusCause(err, metav1.CauseTypeFieldManagerConflict)
	check("and names the field", cause.Field, ".data.colour")
	second.Force = true
	made = must(maps.Apply(ctx, with(map[string]string{"colour": "blue"}), second))
	check("force takes the field over", made.Data, map[string]string{"colour": "blue"})
	mine := must(applycore.ExtractConfigMap(made, "second"))
	check("what a manager owns is extracted", mine.Data, map[string]string{"colour": "blue"})

	dynamicMaps := must(dynamic.NewForConfig(config)).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	untyped := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "settings"},
		"data":     map[string]any{"size": "7"},
	}}
	applied := must(dynamicMaps.Namespace(space).Apply(ctx, "settings", untyped, metav1.ApplyOptions{FieldManager: "third"}))
	data, _, _ := unstructured.NestedStringMap(applied.Object, "data")
	check("the dynamic client applies", data, map[string]string{"colour": "blue", "size": "7"})
	checkApplyLists(client, space)
}

// checkApplyLists applies lists that are merged by keys, extracts configurations, and applies a status.
func checkApplyLists(client kubernetes.Interface, space string) {
	ctx, cancel := inTime()
	defer cancel()
	deployments := client.AppsV1().Deployments(space)
	labels := map[string]string{"app": "web"}
	with := func(containers ...*applycore.ContainerApplyConfiguration) *applyapps.DeploymentApplyConfiguration {
		return applyapps.Deployment("web", space).WithSpec(applyapps.DeploymentSpec().
			WithSelector(applymeta.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(applycore.PodTemplateSpec().WithLabels(labels).WithSpec(applycore.PodSpec().WithContainers(containers...))))
	}
	web := applycore.Container().WithName("web").WithImage("web:1")
	side := applycore.Container().WithName("side").WithImage("side:1")
	must(deployments.Apply(ctx, with(web), metav1.ApplyOptions{FieldManager: "owner"}))
	both := must(deployments.Apply(ctx, with(side), metav1.ApplyOptions{FieldManager: "injector"}))
	check("containers of two managers are merged", len(both.Spec.Template.Spec.Containers), 2)
	mine := must(applyapps.ExtractDeployment(both, "injector"))
	check("each manager owns its own", *mine.Spec.Template.Spec.Containers[0].Name, "side")
	status := applyapps.Deployment("web", space).WithStatus(applyapps.DeploymentStatus().WithConditions(
		applyapps.DeploymentCondition().WithType("Available").WithStatus(corev1.ConditionTrue)))
	after := must(deployments.ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "controller"}))
	check("a status is applied", after.Status.Conditions[0].Status, corev1.ConditionTrue)
	ofStatus := must(applyapps.ExtractDeploymentStatus(after, "controller"))
	check("and extracted", *ofStatus.Status.Conditions[0].Status, corev1.ConditionTrue)
}
