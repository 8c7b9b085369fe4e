package tech.bsdb.tools.publish;

import java.time.Duration;
import java.util.Locale;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.transfer.TransferListener;

/** Shows the progress of a transfer. */
record TransferProgress(String program, Console console, Progress progress, boolean quiet)
    implements TransferListener {
  @Override
  public void arrived(long doneBytes, long allBytes) {
    progress.update("pull", doneBytes, allBytes);
  }

  @Override
  public void retrying(String location, String why, Duration pause) {
    if (!quiet) {
      console.say(
          String.format(
              Locale.ROOT,
              "%s: %s: %s (trying again in %.1f s)",
              program,
              location,
              why,
              pause.toMillis() / 1e3));
    }
  }
}
