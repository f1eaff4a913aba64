package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.SqlDatabase;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** All statements on entries and their audit, each with a name, as they are sent for one row. */
public final class EntryStatements {
    private static final Pattern PARAMETER = Pattern.compile("\\?(?!\\d)");

    private EntryStatements() {}

    /** For a console; on PostgreSQL, parameters have numbers, so that what is printed can be prepared. */
    public static String print(SqlDatabase kind) {
        StringBuilder all = new StringBuilder();
        of(kind).forEach((name, sql) -> all.append("-- ")
                .append(name)
                .append('\n')
                .append(kind == SqlDatabase.POSTGRESQL ? numbered(sql) : sql)
                .append(";\n\n"));
        return all.toString();
    }

    private static String numbered(String sql) {
        int[] number = {0};
        return PARAMETER.matcher(sql).replaceAll((MatchResult parameter) -> "\\$" + ++number[0]);
    }

    /** Those of a kind of database. */
    static Map<String, String> of(SqlDatabase kind) {
        SqlDialect database = SqlDialect.of(kind, Optional.empty());
        Map<String, String> all = new LinkedHashMap<>();
        texts(kind).forEach((name, text) -> {
            String sql = database.sql(text);
            all.put(name, kind == SqlDatabase.MYSQL ? EachRow.repeat(sql, 1) : sql);
        });
        return all;
    }

    /** As they are before the batch, the schema and the clock are put in. */
    static Map<String, String> texts(SqlDatabase kind) {
        Map<String, String> texts = new LinkedHashMap<>(
                switch (kind) {
                    case POSTGRESQL -> PostgresStatements.all();
                    case MYSQL -> MySqlStatements.all();
                    case SQLITE -> SqliteStatements.all();
                    case H2 -> H2Statements.all();
                });
        texts.putAll(new ChangeTexts(kind).all());
        texts.put("sweep: whether there is anything to do", Sweep.LOOK);
        texts.put("sweep: where leases end", Sweep.CHUNK);
        texts.put("sweep: what has lapsed", Sweep.LAPSED);
        texts.putAll(FarLeases.all());
        texts.putAll(StepPurge.all());
        texts.putAll(AuditTable.all(kind));
        return texts;
    }
}
