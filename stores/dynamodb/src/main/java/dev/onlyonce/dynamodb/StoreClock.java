package dev.onlyonce.dynamodb;

import dev.onlyonce.store.StoreTime;

/** The store's clock: what DynamoDB's time can be at this moment. Any number of threads. */
interface StoreClock {
    Reading now();

    /**
     * The bounds of the time, in microseconds since 1970. Everything that is written counts from the latest time, and nothing is judged
     * to be over before the earliest one: so no node ends what another still counts on, however far their bounds are apart.
     */
    record Reading(long earliest, long latest) {
        StoreTime time() {
            return new StoreTime(Item.instant(earliest), Item.instant(latest));
        }
    }
}
