package dev.onlyonce.http.admin;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * This node's last hour.
 *
 * @param stepSeconds the length of a step
 * @param from when the first step began, in seconds since 1970
 * @param kinds decisions in each step, by kind
 * @param percentiles the 95th percentile of each step in milliseconds, of the claim, the handler and the settlement; null where there was nothing
 */
public record Series(
        int stepSeconds, long from, Map<String, List<Long>> kinds, Map<String, List<@Nullable Double>> percentiles) {}
