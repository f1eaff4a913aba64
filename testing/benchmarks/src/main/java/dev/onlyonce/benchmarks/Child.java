package dev.onlyonce.benchmarks;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A separate process that reads commands and writes answers, one per line. */
final class Child implements AutoCloseable {
    private final String name;
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter orders;

    private Child(String name, Process process) {
        this.name = name;
        this.process = process;
        answers = process.inputReader();
        orders = process.outputWriter();
    }

    /** Any program. */
    static Child program(List<String> command) throws IOException {
        return program(command, Map.of());
    }

    /** Any program, with more in its environment. */
    static Child program(List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        return new Child(command.get(0), builder.start());
    }

    /** This program, with other arguments. */
    static Child self(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(java(), "-Xmx512m", "-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(List.of(arguments));
        return program(command);
    }

    static String java() {
        return ProcessHandle.current().info().command().orElse("java");
    }

    long pid() {
        return process.pid();
    }

    /** What it was started with, after the name of the program. */
    List<String> arguments() {
        return process.info().arguments().map(List::of).orElse(List.of());
    }

    /** The next line that it prints. */
    String read() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException(name + " has ended");
        }
        return line;
    }

    /** Tells it something and returns what it answers. */
    String ask(String order) throws IOException {
        orders.write(order);
        orders.newLine();
        orders.flush();
        return read();
    }

    /** At once, without a chance to end in order. */
    void kill() throws IOException {
        process.destroyForcibly();
        close();
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
