package dev.onlyonce.sql.internal.entries;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Statements as they are sent to one database. Each is made once: a text that is always the same object finds its prepared
 * statement without being read. Any number of threads.
 */
final class StatementTexts {
    private static final Pattern TABLES = Pattern.compile("\\bonlyonce_(entry|audit|outbox|step)\\b");

    private final UnaryOperator<String> make;
    private final Map<String, String> made = new ConcurrentHashMap<>();

    /**
     * Makes texts.
     *
     * @param clock the database's own clock, as its statements have it
     * @param told the clock to use instead: another one in tests
     * @param names puts the tables' schema in
     */
    StatementTexts(String clock, String told, UnaryOperator<String> names) {
        this.make = statement -> names.apply(statement.replace("{now}", "(SELECT " + clock + ")"))
                .replace(clock, told);
    }

    /** Puts the schema of the tables, quoted, before their names. */
    static UnaryOperator<String> inSchema(Optional<String> home) {
        String prefix =
                home.map(schema -> Matcher.quoteReplacement(schema) + ".").orElse("");
        return statement -> TABLES.matcher(statement).replaceAll(prefix + "$0");
    }

    String of(String statement) {
        String known = made.get(statement);
        return known == null ? made.computeIfAbsent(statement, make) : known;
    }
}
