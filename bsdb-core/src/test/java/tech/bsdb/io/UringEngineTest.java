package tech.bsdb.io;

/** Direct reads by io_uring. */
class UringEngineTest extends QueueContract {
  @Override
  Engine engine() {
    return new UringEngine();
  }
}
