package fakeserver;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as maps, lists, strings, numbers ({@code Long}, or {@code Double} for fractions), booleans and null. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads a text that is one value. */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        if (json.skipSpace() < text.length()) {
            throw json.unexpected();
        }
        return value;
    }

    /** Writes a value. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(separator);
                quote(entry.getKey().toString(), out);
                write(entry.getValue(), out.append(':'));
                separator = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof Iterable<?> items) {
            String separator = "";
            out.append('[');
            for (Object item : items) {
                write(item, out.append(separator));
                separator = ",";
            }
            out.append(']');
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            quote(value.toString(), out);
        }
    }

    private static void quote(String string, StringBuilder out) {
        out.append('"');
        for (char letter : string.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                out.append('\\').append(letter);
            } else if (letter < ' ') {
                out.append(String.format("\\u%04x", (int) letter));
            } else {
                out.append(letter);
            }
        }
        out.append('"');
    }

    private Object value() {
        skipSpace();
        return switch (peek()) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        while (next('}', map.isEmpty())) {
            skipSpace();
            String key = string();
            skipSpace();
            expect(':');
            map.put(key, value());
        }
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        at++;
        while (next(']', list.isEmpty())) {
            list.add(value());
        }
        return list;
    }

    /** Returns true if another item follows, before which it takes the comma. */
    private boolean next(char end, boolean isFirst) {
        skipSpace();
        if (peek() == end) {
            at++;
            return false;
        }
        if (!isFirst) {
            expect(',');
        }
        return true;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        expect('"');
        while (peek() != '"') {
            char letter = text.charAt(at++);
            out.append(letter == '\\' ? escaped() : letter);
        }
        at++;
        return out.toString();
    }

    private char escaped() {
        char letter = peek();
        at++;
        return switch (letter) {
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                at += 4;
                yield (char) Integer.parseInt(text, at - 4, at, 16);
            }
            default -> letter;
        };
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        if (start == at) {
            throw unexpected();
        }
        BigDecimal number = new BigDecimal(text.substring(start, at));
        return number.scale() <= 0 ? (Object) number.longValueExact() : (Object) number.doubleValue();
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw unexpected();
        }
        at += word.length();
        return value;
    }

    private void expect(char letter) {
        if (peek() != letter) {
            throw unexpected();
        }
        at++;
    }

    private char peek() {
        if (at >= text.length()) {
            throw unexpected();
        }
        return text.charAt(at);
    }

    private int skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at;
    }

    private IllegalArgumentException unexpected() {
        return new IllegalArgumentException("no JSON at offset " + at);
    }
}
