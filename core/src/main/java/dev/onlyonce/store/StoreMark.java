package dev.onlyonce.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a store keeps to be recognised: a random id, made together with its tables. It is kept among the entries, so that whoever removes
 * all entries removes it too.
 *
 * @param id no other store has it
 * @param instead ids of the stores that this one was accepted in place of, the newest first
 * @param note who accepted that, and why; empty if nobody had to
 */
public record StoreMark(String id, List<String> instead, String note) {
    /** What {@link #text} needs at most. */
    public static final int LENGTH_MAX = 255;
    /** Nodes that know an older one have to be restarted. Leaves room for the note. */
    private static final int INSTEAD_MAX = 4;

    private static final String NOTE = "; ";

    /** Copies the list. */
    public StoreMark {
        instead = List.copyOf(instead);
    }

    /** The mark of a new store. */
    public static StoreMark fresh() {
        return new StoreMark(HexFormat.of().formatHex(Tokens.bytes(16)), List.of(), "");
    }

    /** A mark for what is there now, accepted in place of the stores with these marks. */
    static StoreMark accepted(List<StoreMark> before, String who, String why) {
        Set<String> instead = new LinkedHashSet<>();
        before.forEach(mark -> instead.add(mark.id));
        before.forEach(mark -> instead.addAll(mark.instead));
        List<String> newest = new ArrayList<>(instead);
        return new StoreMark(
                fresh().id,
                newest.subList(0, Math.min(INSTEAD_MAX, newest.size())),
                AuditText.who(who) + ": " + AuditText.why(why));
    }

    /** As a store keeps it: at most {@value #LENGTH_MAX} characters. */
    public String text() {
        List<String> ids = new ArrayList<>();
        ids.add(id);
        ids.addAll(instead);
        String text = String.join(" ", ids) + (note.isEmpty() ? "" : NOTE + note);
        int end = Math.min(LENGTH_MAX, text.length());
        return text.substring(
                0, end < text.length() && Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end);
    }

    /** Reads what {@link #text} has written; empty for anything else. */
    public static Optional<StoreMark> of(String text) {
        int note = text.indexOf(NOTE);
        List<String> ids = Arrays.asList((note < 0 ? text : text.substring(0, note)).split(" ", -1));
        return ids.get(0).isEmpty()
                ? Optional.empty()
                : Optional.of(new StoreMark(
                        ids.get(0), ids.subList(1, ids.size()), note < 0 ? "" : text.substring(note + NOTE.length())));
    }

    /** Whether a node that knows the other store may go on with this one. */
    boolean isOrReplaces(StoreMark known) {
        return id.equals(known.id) || instead.contains(known.id);
    }
}
