package dev.onlyonce.spring.web;

import dev.onlyonce.servlet.TenantResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/** The principal of a servlet request. */
record ServletTenants(PrincipalTenants principals) implements TenantResolver {
    private static final TenantResolver PRINCIPAL = TenantResolver.principal();

    @Override
    public @Nullable String tenant(HttpServletRequest request) {
        return PRINCIPAL.tenant(request);
    }
}
