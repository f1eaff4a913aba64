package dev.onlyonce.payments;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** The reference payments system. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class PaymentsApplication {}
