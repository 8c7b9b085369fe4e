package tech.bsdb.tools.serve.client;

import java.time.Duration;

/**
 * Limits on clients.
 *
 * @param connections maximum open connections
 * @param inFlight maximum lookups started and not yet answered
 * @param bodyBytes maximum bytes of a request's body
 * @param batchKeys maximum keys of a batch
 * @param heldBytes maximum bytes held for clients: unanswered bodies, values from just before they
 *     are read, answers not yet read
 * @param clientBytes maximum bytes held for one client
 * @param request how long a client may take to send a request, or to read some of an answer
 * @param idle how long a connection may stay open without a request
 * @param drain how long shutdown waits for requests in flight
 */
public record Limits(
    int connections,
    int inFlight,
    int bodyBytes,
    int batchKeys,
    long heldBytes,
    long clientBytes,
    Duration request,
    Duration idle,
    Duration drain) {}
