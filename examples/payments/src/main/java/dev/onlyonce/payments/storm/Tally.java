package dev.onlyonce.payments.storm;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** What is counted while the storm goes on. */
final class Tally {
    private final LongAdder sent = new LongAdder();
    private final LongAdder lost = new LongAdder();
    private final LongAdder finished = new LongAdder();
    private final Map<Integer, LongAdder> answers = new ConcurrentHashMap<>();

    void sent() {
        sent.increment();
    }

    void lost() {
        lost.increment();
    }

    void finished() {
        finished.increment();
    }

    void answered(int status) {
        answers.computeIfAbsent(status, code -> new LongAdder()).increment();
    }

    long requests() {
        return sent.sum();
    }

    long withoutAnswer() {
        return lost.sum();
    }

    long payments() {
        return finished.sum();
    }

    Map<Integer, Long> answers() {
        Map<Integer, Long> sums = new TreeMap<>();
        answers.forEach((status, count) -> sums.put(status, count.sum()));
        return sums;
    }

    String line(int of) {
        return "%,d of %,d payments decided, %,d requests sent, %,d without an answer, answers %s"
                .formatted(payments(), of, requests(), withoutAnswer(), answers());
    }
}
