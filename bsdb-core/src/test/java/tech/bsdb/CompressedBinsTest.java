package tech.bsdb;

/** The same sizes, levels and dictionaries in the packed layout. */
class CompressedBinsTest extends CompressedTest {
  @Override
  BuildOptions options() {
    return BuildOptions.defaults().withLayout(Layout.PACKED_COMPRESSED);
  }
}
