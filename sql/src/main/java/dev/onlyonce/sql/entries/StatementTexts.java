package dev.onlyonce.sql.entries;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * Statements as they are sent to one database. Each is made once: a text that is always the same object finds its prepared
 * statement without being read. Any number of threads.
 */
final class StatementTexts {
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

    String of(String statement) {
        String known = made.get(statement);
        return known == null ? made.computeIfAbsent(statement, make) : known;
    }
}
