package tech.bsdb.write;

import tech.bsdb.BuildListener.Stage;

/** Follows no assembly, and never cancels one. */
class Unwatched implements AssemblyProgress {
  @Override
  public void progress(Stage stage, long done) {}

  @Override
  public void ended(Stage stage) {}

  @Override
  public boolean cancelled() {
    return false;
  }
}
