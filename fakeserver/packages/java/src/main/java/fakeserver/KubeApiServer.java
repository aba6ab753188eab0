package fakeserver;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** A server that this process owns. It ends with the process, even if that is killed. */
public final class KubeApiServer implements AutoCloseable {
    /** The flags by which the server ends when this process is gone. */
    private static final List<String> OWNED = List.of("--end-with-parent");

    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

    private final ServerProcess process;
    private final Path kubeconfigFile;
    private final String url;
    private final String kubeconfig;
    private final Control control;
    private final HttpClient client;
    private final Set<Long> initialFaults;

    private KubeApiServer(ServerProcess process, Path kubeconfigFile, Duration limit) throws IOException {
        this.process = process;
        this.kubeconfigFile = kubeconfigFile;
        url = process.address(limit);
        kubeconfig = Files.readString(kubeconfigFile);
        HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
        Certificates.of(kubeconfig).ifPresent(builder::sslContext);
        client = builder.build();
        control = new Control(url, client);
        initialFaults = control.listFaults().items().stream().map(Control.InstalledFault::id).collect(Collectors.toSet());
    }

    /** Starts a server with flags of {@code fakeserver serve}, and returns it once it listens. */
    public static KubeApiServer start(String... flags) {
        return start(Programs.find(), START_TIMEOUT, flags);
    }

    /** Starts a server of a version of Kubernetes, as in 1.34, with flags of {@code fakeserver serve}, and returns it once it listens. */
    public static KubeApiServer startVersion(String version, String... flags) {
        List<String> all = new ArrayList<>(Arrays.asList(flags));
        if (!version.isEmpty()) {
            all.add("--kubernetes-version");
            all.add(version);
        }
        return start(all.toArray(String[]::new));
    }

    /** Starts a server by this program, and returns it once it listens, within this limit. */
    public static KubeApiServer start(Path program, Duration limit, String... flags) {
        // Neither the user's kubeconfig nor a name that others can guess.
        Path kubeconfig = Path.of(System.getProperty("java.io.tmpdir"), "fakeserver-" + UUID.randomUUID() + ".kubeconfig");
        List<String> command = new ArrayList<>(
                List.of(program.toString(), "serve", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig.toString()));
        command.addAll(OWNED);
        command.addAll(Arrays.asList(flags));
        ServerProcess process = null;
        try {
            process = new ServerProcess(command);
            return new KubeApiServer(process, kubeconfig, limit);
        } catch (IOException | RuntimeException error) {
            if (process != null) {
                process.stop();
            }
            remove(kubeconfig);
            throw new ServerException(
                    "fakeserver did not start: " + error.getMessage() + "\ncommand: " + String.join(" ", command), error);
        }
    }

    /** Returns its address, as in {@code http://127.0.0.1:40123}. */
    public String url() {
        return url;
    }

    /** Returns a kubeconfig for it. */
    public String kubeconfig() {
        return kubeconfig;
    }

    /** Returns the path of a kubeconfig for it, which is removed with it. */
    public Path kubeconfigFile() {
        return kubeconfigFile;
    }

    /** Returns a client that trusts it. */
    public HttpClient client() {
        return client;
    }

    /** Returns the operations behind its API. */
    public Control control() {
        requireAlive();
        return control;
    }

    /** Takes objects and faults back to those of the start. */
    public void reset() {
        control().reset();
        control.listFaults().items().stream()
                .map(Control.InstalledFault::id)
                .filter(id -> !initialFaults.contains(id))
                .forEach(control::removeFault);
    }

    /** Forgets the history for lists and watches: older versions are 410. */
    public void expire() {
        control().expire();
    }

    /** Installs all of the faults or none, and returns them with their ids. */
    public List<Control.InstalledFault> installFaults(Fault... faults) {
        return control().installFaults(faults).items();
    }

    /** Returns the id of its process. */
    public long pid() {
        return process.pid();
    }

    /** Ends the server, and removes its kubeconfig. */
    @Override
    public void close() {
        process.stop();
        remove(kubeconfigFile);
    }

    private void requireAlive() {
        if (!process.isAlive()) {
            throw new ServerException("the server has ended " + process.end());
        }
    }

    private static void remove(Path kubeconfig) {
        try {
            Files.deleteIfExists(kubeconfig);
            Files.deleteIfExists(Path.of(kubeconfig + ".lock"));
        } catch (IOException error) {
            throw new ServerException("cannot remove " + kubeconfig + ": " + error.getMessage(), error);
        }
    }
}
