package tech.bsdb.tools.source;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.LocalFiles;
import tech.bsdb.tools.source.TableFormat.Tables;
import tech.bsdb.tools.source.TableFormat.Tree;

/** Finds the local files of inputs. */
final class LocalInputs {
  private final FolderSelection selection;
  private final FolderWalk walk;
  private final Tables<Path> tables = new Tables<>(new LocalTree());
  private final List<Path> databases = new ArrayList<>();

  LocalInputs(FolderSelection selection, FolderWalk walk) {
    this.selection = selection;
    this.walk = walk;
  }

  /** Returns the databases found below directories, which were skipped. */
  List<Path> databases() {
    return databases;
  }

  /**
   * Returns the files of an input, in reading order.
   *
   * @throws InputException if there are none
   */
  List<SourceFile> find(String input) throws IOException {
    Path path = LocalFiles.path(input);
    return LocalGlob.isPattern(input) && !Files.exists(path) // otherwise it is a name
        ? matches(ArgumentText.name(input))
        : named(path);
  }

  private List<SourceFile> named(Path path) throws IOException {
    if (!Files.isDirectory(path)) {
      Base base = new Base(absolute(path).getParent());
      return base.opened(LocalFiles.find(path, databases));
    }
    if (LocalFiles.isDatabase(path)) {
      LocalFiles.find(path, databases); // throws that it is one
    }
    long leftOut = walk.leftOut();
    Base base = new Base(absolute(path));
    List<Path> files = base.below(path);
    if (files.isEmpty()) {
      throw walk.nothing(path, leftOut, false);
    }
    return base.opened(files);
  }

  private List<SourceFile> matches(String pattern) throws IOException {
    long leftOut = walk.leftOut();
    Base base = new Base(absolute(LocalGlob.base(pattern)));
    List<Path> files = new ArrayList<>();
    for (Path match : LocalGlob.expand(pattern)) {
      if (!Files.isDirectory(match)) {
        if (base.wantsFile(match)) {
          files.addAll(LocalFiles.find(match, databases));
        }
      } else if (LocalFiles.isDatabase(match)) {
        databases.add(match);
      } else if (base.wantsDirectory(match)) {
        files.addAll(base.below(match));
      }
    }
    if (files.isEmpty()) {
      throw walk.nothing(pattern, leftOut, true);
    }
    return base.opened(files);
  }

  private static Path absolute(Path path) {
    return path.toAbsolutePath().normalize();
  }

  /** The directory to which paths are relative: the input's fixed part. */
  private final class Base implements LocalFiles.Choice {
    private final Path directory;

    Base(@Nullable Path directory) {
      this.directory = directory == null ? Path.of("/") : directory;
    }

    private String relative(Path path) {
      return directory.relativize(absolute(path)).toString();
    }

    List<Path> below(Path path) throws IOException {
      try {
        return LocalFiles.below(path, this);
      } catch (InputException named) {
        throw named;
      } catch (IOException failure) {
        throw InputException.reading(path.toString(), failure);
      }
    }

    /** Whether the patterns select a directory, hidden or not. */
    boolean wantsDirectory(Path below) throws IOException {
      return walk.enters(directory.toString(), relative(below))
          && !tables.isLog(absolute(below), LocalFiles.name(below));
    }

    /** Whether the patterns select a file, hidden or not. */
    boolean wantsFile(Path file) {
      return walk.takes(directory.toString(), relative(file));
    }

    @Override
    public boolean enters(Path below) throws IOException {
      return FolderWalk.isData(LocalFiles.name(below), true)
          && wantsDirectory(below)
          && !(LocalFiles.isDatabase(below) && databases.add(below));
    }

    @Override
    public boolean takes(Path file) {
      return FolderWalk.isData(LocalFiles.name(file), false) && wantsFile(file);
    }

    List<SourceFile> opened(List<Path> paths) throws IOException {
      List<SourceFile> files = new ArrayList<>();
      for (Path path : paths) {
        try {
          checkNoTable(path);
          files.add(
              LocalParquet.of(path, FolderWalk.partitions(directory.toString(), relative(path))));
        } catch (IOException failure) {
          throw FileSources.explain(path.toString(), failure);
        }
      }
      return files;
    }
  }

  /** Checks both the given path and the path with links resolved. */
  private void checkNoTable(Path file) throws IOException {
    if (!selection.rawFiles()) {
      for (Path path : List.of(absolute(file), file.toRealPath())) {
        Path parent = path.getParent();
        if (parent != null) {
          tables.check(parent);
        }
      }
    }
  }

  private static final class LocalTree implements Tree<Path> {
    @Override
    public boolean hasDirectory(Path directory, String name) {
      return Files.isDirectory(directory.resolve(name));
    }

    @Override
    public List<String> names(Path directory, String name) throws IOException {
      List<String> names = new ArrayList<>();
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory.resolve(name))) {
        files.forEach(file -> names.add(LocalFiles.name(file)));
      } catch (AccessDeniedException notOurs) {
        names.clear();
      }
      return names;
    }

    @Override
    public @Nullable Path parent(Path directory) {
      return directory.getParent();
    }
  }
}
