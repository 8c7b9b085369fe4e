package tech.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A disk as a power cut leaves it. It follows recorded changes of files, knows which of them were
 * forced to the device, and makes directories in which what was not forced is lost, kept, or partly
 * kept: each change of a name in a directory, and each write to a file, for itself.
 */
public final class PowerCuts {
  /** A file or a directory. */
  private sealed interface Node {}

  /** A write, or a cut to a length if the bytes are null. */
  private record Change(long position, byte @Nullable [] bytes) {}

  private static final class FileNode implements Node {
    private byte[] lasting = new byte[0];
    private final List<Change> pending = new ArrayList<>();

    static byte[] after(byte[] before, Change change) {
      byte[] bytes = change.bytes;
      if (bytes == null) {
        return Arrays.copyOf(before, (int) change.position);
      }
      int end = (int) change.position + bytes.length;
      byte[] content = Arrays.copyOf(before, Math.max(before.length, end));
      System.arraycopy(bytes, 0, content, (int) change.position, bytes.length);
      return content;
    }

    void force() {
      for (Change change : pending) {
        lasting = after(lasting, change);
      }
      pending.clear();
    }
  }

  private static final class DirectoryNode implements Node {
    private final Map<String, Node> lasting = new TreeMap<>();
    private final Map<String, Node> now = new TreeMap<>();
    private final Map<String, List<@Nullable Node>> pending = new TreeMap<>();

    void set(String name, @Nullable Node node) {
      if (node == null) {
        now.remove(name);
      } else {
        now.put(name, node);
      }
      pending.computeIfAbsent(name, unused -> new ArrayList<>()).add(node);
    }

    void force() {
      lasting.clear();
      lasting.putAll(now);
      pending.clear();
    }
  }

  private final Path root;
  private final DirectoryNode top;
  private final Map<Integer, Node> handles = new HashMap<>();

  /** The disk as it is now below a directory, all of it lasting. */
  public PowerCuts(Path root) throws IOException {
    this.root = root;
    this.top = (DirectoryNode) read(root);
  }

  private static Node read(Path path) throws IOException {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      FileNode file = new FileNode();
      file.lasting = Files.readAllBytes(path);
      return file;
    }
    DirectoryNode directory = new DirectoryNode();
    try (Stream<Path> entries = Files.list(path)) {
      for (Path entry : entries.toList()) {
        directory.set(entry.getFileName().toString(), read(entry));
      }
    }
    directory.force();
    return directory;
  }

  private DirectoryNode parent(Path path) {
    return (DirectoryNode) node(path.getParent());
  }

  private Node node(Path path) {
    Node node = top;
    for (Path name : root.relativize(path)) {
      if (!name.toString().isEmpty()) {
        node = ((DirectoryNode) node).now.get(name.toString());
      }
    }
    if (node == null) {
      throw new AssertionError(path + " is not there");
    }
    return node;
  }

  private static String name(Path path) {
    return path.getFileName().toString();
  }

  /** Takes the next change. */
  public void apply(WatchedFiles.Change change) {
    if (change instanceof WatchedFiles.Open open) {
      open(open);
    } else if (change instanceof WatchedFiles.Write write) {
      pending(write.handle()).add(new Change(write.position(), write.bytes()));
    } else if (change instanceof WatchedFiles.Cut cut) {
      pending(cut.handle()).add(new Change(cut.size(), null));
    } else if (change instanceof WatchedFiles.Force force) {
      Node node = handles.get(force.handle());
      if (node instanceof FileNode file) {
        file.force();
      } else if (node instanceof DirectoryNode directory) {
        directory.force();
      }
    } else if (change instanceof WatchedFiles.Make make) {
      parent(make.path()).set(name(make.path()), new DirectoryNode());
    } else if (change instanceof WatchedFiles.Move move) {
      Node node = node(move.from());
      parent(move.to()).set(name(move.to()), node);
      parent(move.from()).set(name(move.from()), null);
    } else if (change instanceof WatchedFiles.Link link) {
      parent(link.link()).set(name(link.link()), node(link.existing()));
    } else if (change instanceof WatchedFiles.Delete delete) {
      parent(delete.path()).set(name(delete.path()), null);
    }
  }

  private List<Change> pending(int handle) {
    return ((FileNode) handles.get(handle)).pending;
  }

  private void open(WatchedFiles.Open open) {
    if (!open.path().startsWith(root)) {
      handles.put(open.handle(), new FileNode()); // read from elsewhere
      return;
    }
    boolean there =
        open.path().equals(root) || parent(open.path()).now.containsKey(name(open.path()));
    if (!there) {
      parent(open.path()).set(name(open.path()), new FileNode());
    }
    Node node = node(open.path());
    if (there
        && node instanceof FileNode file
        && open.options().contains(StandardOpenOption.TRUNCATE_EXISTING)) {
      file.pending.add(new Change(0, null));
    }
    handles.put(open.handle(), node);
  }

  /**
   * Makes what a power cut leaves now.
   *
   * @param keeps asked for each change that was not forced: whether it got to the device all the
   *     same
   */
  public void cut(Path into, BooleanSupplier keeps) throws IOException {
    if (Files.exists(into)) {
      try (Stream<Path> paths = Files.walk(into)) {
        for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
    write(top, into, keeps);
  }

  private static void write(Node node, Path path, BooleanSupplier keeps) throws IOException {
    if (node instanceof FileNode file) {
      byte[] content = file.lasting;
      for (Change change : file.pending) {
        if (keeps.getAsBoolean()) {
          content = FileNode.after(content, change);
        }
      }
      Files.write(path, content);
    } else if (node instanceof DirectoryNode directory) {
      Map<String, Node> entries = new TreeMap<>(directory.lasting);
      directory.pending.forEach(
          (name, changes) -> {
            for (Node change : changes) {
              if (!keeps.getAsBoolean()) {
                break; // of one name, the later changes come after the earlier ones
              }
              if (change == null) {
                entries.remove(name);
              } else {
                entries.put(name, change);
              }
            }
          });
      Files.createDirectory(path);
      for (Map.Entry<String, Node> entry : entries.entrySet()) {
        write(entry.getValue(), path.resolve(entry.getKey()), keeps);
      }
    }
  }
}
