package tech.bsdb;

/**
 * The result of a successful verification; damage is reported as an exception instead.
 *
 * @param records records of the database; unless only its content was checked, they were read from
 *     the data files and found through the index
 * @param pages pages with verified checksums
 * @param bytes total size of all files in bytes
 * @param contentChecked whether all files have the content hashes of the manifest; false for a
 *     database of an older version, which has none
 * @param keysChecked whether every key was looked up; false for an approximate database, which
 *     stores no keys, and if only the content was checked
 */
public record VerifyReport(
    long records, long pages, long bytes, boolean contentChecked, boolean keysChecked) {}
