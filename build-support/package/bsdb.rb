class Bsdb < Formula
  desc "Build and serve read-only key-value databases"
  homepage "@URL@"
  url "@URL@/releases/download/v@VERSION@/bsdb-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "openjdk"

  def install
    libexec.install "bin", "lib"
    (bin/"bsdb").write_env_script libexec/"bin/bsdb", Language::Java.overridable_java_home_env
    man1.install "share/man/man1/bsdb.1"
    bash_completion.install "share/bash-completion/completions/bsdb"
    zsh_completion.install "share/zsh/site-functions/_bsdb"
    pkgshare.install "deploy"
    doc.install "docs", "THIRD-PARTY.md"
  end

  test do
    (testpath/"words.txt").write "apple a fruit\ncarrot a root\n"
    system bin/"bsdb", "build", "-i", "words.txt", "-o", "rdb"
    assert_equal "a fruit\n", shell_output("#{bin}/bsdb get -d rdb apple")
    assert_match "absent", shell_output("#{bin}/bsdb get -d rdb plum 2>&1", 1)
    assert_match version.to_s, shell_output("#{bin}/bsdb --version")
  end
end
