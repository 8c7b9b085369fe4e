package tech.bsdb.write;

import java.nio.file.Path;

/**
 * Where an assembly works.
 *
 * @param directory the directory of the database files
 * @param temporaryDirectory the directory for temporary files, which may be the same
 */
public record BuildPlace(Path directory, Path temporaryDirectory) {}
