package dev.onlyonce.dynamodb;

/** The kinds of work that the index finds. An entry is in it for one kind at a time, or not at all. */
enum IndexKind {
    /** Pending and processing entries, by the end of their lease. */
    LEASE("L"),
    /** Unknown entries, by their oldest audit record. */
    UNKNOWN("U"),
    /** Entries by their next purge. */
    PURGE("E"),
    /** Keys whose entry is gone and whose audit is left, by its oldest record. */
    AUDIT("A");

    private final String letter;

    IndexKind(String letter) {
        this.letter = letter;
    }

    String partition(int shard) {
        return letter + shard;
    }
}
