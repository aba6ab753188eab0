package fakeserver;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Requests to a server, of most of which only the status counts. */
final class Requests {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private Requests() {}

    static int get(KubeApiServer server, String path) throws IOException, InterruptedException {
        return send(server, HttpRequest.newBuilder(URI.create(server.url() + path)));
    }

    static String body(KubeApiServer server, String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + path)).timeout(LIMIT).build();
        return server.client().send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    static int createNamespace(KubeApiServer server, String name) throws IOException, InterruptedException {
        String body = "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"" + name + "\"}}";
        URI uri = URI.create(server.url() + "/api/v1/namespaces");
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).header("Content-Type", "application/json");
        return send(server, request.POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    private static int send(KubeApiServer server, HttpRequest.Builder request) throws IOException, InterruptedException {
        return server.client().send(request.timeout(LIMIT).build(), HttpResponse.BodyHandlers.discarding()).statusCode();
    }
}
