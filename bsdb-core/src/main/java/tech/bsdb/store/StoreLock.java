package tech.bsdb.store;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A lock of a store, exclusive among all processes: a locked file. When a process ends, for any
 * reason, its lock is released.
 */
final class StoreLock implements Closeable {
  /** Held for the whole of a publication. */
  static final String PUBLISH = ".lock";

  /** Held briefly while the pointer changes or versions are removed. */
  static final String SWITCH = ".switch.lock";

  private static final long SWITCH_SECONDS = 60;

  /*
   * A process loses its lock on a file when it closes any channel to that file, so a file that this virtual machine has
   * locked is never opened a second time. The system property with this name and that of the file tells so to all class
   * loaders that load this class: jobs of Flink have their own in one process.
   */
  private static final String HELD = "tech.bsdb.store.held.";

  private final Path file;
  private final FileChannel channel;

  private StoreLock(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /** Takes the lock, or returns null if it is held. */
  static @Nullable StoreLock tryTake(Path store, String name) throws IOException {
    Path file = store.toRealPath().resolve(name);
    if (System.getProperties().putIfAbsent(HELD + file, "") != null) {
      return null;
    }
    FileChannel channel = null;
    boolean taken = false;
    try {
      try {
        Files.createFile(file);
      } catch (FileAlreadyExistsException thereAlready) {
        // belongs to another holder, or a former one
      }
      // A process that failed to create a store removes its locks, and a lock on a removed file is
      // void: the opened file must still be the one in place once it is locked.
      Object before = key(file);
      channel = FileChannel.open(file, StandardOpenOption.WRITE);
      taken = before != null && channel.tryLock() != null && before.equals(key(file));
      return taken ? new StoreLock(file, channel) : null;
    } finally {
      if (!taken) {
        if (channel != null) {
          channel.close();
        }
        Object unused = System.getProperties().remove(HELD + file);
      }
    }
  }

  private static @Nullable Object key(Path file) throws IOException {
    try {
      Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
      return key == null ? file : key;
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** An action performed while the lock is held. */
  @FunctionalInterface
  interface Step<T> {
    T run() throws IOException;
  }

  /** Waits for the pointer's lock, which is only held briefly, and runs a step under it. */
  static <T> T switching(Path store, Step<T> step) throws IOException {
    for (long left = SWITCH_SECONDS * 100; left > 0; left--) {
      StoreLock lock = tryTake(store, SWITCH);
      if (lock != null) {
        try {
          return step.run();
        } finally {
          lock.close();
        }
      }
      pause(10);
    }
    throw new IOException(
        store.resolve(SWITCH)
            + ": another process has held this lock for "
            + SWITCH_SECONDS
            + " s; stop that process and try again");
  }

  /**
   * Sleeps.
   *
   * @throws InterruptedIOException if the thread is interrupted; its interrupt flag stays set
   */
  static void pause(long milliseconds) throws InterruptedIOException {
    try {
      TimeUnit.MILLISECONDS.sleep(milliseconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while another process held the store's lock");
    }
  }

  /** Removes the file and releases the lock. */
  void remove() throws IOException {
    try {
      Files.deleteIfExists(file);
    } finally {
      close();
    }
  }

  /** Releases the lock. */
  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      Object unused = System.getProperties().remove(HELD + file);
    }
  }
}
