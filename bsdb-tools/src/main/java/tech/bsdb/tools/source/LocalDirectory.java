package tech.bsdb.tools.source;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.LocalFiles;

/**
 * A local directory, or one of a mounted file system. Needs no class of Hadoop. What is written is
 * forced to the device.
 */
record LocalDirectory(Path path) implements DistantDirectory {
  /** A URI of a local file, whose third group is the path. */
  static final Pattern FILE_URI = Pattern.compile("(?i)file:(//(localhost)?(?=/))?(/.*)");

  static LocalDirectory of(String written) throws IOException {
    return new LocalDirectory(LocalFiles.path(written).toAbsolutePath().normalize());
  }

  @Override
  public String location(String file) {
    return path(file).toString();
  }

  @Override
  public Path local() {
    return path;
  }

  private Path path(String file) {
    return path.resolve(file).normalize();
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    Path found = path(file);
    if (Files.isDirectory(found)) {
      throw new NoSuchFileException(found.toString(), null, "is a directory, not a file");
    }
    SeekableByteChannel channel = Files.newByteChannel(found, StandardOpenOption.READ);
    try {
      return Channels.newInputStream(channel.position(from));
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public List<Entry> list(String directory) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(path(directory))) {
      files = all.sorted().toList();
    }
    List<Entry> entries = new ArrayList<>();
    for (Path file : files) {
      try {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
        entries.add(
            new Entry(
                String.valueOf(file.getFileName()),
                found.size(),
                found.isDirectory(),
                found.lastModifiedTime().toInstant()));
      } catch (NoSuchFileException removed) {
        // removed since it was listed, or a link that leads nowhere
      }
    }
    return entries;
  }

  @Override
  public void write(String file, InputStream content) throws IOException {
    Path target = path(file);
    try {
      createParents(target);
      write(target, content);
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(target);
      throw e;
    }
    forceParent(target);
  }

  @Override
  public void replace(String file, byte[] content) throws IOException {
    Path target = path(file);
    Path next = target.resolveSibling("." + target.getFileName() + ".new");
    createParents(target);
    try {
      write(next, new ByteArrayInputStream(content));
      Files.move(next, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(next);
      throw e;
    }
    forceParent(target);
  }

  @Override
  public boolean create(String file, byte[] content) throws IOException {
    Path target = path(file);
    createParents(target);
    try (FileChannel channel =
        FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      Channels.newOutputStream(channel).write(content);
      channel.force(true);
    } catch (FileAlreadyExistsException taken) {
      return false;
    }
    forceParent(target);
    return true;
  }

  /**
   * Writes a new file. One that has the name is removed first instead of being overwritten: it may
   * be a link, symbolic or hard, to a file that is not ours.
   */
  private static void write(Path target, InputStream content) throws IOException {
    Files.deleteIfExists(target);
    try (FileChannel channel =
        FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      OutputStream out = Channels.newOutputStream(channel);
      content.transferTo(out);
      channel.force(true);
    }
  }

  private static void createParents(Path target) throws IOException {
    Path parent = target.getParent();
    if (parent != null && !Files.isDirectory(parent)) {
      Files.createDirectories(parent);
    }
  }

  private static void forceParent(Path target) throws IOException {
    Path parent = target.getParent();
    if (parent != null) {
      try (FileChannel channel = FileChannel.open(parent, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  @Override
  public boolean isComplete(String file) {
    return true; // nothing tells, but whose length is right has all its bytes
  }

  @Override
  public void delete(String file) throws IOException {
    Path target = path(file);
    if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Files.walkFileTree(
        target,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path one, BasicFileAttributes found) throws IOException {
            Files.deleteIfExists(one);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path one, @Nullable IOException failure)
              throws IOException {
            if (failure != null) {
              throw failure;
            }
            Files.deleteIfExists(one);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  @Override
  public void close() {
    // holds nothing
  }
}
