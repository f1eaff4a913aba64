package dev.onlyonce.check.wire;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An answer as it was received. */
public record RawAnswer(int status, List<HeaderLine> headers, byte[] body) {

    /** The first line of this header. */
    public @Nullable String header(String name) {
        List<String> lines = lines(name);
        return lines.isEmpty() ? null : lines.get(0);
    }

    /** All lines of this header. */
    public List<String> lines(String name) {
        return headers.stream()
                .filter(line -> line.is(name))
                .map(HeaderLine::value)
                .toList();
    }

    /** The body as text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** For people: no credentials, and not all of a large body. */
    public String shown() {
        StringBuilder text = new StringBuilder().append(status);
        headers.forEach(line -> text.append('\n').append(line.shown()));
        return text.append("\n\n").append(RawRequest.shown(body)).toString();
    }
}
