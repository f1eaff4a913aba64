package dev.onlyonce.payments.domain;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.onlyonce.payments.provider.Movement;
import org.jspecify.annotations.Nullable;

/**
 * What a provider's webhook says.
 *
 * @param type such as {@code charge.succeeded}
 * @param data what it is about, as it stands
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ProviderEvent(@Nullable String type, @Nullable Movement data) {}
