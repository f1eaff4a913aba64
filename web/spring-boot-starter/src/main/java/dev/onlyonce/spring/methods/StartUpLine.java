package dev.onlyonce.spring.methods;

import dev.onlyonce.Way;
import dev.onlyonce.spring.store.Reconcilers;
import dev.onlyonce.spring.web.WebProtection;
import dev.onlyonce.store.Store;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One line that says what is protected, and by what. */
final class StartUpLine {
    private static final Logger log = LoggerFactory.getLogger(StartUpLine.class);

    private final Map<Way, Integer> ways = new EnumMap<>(Way.class);
    private final @Nullable WebProtection web;

    StartUpLine(@Nullable WebProtection web) {
        this.web = web;
        if (web != null) {
            web.operations()
                    .plans()
                    .values()
                    .forEach(plan -> count(plan.choice().way()));
        }
    }

    /** A method of a bean is protected. */
    void count(Way way) {
        ways.merge(way, 1, Integer::sum);
    }

    void log(@Nullable Store store, Reconcilers reconcilers) {
        log.info(text(store, reconcilers.operations().size()));
    }

    String text(@Nullable Store store, int reconcilers) {
        List<String> parts = new ArrayList<>();
        parts.add("protected: " + (ways.isEmpty() ? "nothing" : counted()));
        parts.add("entries in "
                + (store == null ? "several stores" : store.getClass().getSimpleName()));
        if (web != null) {
            parts.add("keys belong to " + web.tenants());
        }
        parts.add("reconcilers: " + reconcilers);
        if (web != null) {
            List<String> bare = web.operations().coverage().unprotectedHandlers();
            parts.add("not protected: " + (bare.isEmpty() ? "nothing that changes state" : String.join(", ", bare)));
        }
        return "Onlyonce: " + String.join("; ", parts);
    }

    private String counted() {
        return ways.entrySet().stream()
                .map(entry -> entry.getValue() + " " + entry.getKey().name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }
}
