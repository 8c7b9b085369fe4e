package tech.bsdb.transfer;

/**
 * What a transfer did.
 *
 * @param files the number of files that arrived, with the manifests of databases, not that of a set
 * @param bytes the number of bytes that arrived, with those that arrived twice
 * @param resumedBytes bytes that an earlier transfer had left
 * @param reusedFiles the number of files, without manifests, that other versions of the store have
 * @param reusedBytes the bytes of those files
 * @param retries the number of failures after which the transfer tried again
 */
public record TransferReport(
    long files, long bytes, long resumedBytes, long reusedFiles, long reusedBytes, long retries) {}
