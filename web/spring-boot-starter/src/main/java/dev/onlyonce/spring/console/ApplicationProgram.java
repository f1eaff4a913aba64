package dev.onlyonce.spring.console;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Limits;
import dev.onlyonce.http.admin.Operations;
import dev.onlyonce.http.admin.Program;
import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.web.WebProtection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;

/** What operators ask an application. */
record ApplicationProgram(ObjectProvider<WebProtection> web, OnlyonceProperties properties, boolean isDemo)
        implements Program {
    @Override
    public String kind() {
        return isDemo ? "demo" : "application";
    }

    @Override
    public Optional<Boundary> boundary() {
        return Optional.ofNullable(web.getIfAvailable()).map(WebProtection::boundary);
    }

    @Override
    public List<Operations.Unprotected> unprotected() {
        List<Operations.Unprotected> unprotected = new ArrayList<>();
        web.ifAvailable(found -> {
            Coverage coverage = found.operations().coverage();
            coverage.unprotectedHandlers().forEach(it -> unprotected.add(handler(it, false)));
            coverage.exempt().forEach(it -> unprotected.add(handler(it, true)));
        });
        return unprotected;
    }

    private static Operations.Unprotected handler(String described, boolean decided) {
        return new Operations.Unprotected(described, null, null, null, decided);
    }

    @Override
    public Optional<String> coverageRule() {
        return Optional.of(
                switch (properties.coverage()) {
                    case REQUIRED ->
                        "The application does not start with a handler that is neither protected nor exempt.";
                    case REPORT -> "Handlers that are not protected are reported when the application starts.";
                    case OFF -> "Nobody is told of handlers that are not protected.";
                });
    }

    @Override
    public List<Operations.Named> tenantLimits() {
        OnlyonceProperties.Limits limits = properties.limits();
        return Operations.limits(Limits.builder()
                .newKeysPerSecond(limits.newKeysPerSecond())
                .liveMax(limits.liveMax())
                .storedMax(limits.storedMax())
                .lookUpsPerSecond(limits.lookUpsPerSecond())
                .build());
    }
}
