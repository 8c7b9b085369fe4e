package tech.bsdb.tools;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The arguments of this process as they were typed. Java decodes them by the locale, and a locale
 * that knows only ASCII (as in cron, containers and {@code LC_ALL=C}) has lost every other
 * character before {@code main} sees them; on Linux the bytes can still be read.
 */
final class ProcessArguments {
  private ProcessArguments() {}

  /**
   * The arguments decoded as UTF-8 where the locale could not and the system still has them, else
   * as Java did.
   */
  static List<String> asTyped(String[] args) {
    List<String> decoded = List.of(args);
    boolean lossy = decoded.stream().anyMatch(arg -> arg.chars().anyMatch(c -> c > 126));
    if (!lossy || "UTF-8".equalsIgnoreCase(System.getProperty("sun.jnu.encoding"))) {
      return decoded;
    }
    try {
      List<String> all = split(Files.readAllBytes(Path.of("/proc/self/cmdline")));
      return all.size() < args.length ? decoded : all.subList(all.size() - args.length, all.size());
    } catch (IOException notLinuxOrNotUtf8) {
      return decoded;
    }
  }

  /** Takes the NUL-terminated strings of {@code /proc/self/cmdline} apart. */
  static List<String> split(byte[] commandLine) throws CharacterCodingException {
    List<String> words = new ArrayList<>();
    for (int from = 0, to = 0; to < commandLine.length; to++) {
      if (commandLine[to] == 0) {
        ByteBuffer word = ByteBuffer.wrap(commandLine, from, to - from);
        words.add(
            StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .decode(word)
                .toString());
        from = to + 1;
      }
    }
    return words;
  }
}
