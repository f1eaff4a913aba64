package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program of a test in a JVM of its own, to be killed. It cannot outlive the JVM that started it, even if that is killed. */
public final class JavaProcess {
    private JavaProcess() {}

    /**
     * Starts a program on the class path of this JVM. It prints where this JVM prints.
     *
     * @param program has a main method that ends with {@link #runUntilKilled}
     */
    public static Process start(Class<?> program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                program.getName()));
        command.addAll(List.of(arguments));
        try {
            return new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Called by the program: its threads go on until it is killed. Its input ends when the JVM that started it is gone. */
    public static void runUntilKilled() throws IOException {
        while (System.in.read() >= 0) {
            // Nobody writes there.
        }
        Runtime.getRuntime().halt(0);
    }
}
