package fakeserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    @Test
    void resetLeavesTheFaultsOfTheStart(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("faults.json"), "{\"fault\": \"forbidden\", \"match\": {\"verb\": \"watch\"}}");
        try (KubeApiServer server = KubeApiServer.start("--faults", file.toString())) {
            server.installFaults(Fault.named("throttle"));
            server.reset();
            List<Control.InstalledFault> faults = server.control().listFaults().items();
            assertEquals(1, faults.size());
            assertEquals("forbidden", faults.get(0).spec().get("fault"));
        }
    }

    @Test
    void serverIsOfTheVersionThatWasAskedFor() throws Exception {
        for (String[] version : new String[][] {{"1.34", "v1.34.9"}, {"1.35.*", "v1.35.6"}}) {
            try (KubeApiServer server = KubeApiServer.startVersion(version[0], "--seed", "7")) {
                assertTrue(Requests.body(server, "/version").contains('"' + version[1] + '"'), version[0]);
            }
        }
        ServerException refused = assertThrows(ServerException.class, () -> KubeApiServer.startVersion("1.30"));
        assertTrue(refused.getMessage().contains("there are 1.31"), refused.getMessage());
    }

    @Test
    void controlOfFaults() throws Exception {
        try (KubeApiServer server = KubeApiServer.start()) {
            Control control = server.control();
            Fault fault = Fault.named("throttle")
                    .parameter("retryAfterSeconds", 2)
                    .match("verb", "get")
                    .match("resource", "nodes")
                    .when("times", 1);
            long id = server.installFaults(fault, Fault.named("hang").when("afterMs", 60_000)).get(0).id();
            assertEquals(429, Requests.get(server, "/api/v1/nodes/none"));
            assertEquals(404, Requests.get(server, "/api/v1/nodes/none"));
            assertEquals(1, control.getFault(id).fired());
            control.removeFault(id);
            assertEquals(404, assertThrows(ControlException.class, () -> control.getFault(id)).status());
            control.removeFaults();
            assertEquals(List.of(), control.listFaults().items());
            assertTrue(control.faultCatalogue().stream().anyMatch(entry -> entry.fault().equals("throttle")));
        }
    }

    @Test
    void controlOfHistory() throws Exception {
        try (KubeApiServer server = KubeApiServer.start()) {
            Control control = server.control();
            String old = "?resourceVersionMatch=Exact&resourceVersion=" + control.stats().revision();
            Requests.createNamespace(server, "shop");
            control.compact();
            assertEquals(410, Requests.get(server, "/api/v1/namespaces" + old));
            server.expire();
            control.disconnect();
            assertTrue(control.snapshot().startsWith("{\"format\":\"fakeserver.snapshot\""));
            // It keeps its state in memory.
            ControlException refused = assertThrows(ControlException.class, control::saveSnapshot);
            assertEquals(409, refused.status());
            assertTrue(refused.getMessage().contains("--data FILE"), refused.getMessage());
            assertEquals(1, control.stats().requests().get("namespaces").get("create"));
        }
    }

    @Test
    void controlByTlsWithRoles() throws Exception {
        try (KubeApiServer server = KubeApiServer.start("--tls", "--authorization", "rbac")) {
            assertTrue(server.url().startsWith("https://"), server.url());
            server.reset();
            assertEquals(200, Requests.get(server, "/api/v1/namespaces"));
        }
    }

    @Test
    void closedServerLeavesNothing() throws Exception {
        KubeApiServer server = KubeApiServer.start();
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(server.kubeconfigFile())));
        server.close();
        server.close();
        assertFalse(isRunning(server.pid()));
        assertFalse(Files.exists(server.kubeconfigFile()));
    }

    @Test
    void killedProcessTakesItsServerAlong() throws Exception {
        Process owner = owner("wait");
        String[] told = firstLine(owner);
        owner.destroyForcibly();
        isGone(told);
    }

    @Test
    void processThatForgetsItsServerCanEnd() throws Exception {
        Process owner = owner();
        String[] told = firstLine(owner);
        assertEquals(0, owner.waitFor());
        isGone(told);
    }

    @Test
    void deadServerIsTold() throws Exception {
        try (KubeApiServer server = KubeApiServer.start()) {
            ProcessHandle.of(server.pid()).orElseThrow().destroyForcibly();
            until("the server has ended", () -> !isRunning(server.pid()));
            ServerException error = assertThrows(ServerException.class, server::reset);
            assertEquals("the server has ended by signal 9", error.getMessage());
        }
    }

    private static Process owner(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(), "-cp", System.getProperty("java.class.path"), "fakeserver.Owner"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static String[] firstLine(Process owner) throws IOException {
        try (BufferedReader lines = owner.inputReader()) {
            return lines.readLine().split(" ");
        }
    }

    private static void isGone(String[] told) throws InterruptedException {
        until("the server has ended", () -> !isRunning(Long.parseLong(told[0])));
        until("its kubeconfig is removed", () -> !Files.exists(Path.of(told[1])));
    }

    private static boolean isRunning(long pid) {
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent();
    }

    private static void until(String what, BooleanSupplier condition) throws InterruptedException {
        Instant deadline = Instant.now().plus(LIMIT);
        while (!condition.getAsBoolean()) {
            assertTrue(Instant.now().isBefore(deadline), "not within " + LIMIT + ": " + what);
            Thread.sleep(20);
        }
    }
}
