package dev.onlyonce.server.config;

import java.util.ArrayList;
import java.util.List;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.Node;

/** What is wrong with a configuration file, all of it, so that nobody has to start again for every mistake. */
final class Findings {
    private final String file;
    private final List<String> problems = new ArrayList<>();

    Findings(String file) {
        this.file = file;
    }

    /** Notes what is wrong and how to mend it, with the line or the environment variable. */
    void add(Node where, String problem) {
        if (where.getProperty(Environment.VARIABLE) instanceof String variable) {
            problems.add(variable + ": " + problem);
            return;
        }
        int line = where.getStartMark().map(Mark::getLine).orElse(-1) + 1;
        problems.add(file + ":" + line + ": " + problem);
    }

    void add(String problem) {
        problems.add(file + ": " + problem);
    }

    void throwIfAny() throws InvalidConfig {
        if (!problems.isEmpty()) {
            throw new InvalidConfig(problems);
        }
    }
}
