package dev.onlyonce.spring.store;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Import;

/** The store on the application's {@link javax.sql.DataSource}, a SQLite file or a server, and the engine on it. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
        })
@Import({EngineConfiguration.class, DisabledConfiguration.class})
public class OnlyonceAutoConfiguration {}
