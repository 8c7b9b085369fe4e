package tech.bsdb.tools.table;

import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.source.FileSourceOptions;

/**
 * What is asked of a {@link TableSource}. Immutable.
 *
 * @param options the inputs, and what of their rows is read ({@link TableOptions#needs})
 * @param sources how files are reached, and which of them are taken
 * @param asOf the version of the tables, as users write it; null for the current one
 */
public record TableRequest(
    TableOptions options, FileSourceOptions sources, @Nullable String asOf) {}
