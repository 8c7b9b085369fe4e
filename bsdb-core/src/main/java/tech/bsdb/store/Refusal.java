package tech.bsdb.store;

import java.time.Instant;

/**
 * The reason that a version does not go live.
 *
 * @param version the version's name, or the directory name of a plain database; empty if no version
 *     is named
 * @param reason what is wrong, in one line that names the file at fault, if any
 * @param at when the problem was first found
 */
public record Refusal(String version, String reason, Instant at) {}
