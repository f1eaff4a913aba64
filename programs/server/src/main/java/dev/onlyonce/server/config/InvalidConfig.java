package dev.onlyonce.server.config;

import java.util.List;

/** The configuration is wrong. The message names every place and what to write there. */
public final class InvalidConfig extends Exception {
    private static final long serialVersionUID = 1;

    /** With all that is wrong, one line each. */
    public InvalidConfig(List<String> problems) {
        super(String.join("\n", problems), null, false, false);
    }
}
