package tech.bsdb.transfer;

/**
 * What a transfer did.
 *
 * @param files the number of files that arrived, manifests included
 * @param bytes the number of bytes that arrived, those that arrived twice included
 * @param resumedBytes bytes that an earlier transfer had left
 * @param reusedFiles the number of files that are those of another version, manifests excluded
 * @param reusedBytes their bytes
 * @param retries the number of failures after which the transfer tried again
 */
public record TransferReport(
    long files, long bytes, long resumedBytes, long reusedFiles, long reusedBytes, long retries) {}
