package tech.bsdb;

/**
 * What a build {@linkplain DatabaseBuilder#from from a base} did with the records of the base and
 * with the changes. Of several changes of one key, only the last counts; the others are {@link
 * #superseded}.
 *
 * @param kept records of the base that were carried over
 * @param replaced records of the base that got another value, or the same one again
 * @param added records whose key was not in the base
 * @param deleted records of the base that were deleted
 * @param deletedAbsent deletions of keys that were not in the base
 * @param superseded changes that another change of the same key made void
 */
public record ChangeCounts(
    long kept, long replaced, long added, long deleted, long deletedAbsent, long superseded) {}
