package main

import (
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/restmapper"
)

// checkDiscovery asks for the version, the resources in both forms of discovery, the mapping of kinds, and OpenAPI.
func checkDiscovery() {
	config := configured()
	client := must(discovery.NewDiscoveryClientForConfig(config))
	ctx, cancel := inTime()
	defer cancel()
	served := must(client.ServerVersion())
	wanted := os.Getenv("FAKESERVER_KUBERNETES_VERSION")
	check("the version is that of the server", strings.HasPrefix(served.GitVersion, "v"+wanted), true)

	aggregated := found(client)
	check("there are resources", len(aggregated) > 50, true)
	plain := must(discovery.NewDiscoveryClientForConfig(config))
	plain.UseLegacyDiscovery = true
	check("discovery by group equals the aggregated one", found(plain), aggregated)

	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	expander := restmapper.NewShortcutExpander(mapper, client, func(string) {})
	deployment := must(expander.ResourceFor(schema.GroupVersionResource{Resource: "deploy"}))
	check("a short name is expanded", deployment, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	mapping := must(mapper.RESTMapping(schema.GroupKind{Kind: "Node"}))
	check("a kind is mapped", []any{mapping.Resource.Resource, mapping.Scope.Name()}, []any{"nodes", meta.RESTScopeNameRoot})

	define(ctx, must(dynamic.NewForConfig(config)))
	until("a new kind is discovered after a reset", func() bool {
		mapper.Reset()
		_, err := mapper.RESTMapping(schema.GroupKind{Group: "example.org", Kind: "Widget"}, "v1")
		return err == nil
	})
	until("and has its OpenAPI document", func() bool {
		_, hasPath := must(client.OpenAPIV3().Paths())["apis/example.org/v1"]
		return hasPath
	})
	checkOpenAPI(client)
}

// found returns the resources that are discovered, by group, version and name, with their kinds.
func found(client discovery.DiscoveryInterface) map[string]string {
	_, lists, err := client.ServerGroupsAndResources()
	succeed(err)
	kinds := map[string]string{}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			kinds[list.GroupVersion+"/"+resource.Name] = resource.Kind
		}
	}
	return kinds
}

func checkOpenAPI(client discovery.DiscoveryInterface) {
	document := must(client.OpenAPISchema())
	check("OpenAPI v2 is decoded", document.Swagger, "2.0")
	paths := must(client.OpenAPIV3().Paths())
	apps := paths["apis/apps/v1"]
	check("OpenAPI v3 is there", len(must(apps.Schema("application/json"))) > 1000, true)
	check("and in protobuf", len(must(apps.Schema(openapi.ContentTypeOpenAPIV3PB))) > 1000, true)
}
