package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import tech.bsdb.data.DataFile;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.write.Assembled.Content;

/** The data files of a build that are finished but not sealed, opened to be read again. */
final class FinishedFiles {
  private FinishedFiles() {}

  /** The contents that are data files. */
  static List<Content> data(List<Content> contents) {
    return contents.stream()
        .filter(content -> content.entry().file().kind() == FileKind.DATA)
        .toList();
  }

  /** Opens a data file; the caller closes it. */
  static DataFile open(Content content) throws IOException {
    FileEntry entry = content.entry();
    PageCheck check = new PageCheck(content.file().path(), entry.file());
    CheckedPages pages =
        new CheckedPages(
            new BufferedEngine()
                .open(content.file().path(), (entry.pages() - 1) * CheckedPages.PAGE),
            entry.pages(),
            null);
    return new DataFile(pages, check, content.end());
  }

  /** Opens data files; the caller closes them. */
  static List<DataFile> open(List<Content> contents) throws IOException {
    List<DataFile> files = new ArrayList<>();
    BuildResources opened = new BuildResources();
    try {
      for (Content content : contents) {
        files.add(opened.add(open(content)));
      }
      return files;
    } catch (IOException | RuntimeException | Error e) {
      opened.closeAfter(e);
      throw e;
    }
  }
}
