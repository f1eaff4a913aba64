package dev.onlyonce.server.observe;

import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Logback's JSON, with the time as people and log stores read it: {@code "time":"2026-01-31T08:15:30.123Z"}. */
public final class TimedJsonEncoder extends JsonEncoder {

    @Override
    public byte[] encode(ILoggingEvent event) {
        byte[] line = super.encode(event);
        byte[] time =
                ("{\"time\":\"" + Instant.ofEpochMilli(event.getTimeStamp()) + "\",").getBytes(StandardCharsets.UTF_8);
        byte[] timed = new byte[time.length + line.length - 1];
        System.arraycopy(time, 0, timed, 0, time.length);
        // Without its brace.
        System.arraycopy(line, 1, timed, time.length, line.length - 1);
        return timed;
    }
}
