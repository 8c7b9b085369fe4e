package tech.bsdb.tools.serve.dataset;

/** A data set was removed from the service since it was chosen. */
public final class DataSetRemovedException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  DataSetRemovedException(String name) {
    super("the data set " + name + " has been removed");
  }
}
