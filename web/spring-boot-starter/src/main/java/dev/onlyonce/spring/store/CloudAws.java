package dev.onlyonce.spring.store;

import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.StoreOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** The DynamoDB that an application has described for Spring Cloud AWS. Region and credentials that are not there are the SDK's to find. */
final class CloudAws implements DescribedStore {
    private static final String TABLE = "onlyonce";

    private final Binder binder;

    CloudAws(Environment environment) {
        this.binder = Binder.get(environment);
    }

    @Override
    public String prefix() {
        return "spring.cloud.aws";
    }

    private @Nullable String text(String name) {
        return binder.bind(prefix() + "." + name, String.class).orElse(null);
    }

    /** DynamoDB's own setting, or the one for all services. */
    private @Nullable String text(String own, String common) {
        String value = text("dynamodb." + own);
        return value == null ? text(common) : value;
    }

    @Override
    public StoreOptions options(@Nullable Encryption encryption, boolean create, AuditLevel audit) {
        refuse("credentials.profile.name", "Set AWS_PROFILE in the environment");
        refuse("fips-enabled", "Set onlyonce.store.url to dynamodb:table?region=…&endpoint=… with the FIPS endpoint");
        refuse(
                "dynamodb.fips-enabled",
                "Set onlyonce.store.url to dynamodb:table?region=…&endpoint=… with the FIPS endpoint");
        List<String> settings = new ArrayList<>();
        add(settings, "region", text("region", "region.static"));
        add(settings, "endpoint", text("endpoint", "endpoint"));
        String url = "dynamodb:" + table() + (settings.isEmpty() ? "" : "?" + String.join("&", settings));
        return new StoreOptions(
                url, text("credentials.access-key"), text("credentials.secret-key"), encryption, create, audit);
    }

    /** With prefix and suffix: they tell environments in one account apart. */
    private String table() {
        String before = text("dynamodb.table-prefix");
        String after = text("dynamodb.table-suffix");
        return (before == null ? "" : before) + TABLE + (after == null ? "" : after);
    }

    private static void add(List<String> settings, String name, @Nullable String value) {
        if (value != null) {
            settings.add(name + "=" + value);
        }
    }

    /** What the store does not know is not passed over in silence: another account, or another network path. */
    private void refuse(String name, String instead) {
        String value = text(name);
        if (value != null && !value.equals("false")) {
            throw new InvalidSettings(
                    prefix() + "." + name + " is set, and the store of the entries does not know it",
                    instead + ", or remove it.",
                    null);
        }
    }
}
