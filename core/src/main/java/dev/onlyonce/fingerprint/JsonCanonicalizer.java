package dev.onlyonce.fingerprint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes a JSON text in the canonical form of RFC 8785, in one pass over the tokens:
 *
 * <ol>
 *   <li>Each token is appended to the output in its canonical spelling; of each member of the open objects the name and the
 *       slice of the output are remembered.
 *   <li>Names are compared as they come. An object whose names came in order is done when it ends.
 *   <li>Otherwise its members are sorted when it ends and their slices put in that order.
 *   <li>A value to be ignored is read and checked like any other, then cut off the output again.
 * </ol>
 *
 * <p>Two additions to the RFC: a duplicate member is refused, and a number keeps its exact value.
 * Time is linear in the length, times the depth for objects that are out of order; both are bounded.
 */
final class JsonCanonicalizer {
    /** Real bodies stay below 30 and receivers' limits begin at 64; the cost of sorting nested objects grows with it. */
    static final int DEPTH_MAX = 256;

    /** Up to this length the parser keeps a table of the names it met: quicker, but the table takes ten times the text. */
    private static final int NAME_TABLE_BYTES_MAX = 64 << 10;

    private static final JsonFactory JSON = factory().build();
    private static final JsonFactory LARGE_JSON =
            factory().disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES).build();

    private static JsonFactoryBuilder factory() {
        return new JsonFactoryBuilder()
                .disable(
                        JsonFactory.Feature
                                .CHARSET_DETECTION) // JSON is UTF-8; a guess at UTF-16 would be another reading
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES) // clients choose the names
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(DEPTH_MAX + 1) // one more, so that our own check comes first
                        .maxNumberLength(Integer.MAX_VALUE) // the body is bounded; our own check follows
                        .maxStringLength(Integer.MAX_VALUE)
                        .maxNameLength(Integer.MAX_VALUE)
                        .build());
    }

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    /** An array or object that is open. */
    private static final class Container {
        private boolean object;
        private boolean inOrder;
        private int bodyStart;
        private int firstMember;
        private int elements;
        private int keptElements;
        private int elementStart;

        private @Nullable Ignored place;
        private @Nullable Ignored childPlace;
    }

    private final JsonParser parser;
    private final Ignored ignored;
    private final ByteBuilder out;
    private final Members members = new Members();
    private Container[] containers = new Container[8];
    private byte[] scratch = new byte[0];
    private int depth;
    private boolean rootSeen;

    private JsonCanonicalizer(JsonParser parser, Ignored ignored, ByteBuilder out) {
        this.parser = parser;
        this.ignored = ignored;
        this.out = out;
    }

    /**
     * Appends the canonical form of a JSON text.
     *
     * @throws MalformedRequest if it is not well-formed UTF-8 and JSON, or goes over a limit
     */
    static void append(byte[] json, Ignored ignored, ByteBuilder out) {
        int marked = Math.min(json.length, BYTE_ORDER_MARK.length);
        int start = Arrays.equals(json, 0, marked, BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length) ? marked : 0;
        int invalid = Utf8.firstInvalid(json, start);
        if (invalid >= 0) {
            throw new MalformedRequest(Reason.MALFORMED_UTF8, "the body is not UTF-8 at byte " + (invalid + 1));
        }
        try (JsonParser parser = parser(json, start)) {
            new JsonCanonicalizer(parser, ignored, out).run();
        } catch (JsonProcessingException e) {
            // Not kept as the cause: its message quotes the body.
            throw malformed(Reason.MALFORMED_JSON, "the body is not JSON", e.getLocation());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonParser parser(byte[] json, int start) throws IOException {
        int length = json.length - start;
        if (length <= NAME_TABLE_BYTES_MAX) {
            return JSON.createParser(json, start, length);
        }
        // Of the library's parsers only the one for characters can do without the table.
        return LARGE_JSON.createParser(
                new InputStreamReader(new ByteArrayInputStream(json, start, length), StandardCharsets.UTF_8));
    }

    private void run() throws IOException {
        for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
            switch (token) {
                case FIELD_NAME -> beginMember();
                case START_OBJECT, START_ARRAY -> open(token == JsonToken.START_OBJECT);
                case END_OBJECT, END_ARRAY -> close();
                default -> {
                    beginValue();
                    appendScalar(token);
                    endValue();
                }
            }
        }
        if (!rootSeen) {
            throw new MalformedRequest(Reason.MALFORMED_JSON, "the body is not JSON: it has no value");
        }
    }

    private void open(boolean object) {
        Ignored place = beginValue();
        if (depth == DEPTH_MAX) {
            throw malformed(Reason.TOO_DEEP, "arrays and objects are nested more than " + DEPTH_MAX + " deep");
        }
        if (depth == containers.length) {
            containers = Arrays.copyOf(containers, depth * 2);
        }
        Container container = containers[depth];
        if (container == null) {
            container = new Container();
            containers[depth] = container;
        }
        depth++;
        out.append(object ? '{' : '[');
        container.object = object;
        container.inOrder = true;
        container.bodyStart = out.size();
        container.firstMember = members.size();
        container.elements = 0;
        container.keptElements = 0;
        container.place = place;
    }

    private void close() {
        Container container = containers[depth - 1];
        if (container.object) {
            if (!container.inOrder) {
                reorder(container);
            }
            members.truncate(container.firstMember);
            out.append('}');
        } else {
            out.append(']');
        }
        depth--;
        endValue();
    }

    private void beginMember() throws IOException {
        Container container = containers[depth - 1];
        String name = parser.currentName();
        int last = members.size() - 1;
        if (last >= container.firstMember) {
            out.append(',');
            if (container.inOrder) {
                int order = members.name(last).compareTo(name);
                if (order == 0) {
                    throw malformed(Reason.DUPLICATE_MEMBER, "an object has a member twice");
                }
                container.inOrder = order < 0;
            }
        }
        members.add(name, out.size());
        container.childPlace = container.place == null ? null : container.place.member(name);
        appendText();
        out.append(':');
    }

    /** Prepares for a value; returns its place among the ignored ones, if any. */
    private @Nullable Ignored beginValue() {
        if (depth == 0) {
            if (rootSeen) {
                throw malformed(Reason.MALFORMED_JSON, "the body is not JSON: something follows its value");
            }
            rootSeen = true;
            return ignored;
        }
        Container container = containers[depth - 1];
        if (!container.object) {
            container.childPlace = container.place == null ? null : container.place.element(container.elements);
            container.elements++;
            container.elementStart = out.size();
            if (container.keptElements > 0) {
                out.append(',');
            }
        }
        return container.childPlace;
    }

    private void endValue() {
        if (depth == 0) {
            return;
        }
        Container container = containers[depth - 1];
        boolean drop = container.childPlace != null && container.childPlace.whole();
        if (container.object) {
            if (drop) {
                out.truncate(members.start(members.size() - 1));
                container.inOrder = false; // so that the empty slice and its comma go away when the object ends
            }
            members.endLast(out.size());
        } else if (drop) {
            out.truncate(container.elementStart);
        } else {
            container.keptElements++;
        }
    }

    private void appendScalar(JsonToken token) throws IOException {
        switch (token) {
            case VALUE_STRING -> appendText();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> appendNumber(token == JsonToken.VALUE_NUMBER_INT);
            case VALUE_TRUE -> out.appendAscii("true");
            case VALUE_FALSE -> out.appendAscii("false");
            case VALUE_NULL -> out.appendAscii("null");
            default -> throw new IllegalStateException("a JSON parser does not give " + token);
        }
    }

    private void appendText() throws IOException {
        char[] text = parser.getTextCharacters();
        int from = parser.getTextOffset();
        if (!out.appendJsonString(text, from, from + parser.getTextLength())) {
            throw malformed(Reason.LONE_SURROGATE, "a string holds half of a surrogate pair");
        }
    }

    private void appendNumber(boolean integer) throws IOException {
        char[] text = parser.getTextCharacters();
        int from = parser.getTextOffset();
        int to = from + parser.getTextLength();
        Reason refused =
                integer ? JsonNumber.appendInteger(text, from, to, out) : JsonNumber.appendExact(text, from, to, out);
        if (refused == Reason.NUMBER_TOO_LONG) {
            throw malformed(refused, "a number has more than " + JsonNumber.NUMBER_CHARS_MAX + " characters");
        }
        if (refused != null) {
            throw malformed(refused, "a number's exponent is beyond " + JsonNumber.EXPONENT_MAX);
        }
    }

    private void reorder(Container container) {
        members.sort(container.firstMember);
        int bodyBytes = out.size() - container.bodyStart;
        if (scratch.length < bodyBytes) {
            scratch = new byte[Math.max(bodyBytes, scratch.length * 2)];
        }
        System.arraycopy(out.array(), container.bodyStart, scratch, 0, bodyBytes);
        out.truncate(container.bodyStart);
        for (int i = container.firstMember; i < members.size(); i++) {
            if (i > container.firstMember && members.name(i).equals(members.name(i - 1))) {
                throw malformed(Reason.DUPLICATE_MEMBER, "the object that ends here has a member twice");
            }
            if (!members.isEmpty(i)) {
                if (out.size() > container.bodyStart) {
                    out.append(',');
                }
                out.append(scratch, members.start(i) - container.bodyStart, members.end(i) - container.bodyStart);
            }
        }
    }

    private MalformedRequest malformed(Reason reason, String what) {
        return malformed(reason, what, parser.currentTokenLocation());
    }

    private static MalformedRequest malformed(Reason reason, String what, @Nullable JsonLocation where) {
        String place = where == null ? "" : ", line " + where.getLineNr() + ", column " + where.getColumnNr();
        return new MalformedRequest(reason, what + place);
    }
}
