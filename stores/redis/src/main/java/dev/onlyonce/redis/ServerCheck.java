package dev.onlyonce.redis;

import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.store.StoreUnavailable;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the servers keep what they are given: they evict nothing and write it to disk. Looks at every master after each new
 * connection and each change of masters, because another server may have taken over, and before each sweep. What a server that fails
 * the check has taken before is not acknowledged, and it gets nothing more, unless the risk is accepted.
 */
final class ServerCheck {
    private static final Logger log = LoggerFactory.getLogger(ServerCheck.class);

    private final Link link;
    private final Duration timeout;
    private final boolean isRiskAccepted;
    private final boolean needsWaitaof;
    private volatile boolean isChecked;
    private volatile int checkedGeneration;
    private volatile List<String> risks = List.of();

    /**
     * @param needsWaitaof whether the servers must be able to tell what is on disk
     */
    ServerCheck(Link link, Duration timeout, boolean isRiskAccepted, boolean needsWaitaof) {
        this.needsWaitaof = needsWaitaof;
        this.link = link;
        this.timeout = timeout;
        this.isRiskAccepted = isRiskAccepted;
    }

    /** What was found and accepted. */
    List<String> risks() {
        return risks;
    }

    /**
     * Checks if another server may be at the other end since the last check.
     *
     * @throws StoreUnavailable if a master would lose entries and that was not accepted, or cannot be asked
     */
    void afterReconnect() {
        if (!isChecked || link.generation() != checkedGeneration) {
            check(false);
        }
    }

    /**
     * Checks again: settings can be changed on a running server.
     *
     * @throws StoreRefused if a master would lose entries and that was not accepted
     * @throws StoreUnavailable if none can be asked
     */
    void again() {
        check(true);
    }

    private synchronized void check(boolean isAgain) {
        int generation = link.generation();
        if (!isAgain && isChecked && generation == checkedGeneration) {
            return;
        }
        List<String> found = new ArrayList<>();
        String why = "no master can be reached";
        int answered = 0;
        List<RedisFuture<String>> infos =
                link.masters().stream().map(master -> master.async().info()).toList();
        for (RedisFuture<String> asked : infos) {
            try {
                String info = LettuceFutures.awaitOrCancel(asked, timeout.toNanos(), TimeUnit.NANOSECONDS);
                if (!value(info, "role").equals(Optional.of("master"))) {
                    // Somebody else is master, whom nobody has checked.
                    link.findMaster();
                    throw new StoreUnavailable(
                            "Redis cannot be checked: it is a replica: connect to its master, or to Sentinel", null);
                }
                checkVersion(info);
                found.addAll(risks(info));
                answered++;
            } catch (RedisCommandTimeoutException e) {
                link.giveUpSilent(timeout.dividedBy(2));
                why = "no answer in time";
            } catch (RedisCommandInterruptedException e) {
                throw new StoreUnavailable("Interrupted while Redis was checked", e);
            } catch (RedisException e) {
                // The others go on without it.
                why = String.valueOf(e.getMessage());
            }
        }
        if (answered == 0) {
            throw new StoreUnavailable("Redis cannot be checked: " + why, null);
        }
        List<String> distinct = found.stream().distinct().toList();
        if (!distinct.isEmpty() && !isRiskAccepted) {
            throw new StoreRefused(
                    "Redis may lose entries, and then operations run again. " + String.join(". ", distinct)
                            + ". If you accept that, say so with acceptDataLoss",
                    null);
        }
        if (!distinct.isEmpty() && !distinct.equals(risks)) {
            log.warn(
                    "Redis may lose entries, and then operations run again, as accepted: {}",
                    String.join(". ", distinct));
        }
        risks = distinct;
        checkedGeneration = generation;
        isChecked = true;
    }

    private void checkVersion(String info) {
        String version = value(info, "redis_version").orElse("0");
        if (needsWaitaof && !hasWaitaof(version)) {
            throw new StoreUnavailable(
                    "fsynced=true needs Redis 7.2 or later, or Valkey, for WAITAOF; this server is " + version
                            + ". Set appendfsync to always instead",
                    null);
        }
    }

    static boolean hasWaitaof(String version) {
        Matcher parts = Pattern.compile("^(\\d+)\\.(\\d+)").matcher(version);
        if (!parts.find()) {
            return false;
        }
        int major = Integer.parseInt(parts.group(1));
        return major > 7 || (major == 7 && Integer.parseInt(parts.group(2)) >= 2);
    }

    /** What INFO says about the ways to lose an entry. Unlike CONFIG it is allowed on hosted servers. */
    static List<String> risks(String info) {
        List<String> risks = new ArrayList<>();
        String policy = value(info, "maxmemory_policy").orElse("not shown by INFO");
        if (!policy.equals("noeviction")) {
            risks.add("It evicts entries when memory is short: set maxmemory-policy to noeviction, it is " + policy);
        }
        if (!value(info, "aof_enabled").equals(Optional.of("1"))) {
            risks.add("It forgets the latest entries when it restarts: set appendonly to yes");
        }
        return risks;
    }

    private static Optional<String> value(String info, String name) {
        Matcher line =
                Pattern.compile("^" + name + ":(\\S*)", Pattern.MULTILINE).matcher(info);
        return line.find() ? Optional.of(line.group(1)) : Optional.empty();
    }
}
