package dev.onlyonce.server.admin;

import dev.onlyonce.http.admin.AdminOperator;
import dev.onlyonce.http.admin.Tables;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.schema.Schema;

/** The tables of a SQL store. */
record SqlTables(SqlStore store) implements Tables {
    @Override
    public AdminOperator.SchemaView status() {
        return view(store.schema().status());
    }

    @Override
    public AdminOperator.SchemaView apply() {
        return view(store.schema().apply());
    }

    private static AdminOperator.SchemaView view(Schema.Status status) {
        return new AdminOperator.SchemaView(status.database(), status.installed(), status.known(), status.isCurrent());
    }

    @Override
    public String script(String database) {
        return scriptOf(database);
    }

    static String scriptOf(String database) {
        return Schema.script(database);
    }
}
