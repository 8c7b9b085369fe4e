package tech.bsdb.tools;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.UsageException;

/**
 * The arguments of this process, byte for byte as typed. Java decodes them with the locale's
 * charset and replaces what it cannot decode: every non-ASCII character in a locale such as {@code
 * C}, and bytes that are not UTF-8 in others. On Linux the original bytes can still be read.
 */
final class ProcessArguments {
  private static final char REPLACEMENT = '\uFFFD';

  private ProcessArguments() {}

  /**
   * The arguments as {@link ArgumentText}.
   *
   * @throws UsageException if Java has replaced bytes and the originals are not available
   */
  static List<String> asTyped(String[] args) throws UsageException {
    boolean ascii = Arrays.stream(args).allMatch(arg -> arg.chars().allMatch(c -> c < 0x7F));
    Charset names = ArgumentText.nativeCharset();
    if (!ArgumentText.namesAreBytes()) {
      return List.of(args);
    }
    if (ascii && new String(new byte[] {(byte) 0xE9}, names).charAt(0) > 0x7F) {
      return List.of(args); // a replacement is never ASCII, so nothing was replaced
    }
    return asTyped(args, commandLine(), names);
  }

  /**
   * The arguments as typed.
   *
   * @param args as Java decoded them
   * @param words the words of the command line; the last ones are the arguments that did not come
   *     from an {@code @file} of the {@code java} command
   * @param names the charset that Java decoded them with
   */
  static List<String> asTyped(String[] args, List<byte[]> words, Charset names)
      throws UsageException {
    List<String> typed = new ArrayList<>();
    for (int i = 0; i < args.length; i++) {
      int place = words.size() - args.length + i;
      byte @Nullable [] word = place < 0 ? null : words.get(place);
      if (word != null && new String(word, names).equals(args[i])) {
        typed.add(ArgumentText.of(word));
      } else if (args[i].indexOf(REPLACEMENT) >= 0) {
        throw new UsageException(
            ("argument %s, \"%s\", has bytes that Java could not read; give a key with"
                    + " --key-encoding hex, or in a file with --keys-from, and run in a UTF-8"
                    + " locale (LC_ALL=C.UTF-8)")
                .formatted(i + 1, args[i]));
      } else {
        typed.add(ArgumentText.of(args[i].getBytes(names)));
      }
    }
    return List.copyOf(typed);
  }

  /** The words of this process's command line; none if the system does not expose them. */
  private static List<byte[]> commandLine() {
    try {
      return split(Files.readAllBytes(Path.of("/proc/self/cmdline")));
    } catch (IOException notLinux) {
      return List.of();
    }
  }

  /** Splits the NUL-terminated strings of {@code /proc/self/cmdline}. */
  static List<byte[]> split(byte[] commandLine) {
    List<byte[]> words = new ArrayList<>();
    for (int from = 0, to = 0; to < commandLine.length; to++) {
      if (commandLine[to] == 0) {
        words.add(Arrays.copyOfRange(commandLine, from, to));
        from = to + 1;
      }
    }
    return words;
  }
}
