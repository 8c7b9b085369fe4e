package tech.bsdb;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What a finished build made.
 *
 * @param directory the database
 * @param databaseId its id, 32 hexadecimal digits, derived from content and options
 * @param records records that can be found
 * @param duplicatesDropped records that lost to another with the same key
 * @param valuesCut values that were longer than an approximate database keeps
 * @param keyBytes bytes of all keys added
 * @param valueBytes bytes of all values added
 * @param databaseBytes bytes of all files
 * @param fileBytes bytes of each file by name, in the order of writing
 * @param dictionaryBytes size of the trained dictionary, 0 for none
 * @param stageSeconds seconds spent in each stage, in their order
 * @param warnings what could not be cleaned up or synced after the database was published; empty if
 *     all went well
 */
public record BuildReport(
    Path directory,
    String databaseId,
    long records,
    long duplicatesDropped,
    long valuesCut,
    long keyBytes,
    long valueBytes,
    long databaseBytes,
    Map<String, Long> fileBytes,
    int dictionaryBytes,
    Map<BuildListener.Stage, Double> stageSeconds,
    List<String> warnings) {}
