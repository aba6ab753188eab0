package fakeserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Needs fabric8's client on the class path. */
@EnableKubernetesMockClient(crud = true)
class Fabric8Test {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    static KubernetesClient client;
    KubernetesClient again;
    Config config;
    KubeApiServer server;

    @Test
    void clientAndConfigLeadToTheServer() {
        assertSame(client, again);
        assertEquals(server.url(), config.getMasterUrl().replaceAll("/$", ""));
        assertTrue(server.url().startsWith("https://"), server.url());
        assertEquals("default", client.namespaces().withName("default").get().getMetadata().getName());
    }

    @Test
    void informerGoesOnAfterADisconnect() throws InterruptedException {
        create("one");
        try (SharedIndexInformer<ConfigMap> informer = client.configMaps().inNamespace("default").inform()) {
            holds(informer, "default/one");
            server.control().disconnect();
            create("two");
            holds(informer, "default/two");
        }
    }

    private static void create(String name) {
        ConfigMap made = new ConfigMapBuilder().withNewMetadata().withName(name).endMetadata().build();
        client.configMaps().inNamespace("default").resource(made).create();
    }

    private static void holds(SharedIndexInformer<ConfigMap> informer, String key) throws InterruptedException {
        Instant deadline = Instant.now().plus(LIMIT);
        while (informer.getIndexer().getByKey(key) == null) {
            assertTrue(Instant.now().isBefore(deadline), "not within " + LIMIT + ": " + key);
            Thread.sleep(20);
        }
    }
}
