package tech.bsdb.store;

import java.nio.file.Path;
import java.time.Instant;

/**
 * A version in a store.
 *
 * @param name the version's name
 * @param directory the database directory
 * @param current whether this version is current
 * @param modified when the directory was last modified, that is, when the version was published
 * @param records the number of records, or -1 if the version cannot be opened
 * @param bytes total size of the files in bytes
 */
public record StoredVersion(
    String name, Path directory, boolean current, Instant modified, long records, long bytes) {}
