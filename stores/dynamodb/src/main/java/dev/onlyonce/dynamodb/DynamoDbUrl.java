package dev.onlyonce.dynamodb;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.StoreOptions;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import software.amazon.awssdk.regions.Region;

/** The URL of a store: {@code dynamodb:table?region=eu-central-1}, with more settings after an ampersand. */
record DynamoDbUrl(String table, List<String> settings) {
    static final String SCHEME = "dynamodb:";
    private static final String TABLE = "[a-zA-Z0-9_.-]{3,255}";
    private static final String REGION = "[a-z]{2,}(-[a-z0-9]+)+";

    static DynamoDbUrl of(String url) {
        int query = url.indexOf('?');
        String table = (query < 0 ? url : url.substring(0, query)).replaceFirst("^" + SCHEME, "");
        if (!url.startsWith(SCHEME) || !table.matches(TABLE)) {
            throw new IllegalArgumentException(
                    "the URL of a DynamoDB store must have the form dynamodb:table?region=eu-central-1, with a table"
                            + " name of 3 to 255 letters, digits, dots, dashes and underscores");
        }
        return new DynamoDbUrl(
                table, query < 0 ? List.of() : List.of(url.substring(query + 1).split("&", -1)));
    }

    /** Applies the settings; throws {@link IllegalArgumentException} for one that does not exist or has a wrong value. */
    void applyTo(DynamoDbStore.Builder builder) {
        for (String setting : settings) {
            String[] parts = setting.split("=", 2);
            try {
                apply(builder, parts[0], parts.length == 2 ? parts[1] : "");
            } catch (RuntimeException e) {
                throw new IllegalArgumentException(
                        "\"" + StoreOptions.shown(setting)
                                + "\" is not a setting of the DynamoDB store: after the ? of its URL write"
                                + " region=eu-central-1, endpoint=http://127.0.0.1:8000, timeout=2s or"
                                + " audit=exceptions, separated by &. Credentials are the user and the password beside it",
                        e);
            }
        }
    }

    private static void apply(DynamoDbStore.Builder builder, String name, String value) {
        switch (name) {
            case "region" -> builder.region(region(value));
            case "endpoint" -> builder.endpoint(endpoint(value));
            case "timeout" -> builder.timeout(Duration.parse("PT" + value));
            case "audit" -> builder.audit(audit(value));
            default -> throw new IllegalArgumentException(name);
        }
    }

    private static Region region(String value) {
        if (!value.matches(REGION)) {
            throw new IllegalArgumentException(value);
        }
        return Region.of(value);
    }

    private static URI endpoint(String value) {
        if (!value.matches("https?://[^/?#@]+/?")) {
            throw new IllegalArgumentException("endpoint");
        }
        return URI.create(value);
    }

    private static AuditLevel audit(String value) {
        if (!value.equals("all") && !value.equals("exceptions")) {
            throw new IllegalArgumentException(value);
        }
        return AuditLevel.valueOf(value.toUpperCase(Locale.ROOT));
    }
}
