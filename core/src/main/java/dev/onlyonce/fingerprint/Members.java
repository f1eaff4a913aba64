package dev.onlyonce.fingerprint;

import java.util.Arrays;

/**
 * The members of all objects that are open at the moment, as slices of the canonical bytes. The members of the innermost
 * object are the last ones, so that closing an object is forgetting its members.
 */
final class Members {
    /** Below this an insertion sort in place beats sorting objects, and it moves nothing if the order is right. */
    private static final int INSERTION_SORT_MAX = 24;

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
        int[] order = new int[size - from];
        for (int i = 0; i < order.length; i++) {
            order[i] = from + i;
        }
        mergeSort(order.clone(), order, 0, order.length);
        String[] oldNames = names.clone();
        int[] oldStarts = starts.clone();
        int[] oldEnds = ends.clone();
        for (int i = 0; i < order.length; i++) {
            put(from + i, oldNames[order[i]], oldStarts[order[i]], oldEnds[order[i]]);
        }
    }

    /** Sorts indexes and not objects: an object a member would take more memory than the members themselves. */
    private void mergeSort(int[] source, int[] target, int from, int to) {
        if (to - from < 2) {
            return;
        }
        int middle = (from + to) >>> 1;
        mergeSort(target, source, from, middle);
        mergeSort(target, source, middle, to);
        int left = from;
        int right = middle;
        for (int i = from; i < to; i++) {
            boolean takeLeft =
                    right == to || (left < middle && names[source[left]].compareTo(names[source[right]]) <= 0);
            target[i] = source[takeLeft ? left++ : right++];
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
