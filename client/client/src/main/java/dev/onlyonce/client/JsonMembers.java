package dev.onlyonce.client;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the strings and numbers of a small JSON object by their paths, such as {@code code} and {@code error.type}. Anything
 * that is not JSON has no members. It reads answers of servers, so depth and length are bounded.
 */
final class JsonMembers {
    private static final int LENGTH_MAX = 64 * 1024;
    private static final int DEPTH_MAX = 16;

    private final String text;
    private final Map<String, String> members = new HashMap<>();
    private int at;

    private JsonMembers(String text) {
        this.text = text;
    }

    /** Reads an object. */
    static JsonMembers of(byte[] body) {
        JsonMembers json = new JsonMembers(body.length > LENGTH_MAX ? "" : new String(body, StandardCharsets.UTF_8));
        try {
            json.value("", 0);
            json.space();
            if (json.at < json.text.length()) {
                json.members.clear();
            }
        } catch (Malformed e) {
            json.members.clear();
        }
        return json;
    }

    Optional<String> get(String path) {
        return Optional.ofNullable(members.get(path));
    }

    private void value(String path, int depth) throws Malformed {
        if (depth > DEPTH_MAX) {
            throw new Malformed();
        }
        space();
        switch (peek()) {
            case '{' -> object(path, depth);
            case '[' -> array(depth);
            case '"' -> keep(path, string());
            default -> keep(path, literal());
        }
    }

    private void keep(String path, String value) {
        if (!path.isEmpty()) {
            members.putIfAbsent(path, value);
        }
    }

    private void object(String path, int depth) throws Malformed {
        at++;
        space();
        if (peek() == '}') {
            at++;
            return;
        }
        do {
            space();
            String name = string();
            space();
            expect(':');
            value(path.isEmpty() ? name : path + "." + name, depth + 1);
            space();
        } while (more('}'));
    }

    private void array(int depth) throws Malformed {
        at++;
        space();
        if (peek() == ']') {
            at++;
            return;
        }
        do {
            value("", depth + 1);
            space();
        } while (more(']'));
    }

    /** Whether a comma follows; else the end must. */
    private boolean more(char end) throws Malformed {
        char next = peek();
        at++;
        if (next != ',' && next != end) {
            throw new Malformed();
        }
        return next == ',';
    }

    private String string() throws Malformed {
        expect('"');
        StringBuilder value = new StringBuilder();
        for (char next = peek(); next != '"'; next = peek()) {
            at++;
            if (next < ' ') {
                throw new Malformed();
            }
            value.append(next == '\\' ? escaped() : next);
        }
        at++;
        return value.toString();
    }

    private char escaped() throws Malformed {
        char next = peek();
        at++;
        return switch (next) {
            case '"', '\\', '/' -> next;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> hex();
            default -> throw new Malformed();
        };
    }

    private char hex() throws Malformed {
        if (at + 4 > text.length()) {
            throw new Malformed();
        }
        try {
            int code = Integer.parseInt(text, at, at + 4, 16);
            at += 4;
            return (char) code;
        } catch (NumberFormatException e) {
            throw new Malformed();
        }
    }

    private String literal() throws Malformed {
        int begin = at;
        while (at < text.length() && "+-.0123456789eEtrufalsn".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        if (at == begin) {
            throw new Malformed();
        }
        return text.substring(begin, at);
    }

    private void expect(char wanted) throws Malformed {
        if (peek() != wanted) {
            throw new Malformed();
        }
        at++;
    }

    private char peek() throws Malformed {
        if (at >= text.length()) {
            throw new Malformed();
        }
        return text.charAt(at);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private static final class Malformed extends Exception {
        private static final long serialVersionUID = 1;

        Malformed() {
            super(null, null, false, false);
        }
    }
}
