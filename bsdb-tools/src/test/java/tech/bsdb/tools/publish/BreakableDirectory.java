package tech.bsdb.tools.publish;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FileSourceOptions;

/** A local directory as if it were distant, which counts what is opened and can fail. */
final class BreakableDirectory implements DistantDirectory {
  /** What happens before a file is opened. */
  @FunctionalInterface
  interface Fault {
    void before(String file) throws IOException;
  }

  final ConcurrentHashMap<String, Integer> opened = new ConcurrentHashMap<>();
  volatile Fault fault = file -> {};
  final AtomicInteger closed = new AtomicInteger();
  private final DistantDirectory real;

  BreakableDirectory(String location) throws IOException {
    this.real = DistantDirectory.open(location, FileSourceOptions.local());
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    opened.merge(file, 1, Integer::sum);
    fault.before(file);
    return real.open(file, from);
  }

  @Override
  public String location(String file) {
    return "far://user:secret@host/" + file;
  }

  @Override
  public List<Entry> list(String directory) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void write(String file, InputStream content) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void replace(String file, byte[] content) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean create(String file, byte[] content) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean isComplete(String file) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void delete(String file) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    closed.incrementAndGet();
  }
}
