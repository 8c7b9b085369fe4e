package tech.bsdb.io;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a file, read by direct I/O through channels where {@link LinuxCalls} are not
 * available. The file is opened several times, because threads that share a channel wait for each
 * other.
 *
 * <p>Interrupting a thread closes the channel it reads from, for all its users. The channel is then
 * reopened, but only on the same file: by its path, or, if the path now names another file, through
 * {@code /proc} by a descriptor that stays open without a channel.
 */
final class DirectChannels implements PageSource {
  private static final int MAX_STRIPES = 8;

  /**
   * O_DIRECT, {@code com.sun.nio.file.ExtendedOpenOption.DIRECT}, or null in a runtime without the
   * module jdk.unsupported. Loaded by name, because newer compilers warn about the package.
   */
  private static final @Nullable OpenOption DIRECT = direct();

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

  private final Path file;
  private final @Nullable Object identity;
  private final RandomAccessFile anchor;
  private final AtomicReferenceArray<FileChannel> channels;
  private boolean closed;

  private DirectChannels(Path file, @Nullable Object identity, RandomAccessFile anchor) {
    this.file = file;
    this.identity = identity;
    this.anchor = anchor;
    int cores = Runtime.getRuntime().availableProcessors();
    channels = new AtomicReferenceArray<>(Integer.highestOneBit(Math.min(MAX_STRIPES, cores)));
  }

  private static @Nullable OpenOption direct() {
    try {
      for (Object option :
          Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants()) {
        if (option.toString().equals("DIRECT")) {
          return (OpenOption) option;
        }
      }
    } catch (ClassNotFoundException e) {
      // A Java runtime built without the module.
    }
    return null;
  }

  static DirectChannels open(Path file) throws IOException {
    Object before = identity(file);
    DirectChannels pages =
        new DirectChannels(file, before, new RandomAccessFile(file.toFile(), "r"));
    try {
      for (int i = 0; i < pages.channels.length(); i++) {
        pages.channels.set(i, channel(file, file));
      }
      if (before != null && !before.equals(identity(file))) {
        throw new IOException(file + ": was replaced while it was opened");
      }
      return pages;
    } catch (IOException | RuntimeException e) {
      pages.close();
      throw e;
    }
  }

  private static @Nullable Object identity(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  private static FileChannel channel(Path file, Path path) throws IOException {
    if (DIRECT == null) {
      throw new IOException(file + ": this Java has no direct I/O (module jdk.unsupported)");
    }
    try {
      return FileChannel.open(path, StandardOpenOption.READ, DIRECT);
    } catch (UnsupportedOperationException e) {
      throw new IOException(file + ": " + DirectEngine.REFUSED, e);
    } catch (FileSystemException e) {
      if (Errno.text(Errno.EINVAL).equals(e.getReason())) {
        throw new IOException(file + ": " + DirectEngine.REFUSED, e);
      }
      throw e;
    }
  }

  @Override
  public void read(long first, int count, Window window) throws IOException {
    ByteBuffer buffer = window.prepareAligned(count * PAGE);
    int stripe = (int) Thread.currentThread().getId() & (channels.length() - 1);
    boolean interrupted = Thread.interrupted(); // otherwise the channel would close at once
    try {
      while (true) {
        FileChannel channel = channels.get(stripe);
        try {
          read(channel, first * PAGE, buffer.limit(count * PAGE).position(0));
          return;
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
          reopen(stripe, channel);
        }
      }
    } finally {
      buffer.clear();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void read(FileChannel channel, long position, ByteBuffer buffer) throws IOException {
    try {
      while (buffer.hasRemaining()) {
        int got = channel.read(buffer, position + buffer.position());
        if (buffer.position() % PAGE != 0 || got < 0) {
          throw NativeFile.cutShort(file, position + buffer.limit());
        }
      }
    } catch (ClosedChannelException | EOFException e) {
      throw e;
    } catch (IOException e) {
      throw new IOException(
          file + ": cannot be read at byte " + position + ": " + e.getMessage(), e);
    }
  }

  private synchronized void reopen(int stripe, FileChannel broken) throws IOException {
    if (closed) {
      throw new IOException(file + ": is closed");
    }
    if (channels.get(stripe) == broken) {
      channels.set(stripe, reopened());
    }
  }

  private FileChannel reopened() throws IOException {
    FileSystemException failure = null;
    List<Path> paths = new ArrayList<>();
    paths.add(file);
    paths.addAll(descriptors());
    for (Path path : paths) {
      try {
        FileChannel channel = same(path);
        if (channel != null) {
          return channel;
        }
      } catch (NoSuchFileException e) {
        // Deleted since it was listed: not our file.
      } catch (FileSystemException e) {
        failure = e;
      }
    }
    throw new IOException(
        file
            + ": can no longer be read: an interrupt closed it, and it cannot be reopened"
            + (failure == null ? "" : ": " + failure.getMessage()),
        failure);
  }

  /** Opens the file at that path if it is ours; otherwise returns null. */
  private @Nullable FileChannel same(Path path) throws IOException {
    if (identity == null || !identity.equals(identity(path))) {
      return null;
    }
    FileChannel channel = channel(file, path);
    if (identity.equals(identity(path))) {
      return channel;
    }
    channel.close();
    return null;
  }

  private static List<Path> descriptors() throws IOException {
    if (!Files.isDirectory(DESCRIPTORS)) {
      return List.of();
    }
    try (Stream<Path> paths = Files.list(DESCRIPTORS)) {
      return paths.toList();
    }
  }

  @Override
  public synchronized void close() throws IOException {
    closed = true;
    IOException failure = null;
    for (int i = 0; i < channels.length(); i++) {
      FileChannel channel = channels.get(i);
      try {
        if (channel != null) {
          channel.close();
        }
      } catch (IOException e) {
        failure = e;
      }
    }
    try {
      anchor.close();
    } catch (IOException e) {
      failure = e;
    }
    if (failure != null) {
      throw failure;
    }
  }
}
