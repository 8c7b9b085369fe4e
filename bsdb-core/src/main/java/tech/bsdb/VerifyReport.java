package tech.bsdb;

/**
 * What a verification looked at; damage is an exception, so that a report is always a good one.
 *
 * @param records records that were read and found again through the index
 * @param pages pages whose checksums were verified
 * @param bytes bytes of all files
 * @param keysChecked whether every key was looked up; false for an approximate database, which
 *     keeps no keys
 */
public record VerifyReport(long records, long pages, long bytes, boolean keysChecked) {}
