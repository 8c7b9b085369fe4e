package tech.bsdb.store;

import java.time.Instant;

/**
 * Why a version does not go live.
 *
 * @param version its name; for a plain database the directory's name; empty where nothing is named
 * @param reason what is wrong, in one line that names the file where one is at fault
 * @param at when that was first found
 */
public record Refusal(String version, String reason, Instant at) {}
