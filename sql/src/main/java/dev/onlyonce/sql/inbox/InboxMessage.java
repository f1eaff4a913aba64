package dev.onlyonce.sql.inbox;

/**
 * A message, by its name.
 *
 * @param source who sends it: ids are unique within a source
 * @param id the same for each delivery of a message; 1 to 255 visible ASCII characters
 */
public record InboxMessage(String source, String id) {}
