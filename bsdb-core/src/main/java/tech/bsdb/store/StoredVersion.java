package tech.bsdb.store;

import java.nio.file.Path;
import java.time.Instant;

/**
 * A version in a store.
 *
 * @param name its name
 * @param directory the database
 * @param current whether it is the current one
 * @param modified when its directory was last changed: when it came there
 * @param records its records, or -1 if it cannot be opened
 * @param bytes bytes of its files
 */
public record StoredVersion(
    String name, Path directory, boolean current, Instant modified, long records, long bytes) {}
