package dev.onlyonce.prove;

import dev.onlyonce.Key;

/** What clients want once: an operation of a tenant under a key. Several tenants use the same keys. */
record Work(String tenant, Way way, String name) {
    /** How nodes execute it. */
    enum Way {
        LEASED,
        TRANSACTIONAL,
        STEPPED,
        QUEUED,
        /** A service behind a gateway, which knows nothing of keys. */
        PROXIED,
        /** A message, which is delivered until it is acknowledged. */
        CONSUMED;

        /** Whether its effects are in the tables of the application. */
        boolean isInTables() {
            return this == TRANSACTIONAL || this == CONSUMED;
        }
    }

    Key key() {
        return Key.of(tenant, way.name(), name);
    }

    /** The one request that its clients send. Every other one is a misuse of the key. */
    String body() {
        return "pay " + tenant + " " + name;
    }

    @Override
    public String toString() {
        return tenant + "/" + way + "/" + name;
    }
}
