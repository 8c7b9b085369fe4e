package tech.bsdb.io;

/** Direct reads, by system calls where they can be made. */
class DirectEngineTest extends QueueContract {
  @Override
  Engine engine() {
    return new DirectEngine(16);
  }
}
