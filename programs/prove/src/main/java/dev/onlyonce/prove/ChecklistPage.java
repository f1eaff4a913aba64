package dev.onlyonce.prove;

import java.util.List;

/** The page {@code docs/reference/checklist.md}: the items of the checklist, and the words of others for what we have. */
final class ChecklistPage {
    private static final String BEGINNING = """
            # The checklist

            What the checklists of the field ask of an API with idempotency keys. One command checks all of it against this version, with real processes,
            in about a minute:

            ```
            ./onlyonce prove --checklist
            ```

            It starts PostgreSQL, two gateways before a service that knows nothing of keys, and two nodes that embed the library. It kills gateways and a
            node between an effect and its record, kills the database, and waits out a retention. Effects are counted by the service. For each item it
            prints the evidence and *pass* or *FAIL*. The build runs it too. To check another API, use [`onlyonce check`](../guides/check.md).

            | | item | what the command shows | [promises](promises.md) |
            |---|---|---|---|
            """;

    private static final String GLOSSARY = """

            ## Glossary

            Words of articles, other libraries and APIs, and ours.

            | you search for | here it is |
            |---|---|
            """;

    private record Word(String theirs, String ours) {}

    private static final List<Word> WORDS = List.of(
            new Word(
                    "atomic phase",
                    "a [step](../guides/steps.md), or a whole operation in the [transactional way](../concepts/four-ways.md)"),
            new Word(
                    "ClientToken, client request token, `X-Request-Id`",
                    "the [key](key-header.md), in the header `Idempotency-Key`"),
            new Word(
                    "completer, recovery process",
                    "the sweep, which ends lapsed leases, and the [reconciler](../guides/reconciler.md)"),
            new Word(
                    "dead letter",
                    "a call or message that was given up: [unknown outcomes and dead letters](../operating/unknown-outcomes.md)"),
            new Word("deduplication window, TTL", "[retention](../concepts/entries.md), counted from settling"),
            new Word("fencing token", "the token of a [claim](../concepts/entries.md)"),
            new Word("IdempotentParameterMismatch", "a mismatch: 422 [`key_reused`](problems.md#key_reused)"),
            new Word("inbox, processed-messages table", "[`Inbox`](../guides/kafka.md)"),
            new Word(
                    "in-flight lock, `locked_at`",
                    "the lease of a [claim](../concepts/entries.md), by the store's clock"),
            new Word("reaper, TTL job, cleanup cron", "the purge, every minute on every node"),
            new Word("recovery point", "the recorded result of the last finished [step](../guides/steps.md)"),
            new Word("request hash, parameter check", "the [fingerprint](fingerprint.md)"),
            new Word("saga", "[steps](../guides/steps.md); compensation is your step"),
            new Word("transactional outbox, staged jobs", "[write first, call later](../guides/outbox.md)"),
            new Word(
                    "zombie key, stuck key",
                    "a key whose lease lapsed: it becomes unknown, counted as [`zombie_key`](metrics.md)"));

    private ChecklistPage() {}

    static String text() {
        StringBuilder page = new StringBuilder(BEGINNING);
        for (CheckItem item : CheckItem.values()) {
            page.append("| ☐ | ")
                    .append(item.title())
                    .append(" | ")
                    .append(item.shown())
                    .append(" | ")
                    .append(item.promises())
                    .append(" |\n");
        }
        page.append(GLOSSARY);
        for (Word word : WORDS) {
            page.append("| ")
                    .append(word.theirs())
                    .append(" | ")
                    .append(word.ours())
                    .append(" |\n");
        }
        return page.toString();
    }
}
