package dev.onlyonce.fingerprint;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a JSON text that do not count, as a tree of JSON pointers (RFC 6901): each node is a place in the text, its
 * children are the places below it on the way to an ignored one. Immutable once built.
 */
final class Ignored {
    /** Nothing is ignored. */
    static final Ignored NONE = new Ignored();

    private static final Pattern BAD_ESCAPE = Pattern.compile("~(?![01])");

    private final Map<String, Ignored> children = new HashMap<>();
    private boolean whole;

    private Ignored() {}

    /**
     * The places that JSON pointers name.
     *
     * @throws IllegalArgumentException if one is not a JSON pointer, or names the whole text
     */
    static Ignored at(List<String> pointers) {
        Ignored root = new Ignored();
        for (String pointer : pointers) {
            Ignored place = root;
            for (String token : tokens(pointer)) {
                place = place.children.computeIfAbsent(token, any -> new Ignored());
            }
            place.whole = true;
        }
        return root;
    }

    /** Whether everything at this place is ignored. */
    boolean whole() {
        return whole;
    }

    /** The place of a member, or null if nothing is ignored there or below. */
    @Nullable
    Ignored member(String name) {
        return children.get(name);
    }

    /** The place of an array's element, or null if nothing is ignored there or below. */
    @Nullable
    Ignored element(int index) {
        return children.isEmpty() ? null : children.get(Integer.toString(index));
    }

    private static List<String> tokens(String pointer) {
        if (pointer.isEmpty()) {
            throw new IllegalArgumentException("the pointer \"\" would ignore the whole body");
        }
        if (pointer.charAt(0) != '/') {
            throw new IllegalArgumentException("not a JSON pointer, it does not begin with a slash: " + pointer);
        }
        if (BAD_ESCAPE.matcher(pointer).find()) {
            throw new IllegalArgumentException("not a JSON pointer, ~ is not followed by 0 or 1: " + pointer);
        }
        return Arrays.stream(pointer.substring(1).split("/", -1))
                .map(token -> token.replace("~1", "/").replace("~0", "~"))
                .toList();
    }
}
