package dev.onlyonce.payments.storm;

/** A payment of the storm: who sends it, under which key, and what. */
record StormPayment(String apiKey, String key, long amount, byte[] body) {}
