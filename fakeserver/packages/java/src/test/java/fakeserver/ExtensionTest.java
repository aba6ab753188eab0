package fakeserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

@EnableKubeAPIServer(apiServerFlags = {"--seed", "7"})
class ExtensionTest {
    static KubeApiServer server;

    @KubeConfig
    static String kubeconfigOfClass;

    KubeApiServer ofInstance;

    @KubeConfig
    String kubeconfig;

    String other;

    @BeforeAll
    static void staticFieldsComeFirst() {
        assertNotNull(server);
        assertTrue(kubeconfigOfClass.contains(server.url()));
    }

    /** The hooks of a test still see what it made. */
    @AfterEach
    void objectIsThere() throws Exception {
        assertEquals(200, Requests.get(server, "/api/v1/namespaces/shop"));
    }

    @RepeatedTest(3)
    void eachTestBeginsWithTheFirstState() throws Exception {
        assertEquals(0, server.control().listFaults().items().size());
        assertEquals(201, Requests.createNamespace(server, "shop"));
        server.installFaults(Fault.named("forbidden").match("verb", "watch"));
    }

    @Test
    void fieldsAndParametersAreSet(KubeApiServer parameter, @KubeConfig String yaml) throws Exception {
        assertSame(server, ofInstance);
        assertSame(server, parameter);
        assertEquals(kubeconfigOfClass, kubeconfig);
        assertEquals(kubeconfigOfClass, yaml);
        assertEquals(null, other);
        Requests.createNamespace(server, "shop");
    }

    @Nested
    class Inner {
        KubeApiServer inner;

        @Test
        void nestedClassSharesTheServer() throws IOException, InterruptedException {
            assertSame(server, inner);
            assertEquals(201, Requests.createNamespace(inner, "shop"));
        }
    }
}
