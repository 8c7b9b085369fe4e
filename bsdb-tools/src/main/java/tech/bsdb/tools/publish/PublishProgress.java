package tech.bsdb.tools.publish;

import tech.bsdb.DiffListener;
import tech.bsdb.store.PublishListener;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Progress;

/** Shows the progress of a publication. */
record PublishProgress(String program, Console console, Progress progress, boolean quiet)
    implements PublishListener, DiffListener {
  @Override
  public void waiting() {
    if (!quiet) {
      console.say(program + ": another publish to this store is running; waiting for it to finish");
    }
  }

  @Override
  public void copied(long doneBytes, long allBytes) {
    progress.update("copy", doneBytes, allBytes);
  }

  @Override
  public void verified(long donePages, long allPages) {
    progress.update("verify", donePages, allPages);
  }

  @Override
  public void progress(long doneRecords, long allRecords) {
    progress.update("compare", doneRecords, allRecords);
  }
}
