package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.cassandra.Change.Ttl;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The TTL of an entry")
class ExpiryTest {

    @ParameterizedTest
    @ValueSource(longs = {1, 500, 1000, 600_000})
    @DisplayName("T3 is that of its result, or longer, and never zero for one of them: the key could not be used again")
    void both(long toleranceMs) {
        ClaimRequest brief = Calls.claim("brief");
        Terms terms = new Terms(Duration.ofMinutes(5), OnLeaseLost.UNKNOWN, Duration.ZERO, Duration.ofSeconds(5));
        ClaimRequest claim = new ClaimRequest(
                brief.id(),
                brief.operation(),
                brief.fingerprint(),
                brief.token(),
                brief.owner(),
                terms,
                State.PROCESSING);
        Moment moment = new Moment(1_000_000, 1_000_000, 0, 0);
        StoreTime now = StoreTime.at(Micros.instant(moment.now()));
        Entry claimed = next(Life.claim(null, claim, now));
        Settlement settlement = new Settlement(claim.id(), claim.token(), State.COMPLETED, new byte[1], "done");
        StoredEntry entry = StoredEntry.created(claimed, moment, UUID.randomUUID())
                .changed(next(Life.settle(claimed, settlement, now)), UUID.randomUUID());

        Ttl ttl = new Expiry(Duration.ofMillis(toleranceMs)).ttl(entry, moment.now());

        assertThat(ttl.result()).isPositive().isLessThanOrEqualTo(ttl.entry());
    }

    private static Entry next(Decision<?> decision) {
        return Objects.requireNonNull(((Decision.Change<?>) decision).next());
    }
}
