package dev.onlyonce.server.cli;

import dev.onlyonce.check.Plan;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What the caller knows of the API: some checks apply only with it. */
final class CheckVariations {
    @Option(names = "--other-body", description = "Another body that the API accepts; by default a value is changed")
    private @Nullable String otherBody;

    @Option(
            names = "--second-url",
            paramLabel = "URL",
            description = "Another endpoint that takes keys and the same body")
    private @Nullable String secondUrl;

    @Option(names = "--put-url", paramLabel = "URL", description = "A resource that a PUT of the body may replace")
    private @Nullable String putUrl;

    @Option(names = "--delete-url", paramLabel = "URL", description = "A resource that may be deleted")
    private @Nullable String deleteUrl;

    @Option(names = "--refused-body", description = "A body that the API refuses with a 4xx (broken JSON)")
    private @Nullable String refusedBody;

    @Option(names = "--refused-url", paramLabel = "URL", description = "An endpoint that refuses with a 4xx")
    private @Nullable String refusedUrl;

    @Option(
            names = "--refused-header",
            paramLabel = "NAME: VALUE",
            description = "Makes the API refuse; may be repeated")
    private List<String> refusedHeaders = List.of();

    @Option(names = "--failing-body", description = "A body with which the API fails with a 5xx")
    private @Nullable String failingBody;

    @Option(names = "--failing-url", paramLabel = "URL", description = "An endpoint that fails with a 5xx")
    private @Nullable String failingUrl;

    @Option(names = "--failing-header", paramLabel = "NAME: VALUE", description = "Makes the API fail; may be repeated")
    private List<String> failingHeaders = List.of();

    @Option(
            names = "--large-bytes",
            defaultValue = "2097152",
            description = "The size of a body that is too large (${DEFAULT-VALUE})")
    private int largeBytes = 2 << 20;

    Plan.Builder addTo(Plan.Builder builder) {
        return builder.otherBody(otherBody)
                .secondUrl(url(secondUrl))
                .putUrl(url(putUrl))
                .deleteUrl(url(deleteUrl))
                .refused(new Plan.Variation(url(refusedUrl), refusedBody, CheckCommand.lines(refusedHeaders)))
                .failing(new Plan.Variation(url(failingUrl), failingBody, CheckCommand.lines(failingHeaders)))
                .largeBytes(largeBytes);
    }

    private static @Nullable URI url(@Nullable String text) {
        return text == null ? null : Plan.http(text);
    }
}
