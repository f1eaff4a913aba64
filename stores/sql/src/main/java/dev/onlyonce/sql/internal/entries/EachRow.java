package dev.onlyonce.sql.internal.entries;

/**
 * Repeats a part of a statement for each row of a batch: what stands between {@code /*each*}{@code /} and the next comment, which
 * is the separator. The statement can be pasted into a console as it is, with one row.
 */
public final class EachRow {
    private static final String EACH = "/*each*/";

    private EachRow() {}

    /** The statement for {@code rows} rows. */
    public static String repeat(String sql, int rows) {
        StringBuilder all = new StringBuilder();
        int done = 0;
        for (int each = sql.indexOf(EACH); each >= 0; each = sql.indexOf(EACH, done)) {
            all.append(sql, done, each);
            int end = sql.indexOf("/*", each + EACH.length());
            done = sql.indexOf("*/", end) + 2;
            String row = sql.substring(each + EACH.length(), end);
            String separator = sql.substring(end + 2, done - 2);
            for (int i = 0; i < rows; i++) {
                all.append(i == 0 ? "" : separator).append(row);
            }
        }
        return all.append(sql, done, sql.length()).toString();
    }
}
