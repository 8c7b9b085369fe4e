package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Finds the files of the inputs: standard input, and the files that {@link LocalFiles} finds for
 * paths.
 */
final class InputFiles {
  private static final String STANDARD_INPUT = "-";
  private static final byte[] PARQUET = {'P', 'A', 'R', '1'};

  private InputFiles() {}

  /**
   * The files in the order of reading.
   *
   * @param databases receives the databases that were found below a directory and left out
   */
  static List<InputFile> find(List<String> inputs, List<Path> databases) throws IOException {
    if (inputs.isEmpty()) {
      throw new IllegalArgumentException("no input is given");
    }
    if (Collections.frequency(inputs, STANDARD_INPUT) > 1) {
      throw new InputException("stdin: given twice as an input, but can be read only once");
    }
    List<InputFile> files = new ArrayList<>();
    for (String input : inputs) {
      if (input.equals(STANDARD_INPUT)) {
        files.add(InputFile.standardInput());
      } else {
        for (Path path : LocalFiles.find(LocalFiles.path(input), databases)) {
          files.add(open(path));
        }
      }
    }
    return List.copyOf(files);
  }

  private static InputFile open(Path path) throws InputException {
    try {
      if (isParquet(path)) {
        throw new InputException(
            path
                + ": is a Parquet file, not text (bsdb build-parquet builds from it; the load tools"
                + " take its keys with -kf COLUMN)");
      }
      return InputFile.of(path);
    } catch (InputException named) {
      throw named;
    } catch (IOException failure) {
      throw InputException.reading(path.toString(), failure);
    }
  }

  /** Whether a file begins and ends with the magic number of Parquet. */
  private static boolean isParquet(Path path) throws IOException {
    if (!Files.isRegularFile(path) || Files.size(path) < 3L * PARQUET.length) {
      return false;
    }
    // not through java.io.File, which cannot name a path that is not UTF-8
    try (SeekableByteChannel file = Files.newByteChannel(path)) {
      return hasMagic(file, 0) && hasMagic(file, file.size() - PARQUET.length);
    }
  }

  private static boolean hasMagic(SeekableByteChannel file, long place) throws IOException {
    ByteBuffer found = ByteBuffer.allocate(PARQUET.length);
    file.position(place);
    while (found.hasRemaining() && file.read(found) >= 0) {
      // a channel may read less than requested
    }
    return Arrays.equals(found.array(), PARQUET);
  }
}
