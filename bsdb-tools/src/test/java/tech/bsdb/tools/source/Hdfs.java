package tech.bsdb.tools.source;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * A real HDFS of two data nodes in this process, begun when first asked for and shared by all
 * tests.
 */
public final class Hdfs {
  private static Hdfs running;

  private final MiniDFSCluster cluster;

  private Hdfs() throws IOException {
    // Stays until the next: the process just ends.
    Path directory = Path.of("target", "hdfs-" + System.getProperty("bsdb.fork", "alone"));
    remove(directory);
    Configuration configuration = new HdfsConfiguration();
    configuration.setInt(DFSConfigKeys.DFS_REPLICATION_KEY, 2);
    configuration.setLong(DFSConfigKeys.DFS_BLOCK_SIZE_KEY, 1 << 20);
    configuration.setLong(DFSConfigKeys.DFS_NAMENODE_MIN_BLOCK_SIZE_KEY, 1 << 10);
    configuration.setInt(DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY, 1);
    cluster = new MiniDFSCluster.Builder(configuration, directory.toFile()).numDataNodes(2).build();
  }

  /** The one of this process. */
  public static synchronized Hdfs running() throws IOException {
    if (running == null) {
      running = new Hdfs();
    }
    return running;
  }

  private static void remove(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  /** {@code hdfs://host:port}. */
  public String uri() {
    return "hdfs://" + nameNode();
  }

  /** {@code host:port}. */
  public String nameNode() {
    return "localhost:" + cluster.getNameNodePort();
  }

  /** For those who write. */
  public FileSystem fileSystem() throws IOException {
    return cluster.getFileSystem();
  }

  public MiniDFSCluster cluster() {
    return cluster;
  }

  /** Writes a file. */
  public String write(String path, byte[] bytes) throws IOException {
    try (OutputStream out = fileSystem().create(new org.apache.hadoop.fs.Path(path))) {
      out.write(bytes);
    }
    return uri() + path;
  }

  /** Copies local files into a folder. */
  public String copy(String folder, List<Path> files) throws IOException {
    for (Path file : files) {
      write(folder + "/" + file.getFileName(), Files.readAllBytes(file));
    }
    return uri() + folder;
  }
}
