package tech.bsdb.tools.inspect;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyFiles;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;

/** The options that name files of keys. */
public final class KeyOptions {
  private static final String SIGN = "--sign-key";
  private static final String TRUST = "--trust";

  private KeyOptions() {}

  /** The key of {@code --sign-key}, or null if it is not given. */
  public static @Nullable PrivateKey signing(Arguments arguments) throws UsageException {
    return read(arguments, SIGN, KeyFiles::signing);
  }

  /** The keys of {@code --trust}, none if it is not given. */
  public static List<PublicKey> trusted(Arguments arguments) throws UsageException {
    List<PublicKey> keys = read(arguments, TRUST, KeyFiles::trusted);
    return keys == null ? List.of() : keys;
  }

  @FunctionalInterface
  private interface Reading<T> {
    T read(Path file) throws IOException;
  }

  private static <T> @Nullable T read(Arguments arguments, String option, Reading<T> reading)
      throws UsageException {
    arguments.refuseEmpty(option, "a file");
    Optional<Path> file = arguments.path(option);
    try {
      return file.isPresent() ? reading.read(file.get()) : null;
    } catch (NoSuchFileException e) {
      throw new UsageException(option + " " + e.getFile() + ": no such file");
    } catch (IOException e) {
      throw new UsageException(option + " " + e.getMessage());
    }
  }
}
