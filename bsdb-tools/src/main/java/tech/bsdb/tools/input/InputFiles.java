package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Finds the files that the inputs stand for: standard input, and what {@link LocalFiles} says of
 * paths.
 */
final class InputFiles {
  private static final String STANDARD_INPUT = "-";

  private InputFiles() {}

  /**
   * The files in the order to be read.
   *
   * @param databases is added the databases that were found below a directory and left out
   */
  static List<InputFile> find(List<String> inputs, List<Path> databases) throws IOException {
    if (inputs.isEmpty()) {
      throw new IllegalArgumentException("no input is given");
    }
    if (Collections.frequency(inputs, STANDARD_INPUT) > 1) {
      throw new InputException("stdin: given twice as an input, but can be read once");
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
      return InputFile.of(path);
    } catch (IOException failure) {
      throw InputException.reading(path.toString(), failure);
    }
  }
}
