import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.Version;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A process under test: the shared index informer of fabric8's Kubernetes client.
 *
 * <pre>conformance score --against tcp --subject external --command "java -cp JARS InformerUnderTest"</pre>
 *
 * conformance/docs/external.md describes the protocol.
 */
public final class InformerUnderTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  /** The output of the protocol. Whatever else is printed, by loggers too, goes to standard error. */
  private static final PrintStream OUT = System.out;

  private InformerUnderTest() {}

  public static void main(String[] arguments) throws Exception {
    System.setOut(System.err);
    warmUp();
    // An update may lead from one object to another one of the same name.
    say(Map.of("say", "hello", "library", "fabric8 kubernetes-client", "version", Version.clientVersion(), "replacesByUpdate", true));
    SharedIndexInformer<? extends HasMetadata> informer = null;
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode command = JSON.readTree(line);
      switch (command.get("do").asText()) {
        case "start" -> informer = start(command);
        case "cache" -> answer(informer);
        default -> throw new IllegalArgumentException(line);
      }
    }
    // The threads of the library would keep the process alive.
    System.exit(0);
  }

  /**
   * Loads what an informer needs, with a server of one pod: that takes seconds, in which a run would be over. A process that
   * has run for a while has it.
   */
  private static void warmUp() throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    String pod = "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"1\"}}";
    byte[] list = ("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[" + pod + "]}")
        .getBytes(StandardCharsets.UTF_8);
    server.createContext(
        "/",
        exchange -> {
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, list.length);
          exchange.getResponseBody().write(list);
          exchange.close();
        });
    server.start();
    try (KubernetesClient client = client("http://localhost:" + server.getAddress().getPort())) {
      SharedIndexInformer<Pod> informer = client.pods().inAnyNamespace().runnableInformer(0);
      informer.start().toCompletableFuture().get(20, TimeUnit.SECONDS);
      JSON.writeValueAsString(stateOf(informer.getStore().list().get(0)));
      informer.stop();
    } finally {
      server.stop(0);
    }
  }

  private static KubernetesClient client(String server) {
    Config config = new ConfigBuilder(Config.empty()).withMasterUrl(server).build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  private static SharedIndexInformer<? extends HasMetadata> start(JsonNode command) {
    KubernetesClient client = client(command.get("server").asText());
    return switch (command.get("resource").asText()) {
      case "pods" -> start(selected(client.resources(Pod.class), command));
      case "configmaps" -> start(selected(client.resources(ConfigMap.class), command));
      case "nodes" -> start(selected(client.resources(Node.class), command));
      default -> throw new IllegalArgumentException(command.toString());
    };
  }

  private static <T extends HasMetadata> SharedIndexInformer<T> start(SharedIndexInformer<T> informer) {
    // By default an informer whose first list fails does not try again.
    informer.exceptionHandler((isStarted, cause) -> true);
    informer.addEventHandler(
        new ResourceEventHandler<T>() {
          @Override
          public void onAdd(T object) {
            say(Map.of("say", "added", "object", stateOf(object)));
          }

          @Override
          public void onUpdate(T old, T object) {
            say(Map.of("say", "updated", "old", stateOf(old), "new", stateOf(object)));
          }

          @Override
          public void onDelete(T object, boolean deletedFinalStateUnknown) {
            say(Map.of("say", "deleted", "object", stateOf(object), "isTombstone", deletedFinalStateUnknown));
          }
        });
    informer.start().thenRun(() -> say(Map.of("say", "synced")));
    return informer;
  }

  private static <T extends HasMetadata, L, R extends io.fabric8.kubernetes.client.dsl.Resource<T>>
      SharedIndexInformer<T> selected(MixedOperation<T, L, R> resources, JsonNode command) {
    JsonNode namespace = command.get("namespace");
    JsonNode selector = command.get("labelSelector");
    FilterWatchListDeletable<T, L, R> chosen;
    if (namespace.isNull()) {
      chosen = selector.isNull() ? resources.inAnyNamespace() : resources.inAnyNamespace().withLabelSelector(selector.asText());
    } else {
      NonNamespaceOperation<T, L, R> inside = resources.inNamespace(namespace.asText());
      chosen = selector.isNull() ? inside : inside.withLabelSelector(selector.asText());
    }
    return chosen.runnableInformer(0);
  }

  /** Reads the cache while no line is written. */
  private static synchronized void answer(SharedIndexInformer<? extends HasMetadata> informer) {
    List<Object> held = informer.getStore().list().stream().map(InformerUnderTest::stateOf).collect(Collectors.toList());
    say(Map.of("say", "cache", "objects", held));
  }

  private static synchronized void say(Map<String, Object> line) {
    try {
      OUT.println(JSON.writeValueAsString(line));
      OUT.flush();
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  private static Object stateOf(HasMetadata object) {
    ObjectMeta meta = object.getMetadata();
    Map<String, String> state = new LinkedHashMap<>();
    state.put("key", meta.getNamespace() == null ? meta.getName() : meta.getNamespace() + "/" + meta.getName());
    state.put("uid", meta.getUid());
    state.put("resourceVersion", meta.getResourceVersion());
    return state;
  }
}
