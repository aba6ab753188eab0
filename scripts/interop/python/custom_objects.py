"""A definition of custom resources, and the client for objects without a model."""

import json

from kubernetes import client, watch
from support import LIMIT_SECONDS, check, create_namespace, refused, until

SPACE = "custom"
GROUP, VERSION, PLURAL = "shop.example.com", "v1", "orders"
create_namespace(SPACE)

schema = client.V1JSONSchemaProps(
    type="object",
    properties={
        "spec": client.V1JSONSchemaProps(
            type="object",
            properties={
                "count": client.V1JSONSchemaProps(type="integer", minimum=1),
                "colour": client.V1JSONSchemaProps(type="string", default="green"),
            },
        ),
        "status": client.V1JSONSchemaProps(
            type="object", properties={"phase": client.V1JSONSchemaProps(type="string")}
        ),
    },
)
definition = client.V1CustomResourceDefinition(
    metadata=client.V1ObjectMeta(name=f"{PLURAL}.{GROUP}"),
    spec=client.V1CustomResourceDefinitionSpec(
        group=GROUP,
        scope="Namespaced",
        names=client.V1CustomResourceDefinitionNames(plural=PLURAL, kind="Order"),
        versions=[
            client.V1CustomResourceDefinitionVersion(
                name=VERSION,
                served=True,
                storage=True,
                schema=client.V1CustomResourceValidation(open_apiv3_schema=schema),
                subresources=client.V1CustomResourceSubresources(status={}),
            )
        ],
    ),
)
extensions = client.ApiextensionsV1Api()
extensions.create_custom_resource_definition(definition)


def is_established():
    """Whether objects of the definition can be made."""
    found = extensions.read_custom_resource_definition(definition.metadata.name)
    conditions = found.status.conditions or []
    return any(each.type == "Established" and each.status == "True" for each in conditions)


until("the definition is established", is_established)


def order(name, **spec):
    """An order for a create."""
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Order", "metadata": {"name": name}, "spec": spec}


orders = client.CustomObjectsApi()
at = (GROUP, VERSION, SPACE, PLURAL)
listed = orders.list_namespaced_custom_object(*at)
stream = watch.Watch().stream(
    orders.list_namespaced_custom_object,
    *at,
    resource_version=listed["metadata"]["resourceVersion"],
    _request_timeout=LIMIT_SECONDS,
)
made = orders.create_namespaced_custom_object(*at, order("one", count=1))
check("a custom object has its defaults", made["spec"], {"count": 1, "colour": "green"})
event = next(stream)
check("a custom object is watched", (event["type"], event["object"]["spec"]["count"]), ("ADDED", 1))

error = refused(422, lambda: orders.create_namespaced_custom_object(*at, order("none", count=0)))
field = json.loads(error.body)["details"]["causes"][0]["field"]
check("a custom object that breaks its schema is refused", field, "spec.count")

made = orders.patch_namespaced_custom_object(*at, "one", {"spec": {"count": 2}})
check("a custom object is patched", (made["spec"]["count"], made["metadata"]["generation"]), (2, 2))
made = orders.patch_namespaced_custom_object_status(*at, "one", {"status": {"phase": "Paid"}})
check("its status is patched apart", (made["status"], made["metadata"]["generation"]), ({"phase": "Paid"}, 2))
made["spec"]["colour"] = "red"
made = orders.replace_namespaced_custom_object(*at, "one", made)
check("a custom object is replaced", made["spec"], {"count": 2, "colour": "red"})
orders.delete_namespaced_custom_object(*at, "one")
check("a custom object is deleted", orders.list_namespaced_custom_object(*at)["items"], [])
