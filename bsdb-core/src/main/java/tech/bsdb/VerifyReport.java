package tech.bsdb;

/**
 * The result of a successful verification; damage is reported as an exception instead.
 *
 * @param records records read from the data files and found through the index
 * @param pages pages with verified checksums
 * @param bytes total size of all files in bytes
 * @param keysChecked whether every key was looked up; false for an approximate database, which
 *     stores no keys
 */
public record VerifyReport(long records, long pages, long bytes, boolean keysChecked) {}
