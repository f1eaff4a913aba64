package dev.onlyonce.testkit.broken;

import dev.onlyonce.check.wire.HeaderLine;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What a tiny server answers. */
record TinyAnswer(int status, List<HeaderLine> headers, String body) {
    static TinyAnswer of(int status, String body) {
        return new TinyAnswer(status, List.of(new HeaderLine("Content-Type", "application/json")), body);
    }

    TinyAnswer with(String name, String value) {
        List<HeaderLine> more = new ArrayList<>(headers);
        more.add(new HeaderLine(name, value));
        return new TinyAnswer(status, more, body);
    }

    TinyAnswer without(String name) {
        return new TinyAnswer(
                status, headers.stream().filter(line -> !line.is(name)).toList(), body);
    }

    boolean has(String name) {
        return headers.stream().anyMatch(line -> line.is(name));
    }

    byte[] bytes() {
        byte[] content = body.getBytes(StandardCharsets.UTF_8);
        StringBuilder text = new StringBuilder("HTTP/1.1 " + status + " Status\r\n");
        headers.forEach(line ->
                text.append(line.name()).append(": ").append(line.value()).append("\r\n"));
        text.append("Connection: close\r\nContent-Length: ")
                .append(content.length)
                .append("\r\n\r\n");
        return (text + body).getBytes(StandardCharsets.UTF_8);
    }
}
