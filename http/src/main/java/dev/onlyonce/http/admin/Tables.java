package dev.onlyonce.http.admin;

/** The tables of a store that has a schema. Every method throws {@link dev.onlyonce.store.StoreException} when the store fails. */
public interface Tables {
    /** Where they stand. */
    AdminOperator.SchemaView status();

    /** Creates or upgrades them. */
    AdminOperator.SchemaView apply();

    /** The script that creates them in a kind of database; throws {@link IllegalArgumentException} if there is none. */
    String script(String database);
}
