package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputOptions.OnBadLine;

/**
 * The outcome of reading some input, for tests to compare. Bytes are shown as characters of the
 * same values.
 */
record Readings(
    List<String> records,
    List<@Nullable String> places,
    @Nullable InputReport report,
    @Nullable Throwable failure) {
  private static final int LONGEST = ChunkReader.LONGEST_RECORD;

  /** Options for one file. */
  static InputOptions of(Path file) {
    return InputOptions.defaults().withInputs(List.of(file.toString())).withThreads(2);
  }

  static InputOptions skipping(Path file) {
    return of(file).withOnBadLine(OnBadLine.SKIP);
  }

  static Path file(Path directory, String name, String text) throws IOException {
    return file(directory, name, text.getBytes(StandardCharsets.UTF_8));
  }

  static Path file(Path directory, String name, String text, Charset encoding) throws IOException {
    return file(directory, name, text.getBytes(encoding));
  }

  static Path file(Path directory, String name, byte[] bytes) throws IOException {
    return Files.write(directory.resolve(name), bytes);
  }

  static Readings read(InputOptions options) throws IOException {
    return read(options, 1 << 20, LONGEST);
  }

  static Readings read(InputOptions options, int chunkBytes) throws IOException {
    return read(options, chunkBytes, LONGEST);
  }

  /**
   * Reads everything; a failure while reading is part of the outcome, one while opening is thrown.
   */
  static Readings read(InputOptions options, int chunkBytes, int longest) throws IOException {
    List<String> records = new ArrayList<>();
    InputReport report = null;
    Throwable failure = null;
    try (Input input = Input.open(options, chunkBytes, longest)) {
      try {
        report =
            input.forEach(
                (key, keyFrom, keyLength, value, valueFrom, valueLength) ->
                    records.add(
                        new String(key, keyFrom, keyLength, ISO_8859_1)
                            + "→"
                            + new String(value, valueFrom, valueLength, ISO_8859_1)),
                InputListener.NONE);
        input.publishRejects();
      } catch (IOException | RuntimeException thrown) {
        failure = thrown;
      }
      List<@Nullable String> places = new ArrayList<>();
      for (int i = 0; i < records.size(); i++) {
        places.add(input.place(i));
      }
      return new Readings(records, places, report, failure);
    }
  }

  /** The message of the failure. */
  String message() {
    return failure == null ? "no failure" : String.valueOf(failure.getMessage());
  }

  /** The lines of the records. */
  List<Long> lines() {
    return places.stream()
        .map(
            place ->
                place == null ? -1L : Long.parseLong(place.substring(place.lastIndexOf(':') + 1)))
        .toList();
  }
}
