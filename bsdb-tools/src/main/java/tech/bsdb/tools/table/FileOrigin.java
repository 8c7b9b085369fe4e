package tech.bsdb.tools.table;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.InputReport;
import tech.bsdb.tools.input.Rejects;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.source.SourceFile;

/** Rows that come from files. */
public final class FileOrigin implements TableRecords.Origin {
  private final FileSources sources;
  private final List<SourceFile> found;
  private final int ruledOut;

  private FileOrigin(FileSources sources, List<SourceFile> found, int ruledOut) {
    this.sources = sources;
    this.found = found;
    this.ruledOut = ruledOut;
  }

  /**
   * Finds the files.
   *
   * @param sources the source of the files; closed with this object, or immediately if opening
   *     fails
   * @throws InputException if a file is missing, or what is left out would overwrite one
   */
  public static FileOrigin open(TableOptions options, FileSources sources) throws IOException {
    FileOrigin origin = new FileOrigin(sources, List.of(), 0);
    try {
      origin = new FileOrigin(sources, sources.files(options.inputs()), 0);
      if (options.rejects() != null) {
        Rejects.check(options.rejects(), origin.local());
      }
      return origin;
    } catch (IOException | RuntimeException | Error e) {
      origin.closeAfterFailure();
      throw e;
    }
  }

  private List<Path> local() {
    List<Path> local = new ArrayList<>();
    for (SourceFile file : found) {
      Path path = file.local();
      if (path != null) {
        local.add(path);
      }
    }
    return local;
  }

  /** Returns the same with only some of the files; it replaces this object. */
  public FileOrigin keeping(List<SourceFile> some) {
    return new FileOrigin(sources, some, ruledOut + found.size() - some.size());
  }

  @Override
  public int ruledOut() {
    return ruledOut;
  }

  /** Returns the files, in reading order. */
  public List<SourceFile> found() {
    return found;
  }

  /**
   * What is made of a file.
   *
   * @param <T> its type
   */
  @FunctionalInterface
  public interface Opener<T> {
    /** Opens a file. */
    T open(SourceFile file) throws IOException;
  }

  /**
   * Opens all files, several at a time.
   *
   * @param threads the number of reading threads of the run
   * @return what was made of them, in their order
   * @throws IOException what the first file threw that cannot be opened
   */
  public <T> List<T> each(int threads, Opener<T> opener) throws IOException {
    ExecutorService pool =
        Executors.newFixedThreadPool(
            Math.min(2 * threads, Math.max(1, found.size())),
            work -> {
              Thread thread = new Thread(work, "bsdb-footer");
              thread.setDaemon(true);
              return thread;
            });
    try {
      List<Future<T>> opening = new ArrayList<>();
      found.forEach(file -> opening.add(pool.submit(() -> opener.open(file))));
      List<T> opened = new ArrayList<>();
      for (Future<T> file : opening) { // so that the first bad file is reported
        opened.add(file.get());
      }
      return List.copyOf(opened);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InputException("interrupted while the footers were read", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw new IllegalStateException(e.getCause());
    } finally {
      pool.shutdownNow();
    }
  }

  @Override
  public List<String> names() {
    return found.stream().map(SourceFile::name).toList();
  }

  @Override
  public List<Path> databases() {
    return sources.databases();
  }

  @Override
  public InputReport.Files counts() {
    return new InputReport.Files(
        found.size(), sources.directoriesLeftOut(), sources.filesLeftOut());
  }

  @Override
  public void close() throws IOException {
    sources.close();
  }

  /** Closes it quietly: a failure matters more, and nothing was written that could be lost. */
  public void closeAfterFailure() {
    try {
      close();
    } catch (IOException lessImportant) {
      // the failure is reported
    }
  }
}
