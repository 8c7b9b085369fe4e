package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Path;

/** Reads through memory mappings: the fastest engine for data that is already in memory. */
public final class MappedEngine implements Engine {
  @Override
  public String name() {
    return "mapped";
  }

  @Override
  public boolean showsMemory() {
    return true;
  }

  @Override
  public PageSource open(Path file, long length) throws IOException {
    return ShownFile.map(file, length);
  }
}
