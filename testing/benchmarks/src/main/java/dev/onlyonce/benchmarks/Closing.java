package dev.onlyonce.benchmarks;

import java.util.ArrayDeque;
import java.util.Deque;

/** Closes what was added, the last first. */
final class Closing implements AutoCloseable {
    private final Deque<Runnable> opened = new ArrayDeque<>();

    void add(Runnable close) {
        opened.push(close);
    }

    @Override
    public void close() {
        opened.forEach(Runnable::run);
    }
}
