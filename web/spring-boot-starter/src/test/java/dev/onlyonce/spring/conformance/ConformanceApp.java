package dev.onlyonce.spring.conformance;

import dev.onlyonce.Scope;
import dev.onlyonce.spring.Idempotent;
import java.util.Set;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.core.userdetails.UsernameNotFoundException;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The application of the conformance suite, protected by the starter and secured by Spring Security. */
@SpringBootApplication
class ConformanceApp {

    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                .httpBasic(Customizer.withDefaults())
                .csrf(csrf -> csrf.disable())
                .build();
    }

    /** Spring's own in-memory users get their passwords hashed anew: a tenth of a second of work for each request. */
    @Bean
    UserDetailsService users() {
        return name -> {
            if (!Set.of("acme", "zenith").contains(name)) {
                throw new UsernameNotFoundException(name);
            }
            return User.withUsername(name).password("{noop}secret").build();
        };
    }

    @RestController
    @RequestMapping("/ietf")
    @Idempotent
    static class Ietf extends Handlers {}

    @RestController
    @RequestMapping("/stripe")
    @Idempotent(profile = "stripe")
    static class Stripe extends Handlers {}

    @RestController
    @RequestMapping("/strict")
    @Idempotent(profile = "strict")
    static class Strict extends Handlers {}

    @RestController
    @RequestMapping("/operation")
    @Idempotent(scope = Scope.OPERATION)
    static class InOperation extends Handlers {}

    @RestController
    @RequestMapping("/accepted")
    @Idempotent
    static class Accepted extends Handlers {}

    @RestController
    @RequestMapping("/waiting")
    @Idempotent
    static class Waiting extends Handlers {}

    @RestController
    @RequestMapping("/lease")
    @Idempotent(lease = "2s")
    static class ShortLease extends Handlers {}

    @RestController
    @RequestMapping("/retention")
    @Idempotent(retention = "1s")
    static class ShortRetention extends Handlers {}

    @RestController
    @RequestMapping("/tombstone")
    @Idempotent(retention = "1s")
    static class Tombstone extends Handlers {}

    @RestController
    @RequestMapping("/stripe-tombstone")
    @Idempotent(profile = "stripe", retention = "1s")
    static class StripeTombstone extends Handlers {}

    @RestController
    @RequestMapping("/strict-tombstone")
    @Idempotent(profile = "strict", retention = "1s")
    static class StrictTombstone extends Handlers {}

    @RestController
    @RequestMapping("/stripe-unknown")
    @Idempotent(profile = "stripe")
    static class StripeUnknown extends Handlers {}

    @RestController
    @RequestMapping("/uuid")
    @Idempotent
    static class Uuid extends Handlers {}

    @RestController
    @RequestMapping("/personal")
    @Idempotent
    static class Personal extends Handlers {}

    @RestController
    @RequestMapping("/timestamp")
    @Idempotent
    static class Timestamp extends Handlers {}
}
