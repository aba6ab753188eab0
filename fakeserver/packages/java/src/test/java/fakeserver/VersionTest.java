package fakeserver;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class VersionTest {
    @Nested
    @EnableKubeAPIServer(kubeAPIVersion = "1.33")
    class OfServer {
        @Test
        void annotationChoosesTheVersion(KubeApiServer server) throws Exception {
            assertTrue(Requests.body(server, "/version").contains("\"v1.33.13\""));
        }
    }

    @Nested
    @EnableKubernetesMockClient(crud = true, https = false, kubeAPIVersion = "1.34.*")
    class OfMock {
        @Test
        void annotationChoosesTheVersion(KubeApiServer server) throws Exception {
            assertTrue(Requests.body(server, "/version").contains("\"v1.34.9\""));
        }
    }
}
