package tech.bsdb.write;

/** Follows no assembly, and never cancels one. */
class Unwatched implements AssemblyProgress {
  @Override
  public void progress(Phase phase, long done) {}

  @Override
  public void ended(Phase phase) {}

  @Override
  public boolean cancelled() {
    return false;
  }
}
