package dev.onlyonce.server.cli;

import java.io.Console;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Asks the person at the terminal before a command does something that cannot be undone. */
@FunctionalInterface
interface Confirmation {
    /** Prints the question and reads one line; null if nobody is there to answer. */
    @Nullable
    String ask(String question);

    /** At the terminal of this process. */
    @SuppressWarnings("SystemConsoleNull")
    static Confirmation terminal() {
        return question -> {
            // Newer JDKs have a console even without a terminal, unless this is set.
            System.setProperty("jdk.console", "java.base");
            Console console = System.console();
            return console == null ? null : console.readLine("%s [y/N] ", question);
        };
    }

    /** Returns if the answer is yes; throws otherwise. */
    default void require(String question) throws Cli.Failed {
        String answer = ask(question);
        if (answer == null) {
            throw new Cli.Failed(Cli.USAGE, question + " There is no terminal to answer on: add --yes");
        }
        String word = answer.strip().toLowerCase(Locale.ROOT);
        if (!word.equals("y") && !word.equals("yes")) {
            throw new Cli.Failed(Cli.FAILED, "Nothing was sent");
        }
    }
}
