package fakeserver;

import java.util.LinkedHashMap;
import java.util.Map;

/** A fault to install. Each method returns a fault with one thing more. */
public final class Fault {
    private final Map<String, Object> fields;

    private Fault(Map<String, Object> fields) {
        this.fields = fields;
    }

    /** Returns the fault of this name in the catalogue. */
    public static Fault named(String name) {
        return new Fault(Map.of("fault", name));
    }

    /** Adds a parameter that the catalogue lists for the fault. */
    public Fault parameter(String name, Object value) {
        return with(fields, name, value);
    }

    /** Adds a condition on requests: {@code client}, {@code verb}, {@code resource} and so on. */
    public Fault match(String name, Object value) {
        return below("match", name, value);
    }

    /** Adds a condition on occasions: {@code nth}, {@code times}, {@code probability} and so on. */
    public Fault when(String name, Object value) {
        return below("when", name, value);
    }

    Map<String, Object> fields() {
        return fields;
    }

    private Fault below(String section, String name, Object value) {
        Map<?, ?> present = (Map<?, ?>) fields.getOrDefault(section, Map.of());
        Map<String, Object> inner = new LinkedHashMap<>();
        present.forEach((key, each) -> inner.put((String) key, each));
        inner.put(name, value);
        return with(fields, section, inner);
    }

    private static Fault with(Map<String, Object> fields, String name, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(fields);
        more.put(name, value);
        return new Fault(more);
    }
}
