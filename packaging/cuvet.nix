# SPDX-License-Identifier: Apache-2.0
# Nix: `nix-build -E 'with import <nixpkgs> {}; callPackage ./cuvet.nix {}'`, beside the tarball.
# What stands between @ is filled in by packaging/fill.sh. libcurl, libcrypto and libarchive are
# loaded by name when they are asked for, so that the program is told where they lie.
{ lib, stdenv, cjson, curl, gettext, libarchive, libyaml, makeWrapper, openssl, pcre2, scdoc }:

stdenv.mkDerivation rec {
  pname = "cuvet";
  version = "@VERSION@";
  src = ./cuvet-${version}.tar.gz;

  nativeBuildInputs = [ gettext makeWrapper scdoc ];
  buildInputs = [ cjson curl libarchive libyaml openssl pcre2 ];
  makeFlags = [ "PREFIX=$(out)" "LIBS=-lcjson\\ -lpcre2-8\\ -lyaml\\ -ldl\\ -lm" ];
  enableParallelBuilding = true;

  postInstall = ''
    wrapProgram $out/bin/cuvet --suffix LD_LIBRARY_PATH : \
      ${lib.makeLibraryPath [ curl libarchive openssl ]}
  '';

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/cuvet --version | grep -qx "cuvet ${version}"
  '';

  meta = {
    description = "Tell whether a GPU deep-learning stack runs on a machine";
    license = lib.licenses.asl20;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "cuvet";
  };
}
