package dev.onlyonce.internal;

import java.util.Arrays;
import java.util.Comparator;

/**
 * The members of all objects that are open at the moment, as slices of the canonical bytes. The members of the innermost
 * object are the last ones, so that closing an object is forgetting its members.
 */
final class Members {
    /** Below this an insertion sort in place beats sorting objects, and it moves nothing if the order is right. */
    private static final int INSERTION_SORT_MAX = 24;

    private record Member(String name, int start, int end) {}

    private String[] names = new String[16];
    private int[] starts = new int[16];
    private int[] ends = new int[16];
    private int size;

    int size() {
        return size;
    }

    String name(int i) {
        return names[i];
    }

    int start(int i) {
        return starts[i];
    }

    int end(int i) {
        return ends[i];
    }

    /** Whether a member was dropped: a kept one has at least its name. */
    boolean isEmpty(int i) {
        return starts[i] == ends[i];
    }

    void add(String name, int start) {
        if (size == names.length) {
            names = Arrays.copyOf(names, size * 2);
            starts = Arrays.copyOf(starts, size * 2);
            ends = Arrays.copyOf(ends, size * 2);
        }
        names[size] = name;
        starts[size] = start;
        size++;
    }

    void endLast(int end) {
        ends[size - 1] = end;
    }

    void truncate(int newSize) {
        size = newSize;
    }

    /** Sorts the members from {@code from} on by the UTF-16 code units of their names, which is how strings compare. */
    void sort(int from) {
        if (size - from <= INSERTION_SORT_MAX) {
            insertionSort(from);
            return;
        }
        Member[] sorted = new Member[size - from];
        for (int i = from; i < size; i++) {
            sorted[i - from] = new Member(names[i], starts[i], ends[i]);
        }
        Arrays.sort(sorted, Comparator.comparing(Member::name));
        for (int i = from; i < size; i++) {
            put(i, sorted[i - from].name, sorted[i - from].start, sorted[i - from].end);
        }
    }

    private void insertionSort(int from) {
        for (int i = from + 1; i < size; i++) {
            String name = names[i];
            int start = starts[i];
            int end = ends[i];
            int j = i;
            while (j > from && names[j - 1].compareTo(name) > 0) {
                put(j, names[j - 1], starts[j - 1], ends[j - 1]);
                j--;
            }
            put(j, name, start, end);
        }
    }

    private void put(int i, String name, int start, int end) {
        names[i] = name;
        starts[i] = start;
        ends[i] = end;
    }
}
