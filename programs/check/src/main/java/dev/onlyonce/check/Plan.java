package dev.onlyonce.check;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onlyonce.check.wire.HeaderLine;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What to check: where, with which request, and what the caller knows about the API. Immutable. */
public final class Plan {
    private static final String JSON = "application/json";

    private final Builder options;

    private Plan(Builder options) {
        this.options = options;
    }

    /** A POST of this body to this URL. */
    public static Builder builder(URI url, String body) {
        return new Builder(http(url.toString()), body);
    }

    /** A URL that requests can be sent to; throws {@link IllegalArgumentException} otherwise. */
    public static URI http(String text) {
        URI url = URI.create(text);
        if (url.getScheme() == null || !url.getScheme().matches("(?i)https?") || url.getHost() == null) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a URL; write for example http://127.0.0.1:8080/payments");
        }
        if (url.getRawUserInfo() != null) {
            throw new IllegalArgumentException("Take the credentials out of the URL and give them as a header.");
        }
        return url;
    }

    /**
     * A request that makes the API refuse or fail.
     *
     * @param url null for that of the plan
     * @param body null for that of the plan
     * @param headers that take the place of the plan's
     */
    public record Variation(@Nullable URI url, @Nullable String body, List<HeaderLine> headers) {
        /** Nothing is known. */
        static final Variation NONE = new Variation(null, null, List.of());

        /** Copies the list. */
        public Variation {
            headers = List.copyOf(headers);
        }

        /** Another body. */
        public static Variation body(String text) {
            return new Variation(null, text, List.of());
        }

        boolean isEmpty() {
            return url == null && body == null && headers.isEmpty();
        }
    }

    /** Where requests go. */
    public URI url() {
        return options.url;
    }

    /** Whether they stay on this machine. */
    public boolean isLoopback() {
        try {
            return Arrays.stream(InetAddress.getAllByName(url().getHost())).allMatch(InetAddress::isLoopbackAddress);
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /**
     * The most requests that will be sent, and so the most effects that an API can have which has one for every request. The
     * run ends when they are used up.
     */
    public int requestsMax() {
        return Math.min(options.requestsMax, Checker.requestsMax(this));
    }

    Set<Check> checks() {
        return EnumSet.copyOf(options.checks);
    }

    String body() {
        return options.body;
    }

    /** The body as JSON; null if it is something else. */
    @Nullable
    ObjectNode json() {
        JsonNode node = Json.parse(options.body.getBytes(StandardCharsets.UTF_8));
        return node instanceof ObjectNode object ? object : null;
    }

    String otherBody() {
        if (options.otherBody != null) {
            return options.otherBody;
        }
        ObjectNode json = json();
        return json == null ? options.body + "&onlyonce-check=1" : Json.changed(json);
    }

    List<HeaderLine> headers() {
        boolean typed = options.headers.stream().anyMatch(line -> line.is("Content-Type"));
        if (typed) {
            return options.headers;
        }
        return concat(options.headers, List.of(new HeaderLine("Content-Type", JSON)));
    }

    /** Those of the second tenant take the place of the first one's. */
    List<HeaderLine> secondTenantHeaders() {
        List<HeaderLine> others = headers().stream()
                .filter(line -> options.secondTenant.stream().noneMatch(second -> second.is(line.name())))
                .toList();
        return concat(others, options.secondTenant);
    }

    boolean hasSecondTenant() {
        return !options.secondTenant.isEmpty();
    }

    private static List<HeaderLine> concat(List<HeaderLine> some, List<HeaderLine> more) {
        return Stream.concat(some.stream(), more.stream()).toList();
    }

    @Nullable
    EffectCounter counter() {
        return options.counter;
    }

    @Nullable
    URI secondUrl() {
        return options.secondUrl;
    }

    @Nullable
    URI putUrl() {
        return options.putUrl;
    }

    @Nullable
    URI deleteUrl() {
        return options.deleteUrl;
    }

    Variation refused() {
        return options.refused;
    }

    Variation failing() {
        return options.failing;
    }

    int largeBytes() {
        return options.largeBytes;
    }

    Duration patience() {
        return options.patience;
    }

    Standard standard() {
        return options.standard;
    }

    Duration rememberedFor() {
        return options.rememberedFor;
    }

    Duration quietFor() {
        return options.quietFor;
    }

    /** Makes plans. Not for several threads. */
    public static final class Builder {
        private static final int LARGE_BYTES = 2 << 20;
        private static final int LARGE_BYTES_MAX = 64 << 20;
        private static final Duration PATIENCE = Duration.ofSeconds(10);
        /** Longer than a cache that forgets by mistake, and short enough to wait for. */
        private static final Duration REMEMBERED_FOR = Duration.ofSeconds(25);
        /** For effects of a queue behind the API. */
        private static final Duration QUIET_FOR = Duration.ofSeconds(5);

        private final URI url;
        private final String body;
        private List<HeaderLine> headers = List.of();
        private List<HeaderLine> secondTenant = List.of();
        private Set<Check> checks = EnumSet.allOf(Check.class);
        private Variation refused = Variation.NONE;
        private Variation failing = Variation.NONE;
        private int largeBytes = LARGE_BYTES;
        private int requestsMax = Integer.MAX_VALUE;
        private Standard standard = Standard.AUTO;
        private Duration patience = PATIENCE;
        private Duration rememberedFor = REMEMBERED_FOR;
        private Duration quietFor = QUIET_FOR;
        private @Nullable EffectCounter counter;
        private @Nullable String otherBody;
        private @Nullable URI secondUrl;
        private @Nullable URI putUrl;
        private @Nullable URI deleteUrl;

        private Builder(URI url, String body) {
            this.url = url;
            this.body = body;
            if (body.length() < 2) {
                throw new IllegalArgumentException("The body is too short; give one that the API accepts.");
            }
        }

        /** Sent with every request, such as credentials. */
        public Builder headers(List<HeaderLine> lines) {
            for (HeaderLine line : lines) {
                if (line.is("Idempotency-Key") || line.is("Content-Length") || line.is("Transfer-Encoding")) {
                    throw new IllegalArgumentException("The header " + line.name() + " is set by the checks.");
                }
            }
            headers = List.copyOf(lines);
            return this;
        }

        /** Headers that make a request one of another tenant. */
        public Builder secondTenant(List<HeaderLine> lines) {
            secondTenant = List.copyOf(lines);
            return this;
        }

        /** Where effects are counted. */
        public Builder counter(@Nullable EffectCounter source) {
            counter = source;
            return this;
        }

        /** Another body that the API accepts. */
        public Builder otherBody(@Nullable String text) {
            otherBody = text;
            return this;
        }

        /** Another endpoint that takes keys and the same body. */
        public Builder secondUrl(@Nullable URI other) {
            secondUrl = other;
            return this;
        }

        /** A resource that may be replaced again and again. */
        public Builder putUrl(@Nullable URI other) {
            putUrl = other;
            return this;
        }

        /** A resource that may be deleted. */
        public Builder deleteUrl(@Nullable URI other) {
            deleteUrl = other;
            return this;
        }

        /** What the API answers with a 4xx; by default a broken JSON text. */
        public Builder refused(Variation variation) {
            refused = variation;
            return this;
        }

        /** What the API answers with a 5xx. */
        public Builder failing(Variation variation) {
            failing = variation;
            return this;
        }

        /** The size of a body that is probably too large. */
        public Builder largeBytes(int bytes) {
            if (bytes < 1 || bytes > LARGE_BYTES_MAX) {
                throw new IllegalArgumentException("The large body must have between 1 and 67108864 bytes.");
            }
            largeBytes = bytes;
            return this;
        }

        /** How long to wait for an answer, and for the end of a request that is still running. */
        public Builder patience(Duration max) {
            if (max.isNegative() || max.toMillis() < 100 || max.toMinutes() > 10) {
                throw new IllegalArgumentException("The patience must be between 100 ms and 10 minutes.");
            }
            patience = max;
            return this;
        }

        /** Whose requirements count. */
        public Builder standard(Standard whose) {
            standard = whose;
            return this;
        }

        /** The most requests to send; by default as many as the checks need. */
        public Builder requestsMax(int requests) {
            if (requests < 1) {
                throw new IllegalArgumentException("At least one request must be allowed.");
            }
            requestsMax = requests;
            return this;
        }

        /** How long after the first request its key must still be known. */
        public Builder rememberedFor(Duration span) {
            rememberedFor = checked("The time to remember keys", span);
            return this;
        }

        /** How long to wait at the end for effects that nobody asked for. */
        public Builder quietFor(Duration span) {
            quietFor = checked("The time without effects", span);
            return this;
        }

        private static Duration checked(String what, Duration span) {
            if (span.isNegative() || span.toMinutes() > 60) {
                throw new IllegalArgumentException(what + " must be between 0 and 60 minutes.");
            }
            return span;
        }

        /** The only checks to make. */
        public Builder checks(Set<Check> only) {
            checks = only.isEmpty() ? EnumSet.noneOf(Check.class) : EnumSet.copyOf(only);
            if (checks.isEmpty()) {
                throw new IllegalArgumentException("No check is left to make.");
            }
            return this;
        }

        /** Makes the plan. The builder is not used again. */
        public Plan build() {
            return new Plan(this);
        }
    }
}
