package dev.onlyonce.payments.provider;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parameters of a request. */
record Query(Map<String, String> parameters) {
    static Query of(@Nullable String raw) {
        Map<String, String> parameters = new HashMap<>();
        for (String pair : raw == null || raw.isEmpty() ? new String[0] : raw.split("&")) {
            int equals = pair.indexOf('=');
            String name = equals < 0 ? pair : pair.substring(0, equals);
            parameters.put(decode(name), equals < 0 ? "" : decode(pair.substring(equals + 1)));
        }
        return new Query(parameters);
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    String get(String name, String otherwise) {
        return parameters.getOrDefault(name, otherwise);
    }

    String required(String name) throws Provider.Refused {
        String value = parameters.get(name);
        if (value == null || value.isEmpty()) {
            throw new Provider.Refused(400, "the parameter " + name + " is missing");
        }
        return value;
    }
}
