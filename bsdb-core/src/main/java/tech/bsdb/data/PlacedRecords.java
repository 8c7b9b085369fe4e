package tech.bsdb.data;

import org.jspecify.annotations.Nullable;

/**
 * Records of one database at known addresses, whose values are read together: the first entries of
 * some arrays.
 *
 * @param keys their keys
 * @param addresses where their records are
 * @param values receives their values, and null for each address whose record has another key
 * @param size how many
 */
public record PlacedRecords(
    byte[][] keys, long[] addresses, byte[] @Nullable [] values, int size) {}
