# SPDX-License-Identifier: Apache-2.0
# Homebrew (Linux). What stands between @ is filled in by packaging/fill.sh.
class Cuvet < Formula
  desc "Tell whether a GPU deep-learning stack runs on a machine"
  url "@URL@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "gettext" => :build
  depends_on "scdoc" => :build
  depends_on "cjson"
  depends_on "curl"
  depends_on "libarchive"
  depends_on "libyaml"
  depends_on :linux
  depends_on "openssl@3"
  depends_on "pcre2"

  def install
    system "make", "LIBS=-lcjson -lpcre2-8 -lyaml -ldl -lm", "PREFIX=#{prefix}", "install"
  end

  test do
    assert_match "cuvet #{version}", shell_output("#{bin}/cuvet --version")
    assert_match "gpu-too-new-for-build",
                 shell_output("#{bin}/cuvet check --no-live --assume 'gpu=RTX 5090' --assume driver=580 " \
                              "--assume torch=2.6.0+cu124 --assume python=3.12", 1)
  end
end
