package tech.bsdb;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A file system of a few bytes, where this process may mount one; tests are skipped where it may
 * not.
 */
public final class SmallDisk implements AutoCloseable {
  private final Path directory;

  private SmallDisk(Path directory) {
    this.directory = directory;
  }

  public static SmallDisk mount(Path directory, long bytes) throws IOException {
    Files.createDirectories(directory);
    boolean mounted =
        Files.isExecutable(Path.of("/bin/mount"))
            && run(
                    "/bin/mount",
                    "-t",
                    "tmpfs",
                    "-o",
                    "size=" + bytes,
                    "tmpfs",
                    directory.toString())
                == 0;
    assumeTrue(mounted, "cannot mount a small file system here; needs root on Linux");
    return new SmallDisk(directory);
  }

  public void resize(long bytes) throws IOException {
    if (run("/bin/mount", "-o", "remount,size=" + bytes, directory.toString()) != 0) {
      throw new IOException("cannot resize " + directory);
    }
  }

  public Path directory() {
    return directory;
  }

  private static int run(String... command) throws IOException {
    return new ProcessBuilder(List.of(command))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .onExit()
        .join()
        .exitValue();
  }

  @Override
  public void close() throws IOException {
    boolean unmounted = run("/bin/umount", directory.toString()) == 0;
    if (!unmounted && Leaks.COLLECTED) {
      System.gc();
      for (int attempt = 0; attempt < 500 && !Leaks.mappings(directory).isEmpty(); attempt++) {
        LockSupport.parkNanos(20_000_000);
        System.gc();
      }
      unmounted = run("/bin/umount", directory.toString()) == 0;
    }
    if (!unmounted) {
      run("/bin/umount", "-l", directory.toString());
      throw new IOException(directory + " was still in use");
    }
  }
}
