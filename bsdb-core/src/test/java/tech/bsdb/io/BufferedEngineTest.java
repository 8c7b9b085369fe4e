package tech.bsdb.io;

class BufferedEngineTest extends PageSourceContract {
  @Override
  Engine engine() {
    return new BufferedEngine();
  }
}
