package fakeserver;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** A client for the control API of fakeserver, {@code /_control}. */
public final class Control {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final String base;
    private final HttpClient client;

    /** Makes a client for the server at a URL. */
    public Control(String url, HttpClient client) {
        this.base = url.replaceAll("/+$", "") + "/_control";
        this.client = client;
    }

    /** Counts of a server; requests are counted by resource and verb. */
    public record Stats(
            long revision, long watchers, long unseenChanges, Map<String, Map<String, Long>> requests, long requestsForgotten) {}

    /** A fault in force. {@code lastRevision} is the revision at its last firing, or null. */
    public record InstalledFault(long id, Map<String, Object> spec, long fired, Long lastRevision) {}

    /** A fault in the catalogue. */
    public record CatalogueEntry(
            String number,
            String fault,
            String effect,
            String models,
            String suffered,
            List<String> parameters,
            boolean needsTcp,
            boolean canBeHeld) {}

    /** Returns counts of the server. */
    public Stats stats() {
        Map<String, Object> answer = read("stats", "/stats");
        return new Stats(
                (Long) answer.get("revision"),
                (Long) answer.get("watchers"),
                (Long) answer.get("unseen_changes"),
                cast(answer.get("requests")),
                (Long) answer.get("requests_forgotten"));
    }

    /** Forgets the history for lists. */
    public void compact() {
        send("compact", "POST", "/compact", null);
    }

    /** Forgets the history for lists and watches. */
    public void expire() {
        send("expire", "POST", "/expire", null);
    }

    /** Ends every open watch. */
    public void disconnect() {
        send("disconnect", "POST", "/disconnect", null);
    }

    /** Takes the objects back to those of the start. Faults stay. */
    public void reset() {
        send("reset", "POST", "/reset", null);
    }

    /** Returns the whole state as lines of JSON. */
    public String snapshot() {
        return send("snapshot", "GET", "/snapshot", null);
    }

    /** Writes the state to the file of {@code --data}. */
    public void saveSnapshot() {
        send("saveSnapshot", "POST", "/snapshot", null);
    }

    /** Lists the faults in force. */
    public List<InstalledFault> listFaults() {
        return installed(read("listFaults", "/faults"));
    }

    /** Installs all of the faults or none, and returns them with their ids. */
    public List<InstalledFault> installFaults(Fault... faults) {
        String body = Json.write(Arrays.stream(faults).map(Fault::fields).toList());
        return installed(cast(Json.read(send("installFaults", "POST", "/faults", body))));
    }

    /** Returns a fault in force. */
    public InstalledFault getFault(long id) {
        return installedFault(read("getFault", "/faults/" + id));
    }

    /** Removes a fault. */
    public void removeFault(long id) {
        send("removeFault", "DELETE", "/faults/" + id, null);
    }

    /** Removes all faults. */
    public void removeFaults() {
        send("removeFaults", "DELETE", "/faults", null);
    }

    /** Returns the catalogue of faults. */
    public List<CatalogueEntry> faultCatalogue() {
        List<Map<String, Object>> entries = read("faultCatalogue", "/faults/catalogue");
        return entries.stream().map(Control::catalogueEntry).toList();
    }

    private static CatalogueEntry catalogueEntry(Map<String, Object> entry) {
        return new CatalogueEntry(
                (String) entry.get("number"),
                (String) entry.get("fault"),
                (String) entry.get("effect"),
                (String) entry.get("models"),
                (String) entry.get("suffered"),
                cast(entry.get("parameters")),
                (Boolean) entry.get("needsTcp"),
                (Boolean) entry.get("canBeHeld"));
    }

    private static List<InstalledFault> installed(Map<String, List<Map<String, Object>>> list) {
        return list.get("items").stream().map(Control::installedFault).toList();
    }

    private static InstalledFault installedFault(Map<String, Object> fault) {
        return new InstalledFault(
                (Long) fault.get("id"), cast(fault.get("spec")), (Long) fault.get("fired"), (Long) fault.get("lastRevision"));
    }

    private <T> T read(String operation, String path) {
        return cast(Json.read(send(operation, "GET", path, null)));
    }

    // The server's answers have these types.
    @SuppressWarnings("unchecked")
    private static <T> T cast(Object value) {
        return (T) value;
    }

    private String send(String operation, String method, String path, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(base + path))
                .timeout(TIMEOUT)
                .header("Content-Type", "application/json")
                .method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer;
        try {
            answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException error) {
            throw new ServerException(operation + ": no answer of the server: " + error, error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new ServerException(operation + ": interrupted", error);
        }
        if (answer.statusCode() / 100 != 2) {
            throw refusal(operation, answer);
        }
        return answer.body();
    }

    private static ControlException refusal(String operation, HttpResponse<String> answer) {
        String message = answer.body().strip();
        String field = null;
        try {
            Map<String, Object> status = cast(Json.read(message));
            message = (String) status.getOrDefault("message", message);
            Map<String, Object> details = cast(status.getOrDefault("details", Map.of()));
            List<Map<String, Object>> causes = cast(details.getOrDefault("causes", List.of()));
            field = causes.isEmpty() ? null : (String) causes.get(0).get("field");
        } catch (IllegalArgumentException | ClassCastException notJson) {
            // It is text.
        }
        return new ControlException(operation, answer.statusCode(), message, field);
    }
}
