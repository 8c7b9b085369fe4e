/**
 * Distributed traces and metrics by OpenTelemetry, if its API is on the class path. Only {@link
 * OpenTelemetryRecorder} knows that API, and nothing loads it otherwise.
 */
@NullMarked
package tech.bsdb.tools.serve.telemetry;

import org.jspecify.annotations.NullMarked;
