package tech.bsdb.read;

import java.io.IOException;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.Engine;
import tech.bsdb.io.MappedEngine;
import tech.bsdb.io.Residency;

/** Chooses the engines that read the index and the data files of a database. */
@FunctionalInterface
public interface EngineChoice {
  /**
   * A choice.
   *
   * @param index reads the index
   * @param data reads the data files
   * @param reason names the engines and says why they were chosen
   */
  record Chosen(Engine index, Engine data, String reason) {}

  /** Chooses for a database. */
  Chosen choose(DatabaseDirectory directory) throws IOException;

  /** One engine for all files. */
  static EngineChoice always(Engine engine) {
    return directory -> new Chosen(engine, engine, engine.name() + " (as asked)");
  }

  /**
   * Mapped files where nearly all of the index and the data is in memory already, else buffered
   * reads: a page that a mapping touches first can bring megabytes of read-ahead with it.
   */
  static EngineChoice auto() {
    return directory -> {
      double least = 1;
      for (FileEntry entry : directory.manifest().files()) {
        if (entry.file().kind() == FileKind.INDEX || entry.file().kind() == FileKind.DATA) {
          least = Math.min(least, Residency.of(directory.file(entry), entry.length()));
        }
      }
      boolean resident = least >= 0.9;
      Engine engine = resident ? new MappedEngine() : new BufferedEngine();
      String share = Math.round(least * 100) + " % of the sampled pages are in memory";
      return new Chosen(engine, engine, engine.name() + " (chosen: " + share + ")");
    };
  }
}
