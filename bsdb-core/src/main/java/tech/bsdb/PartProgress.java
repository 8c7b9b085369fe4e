package tech.bsdb;

/**
 * Follows the writer of a part of a database, for one who follows the whole: shows nothing, and
 * ends the part if the build was cancelled.
 */
class PartProgress implements WriterProgress {
  private final WriterProgress whole;

  PartProgress(WriterProgress whole) {
    this.whole = whole;
  }

  @Override
  public void progress(Phase phase, long done) {
    checkNotCancelled();
  }

  @Override
  public void ended(Phase phase) {
    // the parts are one phase
  }

  @Override
  public void sealed(long done, long total) {
    checkNotCancelled();
  }

  @Override
  public boolean cancelled() {
    return whole.cancelled();
  }
}
