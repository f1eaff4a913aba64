package dev.onlyonce.prove;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that no process outlives the prover, however that ends. A process that is stopped does not see the end of its input, so a shell
 * does: it has the ids, and kills what is left when its own input ends. Any number of threads.
 */
final class Orphans {
    private static final String SHELL = """
            trap '' INT HUP TERM
            pids=
            while read -r order pid; do
              case $pids in *" $pid "*) pids="${pids%% $pid *}${pids##* $pid }" ;; esac
              [ "$order" = free ] || pids="$pids $pid "
            done
            [ -z "$pids" ] || kill -KILL $pids
            """;

    private static @Nullable OutputStream orders;

    private Orphans() {}

    /** From now on a process ends with this one. */
    static void guard(long pid) {
        tell("guard " + pid);
    }

    /** It has ended, or sees to it itself. */
    static void free(long pid) {
        tell("free " + pid);
    }

    private static synchronized void tell(String order) {
        try {
            OutputStream shell = orders;
            if (shell == null) {
                shell = new ProcessBuilder("sh", "-c", SHELL)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .getOutputStream();
                orders = shell;
            }
            shell.write((order + "\n").getBytes(US_ASCII));
            shell.flush();
        } catch (IOException e) {
            throw new IllegalStateException("no shell guards the processes of the prover", e);
        }
    }
}
