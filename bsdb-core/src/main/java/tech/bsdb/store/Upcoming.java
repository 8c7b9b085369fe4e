package tech.bsdb.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.transfer.Origin;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * A version whose files are still being sent to a store, but whose changes and manifests are there
 * (docs/FORMAT.md §15): whoever has the version before can make it already. Immutable.
 *
 * <pre>
 * STORE/.deltas/NEXT             the names of the version and of the current one before it
 * STORE/.deltas/VERSION/result/  the manifests of the version
 * STORE/VERSION/.pushing         there as long as the version is not complete
 * </pre>
 *
 * @param version its name
 * @param shipment what it will be; its directory has only the manifests
 */
public record Upcoming(String version, Shipment shipment) {
  /** The file that names the version, as a path below the store. */
  public static final String FILE = Delta.DIRECTORY + "/NEXT";

  /** The name of the file that marks a version as not complete. */
  public static final String MARKER = ".pushing";

  private static final String RESULT = "result";
  private static final int MAX_BYTES = 1 << 12;

  /** The bytes of the file that names a version. */
  public static byte[] encode(String version, String current) {
    return (version + "\n" + current + "\n").getBytes(UTF_8);
  }

  /** The directory for the manifests of a version, as a path below the store. */
  public static String directory(String version) {
    return Delta.directory(version) + "/" + RESULT;
  }

  /**
   * Reads which version is coming.
   *
   * @param current the name of the current version; a version that follows another does not count
   * @return null if none is
   */
  static @Nullable Upcoming read(
      Origin origin, String current, TransferOptions options, Runnable checkOpen)
      throws IOException {
    String named = FILE;
    try {
      String text = text(origin, FILE, options, checkOpen);
      named = text.split("\n", 2)[0];
      if (!VersionName.isValid(named) || !text.equals(new String(encode(named, current), UTF_8))) {
        return null;
      }
      String unused = text(origin, named + "/" + MARKER, options, checkOpen);
      return new Upcoming(named, Shipment.read(origin, directory(named), options, checkOpen));
    } catch (NoSuchFileException | AccessDeniedException none) {
      return null;
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException | IllegalArgumentException e) {
      options.listener().whole(named, String.valueOf(e.getMessage()));
      return null; // it may be sound when it is complete
    }
  }

  private static String text(
      Origin origin, String file, TransferOptions options, Runnable checkOpen) throws IOException {
    return new String(Shipment.content(origin, file, MAX_BYTES, options, checkOpen), UTF_8);
  }
}
