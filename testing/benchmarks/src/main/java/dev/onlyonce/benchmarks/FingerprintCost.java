package dev.onlyonce.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.fingerprint.Fingerprinter;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The fingerprint of a JSON body of 1 KiB against parsing the same body with Jackson, one thread. */
final class FingerprintCost {
    private static final int BATCH = 1_000;

    private final Options options;
    private final Report report;
    private final byte[] body = body();
    private long sink;

    FingerprintCost(Options options, Report report) {
        this.options = options;
        this.report = report;
    }

    /** A payment such as a shop sends it: text, amounts, a list of items, some of it not ASCII. */
    private static byte[] body() {
        StringBuilder json =
                new StringBuilder("{\"reference\":\"order-2026-000123\",\"customer\":{\"name\":\"Zoë Müller\","
                        + "\"email\":\"zoe@example.org\",\"address\":{\"street\":\"Lange Straße 12\",\"city\":\"Köln\","
                        + "\"postcode\":\"50667\",\"country\":\"DE\"}},\"currency\":\"EUR\",\"amount\":1299.5,\"capture\":true,"
                        + "\"items\":[");
        for (int i = 0; json.length() < 950; i++) {
            json.append(i == 0 ? "" : ",")
                    .append("{\"sku\":\"A-10")
                    .append(i)
                    .append("\",\"title\":\"Item number ")
                    .append(i)
                    .append("\",\"quantity\":")
                    .append(i + 1)
                    .append(",\"price\":")
                    .append(i * 10)
                    .append(".25,\"tax\":0.19}");
        }
        return json.append("],\"note\":null}").toString().getBytes(StandardCharsets.UTF_8);
    }

    @FunctionalInterface
    private interface Task {
        int run() throws Exception;
    }

    void run() throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        Fingerprinter fingerprinter = Fingerprinter.standard();
        Fingerprinter.Request request =
                new Fingerprinter.Request("POST", "/payments", null, Map.of(), "application/json", body);
        double parse = Double.MAX_VALUE;
        double json = Double.MAX_VALUE;
        double whole = Double.MAX_VALUE;
        for (int round = 0; round <= options.rounds(); round++) {
            parse = Math.min(parse, micros(() -> mapper.readTree(body).size()));
            json = Math.min(json, micros(() -> Fingerprint.ofJson(body).version()));
            whole = Math.min(
                    whole, micros(() -> fingerprinter.fingerprint(request).version()));
        }
        report.title("Fingerprint of a JSON body of " + body.length + " bytes, one thread, best of "
                + (options.rounds() + 1) + " rounds");
        report.header(" what", "µs", "times a Jackson parse");
        report.line("| Jackson `readTree` | %.2f | 1.00 |", parse);
        report.line("| `Fingerprint.ofJson` | %.2f | **%.2f** |", json, json / parse);
        report.line("| `Fingerprinter`, the whole request | %.2f | **%.2f** |", whole, whole / parse);
        if (sink == 0) {
            throw new IllegalStateException("nothing was computed");
        }
    }

    private double micros(Task task) throws Exception {
        long begun = System.nanoTime();
        long count = 0;
        double best = Double.MAX_VALUE;
        while (System.nanoTime() - begun < options.round().toNanos() / 3 || count == 0) {
            long batch = System.nanoTime();
            for (int i = 0; i < BATCH; i++) {
                sink += task.run();
            }
            count++;
            best = Math.min(best, (System.nanoTime() - batch) / 1e3 / BATCH);
        }
        return best;
    }
}
