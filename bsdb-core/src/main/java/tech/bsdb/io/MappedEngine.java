package tech.bsdb.io;

import java.io.IOException;
import java.nio.ByteBuffer;
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
    return new MappedPages(Mapping.open(file, length));
  }

  private static final class MappedPages implements PageSource {
    private final Mapping mapping;
    private final ShownFile shown;

    MappedPages(Mapping mapping) {
      this.mapping = mapping;
      this.shown = new ShownFile(mapping.pieces(), mapping::close);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // identity: does the window already show this buffer?
    public void read(long first, int count, Window window) {
      long position = first * PAGE;
      ByteBuffer buffer = mapping.buffer(position);
      if (window.buffer != buffer) { // storing a reference costs a barrier, with a fence under G1
        window.buffer = buffer;
      }
      window.offset = Mapping.offset(position);
    }

    @Override
    public ShownFile shown() {
      return shown;
    }

    @Override
    public int glance(long position) {
      return mapping.buffer(position).getShort(Mapping.offset(position));
    }

    @Override
    public void lend() {
      mapping.lend();
    }

    @Override
    public void close() {
      shown.close();
    }
  }
}
