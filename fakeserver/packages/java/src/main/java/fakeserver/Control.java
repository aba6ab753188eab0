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
import java.util.function.Function;

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

    /** Faults in force. */
    public record FaultList(List<InstalledFault> items) {}

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

    /** The release of Kubernetes that is served, and those that there are, from old to new. */
    public record KubernetesVersions(String version, List<String> versions) {}

    /**
     * A change of the version of Kubernetes. {@code unserved} has the number of objects of each stored resource that the
     * version does not serve, {@code unknownFields} the fields that it does not know of the first 100 objects.
     */
    public record UpgradeReport(
            String from,
            String to,
            Map<String, Long> unserved,
            Map<String, List<String>> unknownFields,
            long objectsWithUnknownFields) {}

    // generated from /_control/openapi.json by scripts/packages/control_clients.py

    /** Returns the counts of the server. */
    public Stats stats() {
        return stats(cast(Json.read(send("stats", "GET", "/stats", null))));
    }

    /** Returns the whole state, a line of JSON an object. */
    public String snapshot() {
        return send("snapshot", "GET", "/snapshot", null);
    }

    /** Writes the state to the data file; 409 if the server has none. */
    public void saveSnapshot() {
        send("saveSnapshot", "POST", "/snapshot", null);
    }

    /** Removes history: lists of older versions are answered with 410. Watches go on. */
    public void compact() {
        send("compact", "POST", "/compact", null);
    }

    /** Removes history for watches, too: one that begins at an older version receives an ERROR event with 410. */
    public void expire() {
        send("expire", "POST", "/expire", null);
    }

    /** Ends all open watches. */
    public void disconnect() {
        send("disconnect", "POST", "/disconnect", null);
    }

    /** Restores the state of the start: later objects are gone, and all watches end. Faults stay in force. */
    public void reset() {
        send("reset", "POST", "/reset", null);
    }

    /** Removes all faults. */
    public void removeFaults() {
        send("removeFaults", "DELETE", "/faults", null);
    }

    /** Returns the faults in force. */
    public FaultList listFaults() {
        return faultList(cast(Json.read(send("listFaults", "GET", "/faults", null))));
    }

    /** Installs a fault, or several, all or none; 400 names the invalid field. */
    public FaultList installFaults(Fault... faults) {
        return faultList(cast(Json.read(send("installFaults", "POST", "/faults", bodyOf(faults)))));
    }

    /** Returns what is known about each fault. */
    public List<CatalogueEntry> faultCatalogue() {
        return all(send("faultCatalogue", "GET", "/faults/catalogue", null), Control::catalogueEntry);
    }

    /** Removes a fault. */
    public void removeFault(long id) {
        send("removeFault", "DELETE", "/faults/" + id, null);
    }

    /** Returns a fault in force. */
    public InstalledFault getFault(long id) {
        return installedFault(cast(Json.read(send("getFault", "GET", "/faults/" + id, null))));
    }

    /** Returns the release of Kubernetes that is served, and those that there are. */
    public KubernetesVersions kubernetesVersion() {
        return kubernetesVersions(cast(Json.read(send("kubernetesVersion", "GET", "/kubernetes-version", null))));
    }

    /** Serves another version of Kubernetes, newer or older, with open watches; 400 lists the versions. */
    public UpgradeReport upgrade(String version) {
        return upgradeReport(cast(Json.read(send("upgrade", "POST", "/kubernetes-version", Json.write(Map.of("version", version))))));
    }

    // end of what is generated

    private static String bodyOf(Fault... faults) {
        return Json.write(Arrays.stream(faults).map(Fault::fields).toList());
    }

    private static <T> List<T> all(String text, Function<Map<String, Object>, T> item) {
        List<Map<String, Object>> items = cast(Json.read(text));
        return items.stream().map(item).toList();
    }

    private static Stats stats(Map<String, Object> answer) {
        return new Stats(
                (Long) answer.get("revision"),
                (Long) answer.get("watchers"),
                (Long) answer.get("unseen_changes"),
                cast(answer.get("requests")),
                (Long) answer.get("requests_forgotten"));
    }

    private static KubernetesVersions kubernetesVersions(Map<String, Object> answer) {
        return new KubernetesVersions((String) answer.get("version"), cast(answer.get("versions")));
    }

    private static UpgradeReport upgradeReport(Map<String, Object> answer) {
        return new UpgradeReport(
                (String) answer.get("from"),
                (String) answer.get("to"),
                cast(answer.get("unserved")),
                cast(answer.get("unknownFields")),
                (Long) answer.get("objectsWithUnknownFields"));
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

    private static FaultList faultList(Map<String, List<Map<String, Object>>> list) {
        return new FaultList(list.get("items").stream().map(Control::installedFault).toList());
    }

    private static InstalledFault installedFault(Map<String, Object> fault) {
        return new InstalledFault(
                (Long) fault.get("id"), cast(fault.get("spec")), (Long) fault.get("fired"), (Long) fault.get("lastRevision"));
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
