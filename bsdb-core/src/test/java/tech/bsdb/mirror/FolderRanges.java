package tech.bsdb.mirror;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.remote.RangeOrigin;

/** A directory on this machine as if it were distant, which counts and can fail. */
public class FolderRanges implements RangeOrigin {
  /** Where its locations begin. */
  public static final String LOCATION = "far://host/rdb";

  /** What is done before a file is opened or read. */
  @FunctionalInterface
  public interface Before {
    /** Fails, changes files, or does nothing. */
    void request(String file, long from) throws IOException;
  }

  private final Path folder;

  /** The requests by file. */
  public final ConcurrentHashMap<String, Integer> requests = new ConcurrentHashMap<>();

  private final AtomicLong all = new AtomicLong();

  /** The bytes of ranges of data files. */
  public final AtomicLong dataBytes = new AtomicLong();

  /** What is done before each request. */
  public volatile Before before = (file, from) -> {};

  /** Shows a folder. */
  public FolderRanges(Path folder) {
    this.folder = folder;
  }

  /** The number of requests since this was asked last. */
  public long requests() {
    requests.clear();
    return all.getAndSet(0);
  }

  private FileChannel channel(String file, long from) throws IOException {
    requests.merge(file, 1, Integer::sum);
    all.incrementAndGet();
    before.request(file, from);
    return FileChannel.open(folder.resolve(file), StandardOpenOption.READ);
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    FileChannel channel = channel(file, from);
    channel.position(from);
    return new FilterInputStream(Channels.newInputStream(channel)) {};
  }

  @Override
  public CompletableFuture<byte[]> read(String file, long size, long from, int length) {
    return CompletableFuture.supplyAsync(
        () -> {
          try (FileChannel channel = channel(file, from)) {
            if (channel.size() != size) {
              throw new ChangedException(
                  location(file) + ": has " + channel.size() + " bytes, not " + size);
            }
            dataBytes.addAndGet(file.contains("data-") ? length : 0);
            ByteBuffer into = ByteBuffer.allocate(length);
            while (into.hasRemaining()) {
              if (channel.read(into, from + into.position()) < 0) {
                throw new EOFException();
              }
            }
            return into.array();
          } catch (IOException e) {
            throw new CompletionException(e);
          }
        });
  }

  @Override
  public String location(String file) {
    return file.isEmpty() ? LOCATION : LOCATION + "/" + file;
  }

  /** One that must be closed. */
  public static final class Closed extends FolderRanges implements AutoCloseable {
    /** Those that are open. */
    public static final Set<URI> OPEN = ConcurrentHashMap.newKeySet();

    private final URI location;

    Closed(URI location, Path folder) {
      super(folder);
      this.location = location;
      OPEN.add(location);
    }

    @Override
    public void close() {
      OPEN.remove(location);
    }
  }
}
