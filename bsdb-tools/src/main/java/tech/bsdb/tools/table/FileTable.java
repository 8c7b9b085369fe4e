package tech.bsdb.tools.table;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import tech.bsdb.tools.input.InputReport;
import tech.bsdb.tools.source.FileSources;

/** A table of files that are opened one by one. */
public final class FileTable implements Table {
  private final FileOrigin origin;
  private final List<TableFile> files;

  private FileTable(FileOrigin origin, List<TableFile> files) {
    this.origin = origin;
    this.files = files;
  }

  /**
   * Finds and opens the files of a request, several at a time.
   *
   * @param opener reads what is needed to know a file's columns and parts; it keeps nothing open
   * @throws tech.bsdb.tools.input.InputException if one is missing or cannot be read; the message
   *     names it
   */
  public static FileTable open(TableRequest request, FileOrigin.Opener<TableFile> opener)
      throws IOException {
    TableOptions options = request.options();
    FileOrigin origin = FileOrigin.open(options, FileSources.open(request.sources()));
    try {
      return new FileTable(origin, origin.each(options.threads(), opener));
    } catch (IOException | RuntimeException | Error e) {
      origin.closeAfterFailure();
      throw e;
    }
  }

  @Override
  public List<TableFile> files() {
    return files;
  }

  @Override
  public List<Path> databases() {
    return origin.databases();
  }

  @Override
  public InputReport.Files counts() {
    return origin.counts();
  }

  @Override
  public void close() throws IOException {
    origin.close();
  }
}
