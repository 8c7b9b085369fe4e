package tech.bsdb.tools.serve.telemetry;

import java.util.List;
import java.util.function.Function;

/**
 * What a request's head tells a span.
 *
 * @param scheme {@code http} or {@code https}
 * @param version of the protocol, such as {@code 1.1}
 * @param client the client's address
 * @param headers returns the values of a header; none if it is not given
 */
public record RequestHead(
    String method,
    String scheme,
    String version,
    Route route,
    String client,
    Function<String, List<String>> headers) {}
