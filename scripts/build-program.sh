#!/usr/bin/env bash
# Builds the on-chain program and its IDL from source, without Solana's own toolchain: upstream Rust and LLVM, and
# the sbpf-linker from crates.io.
#
#   scripts/build-program.sh            rebuild the committed program, IDL and IDL module in place.
#
#   scripts/build-program.sh --check    run the Rust tests, rebuild into a temporary folder; fail on a difference.
#
# Needs Debian 12 (installs missing packages, as root) and rustup's cargo. Tools are kept in SBF_TOOLS, default
# ~/.cache/sbf-tools. The bytes depend on the sources and the pinned tools alone, not on folders.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
crate=$root/programs/marketplace
client=$root/packages/program-client
tools=${SBF_TOOLS:-$HOME/.cache/sbf-tools}
linker_version=0.2.6
llvm=22

fail() {
  echo "build-program: $*" >&2
  exit 1
}

check=false
case "${1:-}" in
  '') ;;
  --check) check=true ;;
  *) fail "unknown argument '$1'; the only one is --check" ;;
esac

# --- Tools ---------------------------------------------------------------------------------------------------------

export PATH=$HOME/.cargo/bin:$PATH
command -v cargo >/dev/null || fail "cargo is missing: install rustup (https://rustup.rs) and its stable toolchain"

if [[ ! -x /usr/bin/rustc || ! -x /usr/bin/llvm-config-$llvm || ! -e /usr/lib/rustlib/src/rust ]]; then
  [[ $(id -u) == 0 ]] || fail "run once as root to install rustc-web, rust-web-src and llvm-$llvm (Debian packages)"
  echo "build-program: installing rustc and LLVM $llvm" >&2
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    rustc-web rust-web-src "llvm-$llvm" "llvm-$llvm-dev" gcc g++ libc6-dev >/dev/null
fi
[[ $(/usr/bin/rustc -vV) == *"LLVM version: $llvm."* ]] ||
  fail "/usr/bin/rustc is not on LLVM $llvm: choose the LLVM and the sbpf-linker feature that match it"

if [[ $("$tools/bin/sbpf-linker" --version 2>/dev/null) != "sbpf-linker $linker_version"* ]]; then
  echo "build-program: installing sbpf-linker $linker_version (about two minutes, once)" >&2
  LLVM_SYS_221_PREFIX=/usr/lib/llvm-$llvm LIBRARY_PATH=/usr/lib/llvm-$llvm/lib \
    cargo install "sbpf-linker@$linker_version" --locked --no-default-features \
    --features "bpf-linker/llvm-$llvm" --root "$tools" --quiet --force
fi

# --- Build ---------------------------------------------------------------------------------------------------------

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=$crate/target
$check && target=$work/target

sysroot_src=$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust
flags=(
  -C linker=sbpf-linker
  -C target-cpu=v2
  -C target-feature=+allows-misaligned-mem-access
  -C link-arg=--arch=v0
  -C link-arg=--llvm-args=-bpf-stack-size=4096
  -C link-arg=--disable-math-builtins
  -C link-arg=--export=memcpy,memset
  "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=registry"
  "--remap-path-prefix=$(readlink -f "$sysroot_src")=rust"
  "--remap-path-prefix=$sysroot_src=rust"
  "--remap-path-prefix=$crate=."
)
# The separator is cargo's own for flags that contain spaces, as a folder's name may.
encoded_flags=$(printf '%s\x1f' "${flags[@]}")

# `--crate-type cdylib` here, not only in Cargo.toml: beside "lib" cargo drops the link-time optimisation.
(
  cd "$crate"
  PATH=$tools/bin:$PATH RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
    CARGO_ENCODED_RUSTFLAGS=${encoded_flags%$'\x1f'} CARGO_TARGET_DIR=$target \
    cargo rustc -Z build-std=core,alloc --locked --quiet --lib --release --crate-type cdylib \
    --target bpfel-unknown-none
)
so=$target/bpfel-unknown-none/release/libmarketplace.so

if $check; then
  (cd "$crate" && CARGO_TARGET_DIR=$target cargo test --locked --quiet --features idl >"$work/tests.log" 2>&1) || {
    cat "$work/tests.log" >&2
    fail "the program's Rust tests fail"
  }
fi

program_id=$(sed -n "s/.*new PublicKey('\([1-9A-HJ-NP-Za-km-z]*\)').*/\1/p" "$client/src/program-id.ts")
[[ -n $program_id ]] || fail "no program id found in $client/src/program-id.ts"
(
  cd "$crate"
  CARGO_TARGET_DIR=$target cargo run --locked --quiet --features idl --bin idl -- "$program_id"
) >"$work/idl.line.json"

node - "$work" <<'NODE'
const { readFileSync, writeFileSync } = require('node:fs');
const work = process.argv[2];
// A value is one line where it fits one.
function print(value, indent = '') {
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = isList
    ? value.map((item) => print(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${print(item, inner)}`);
  const [open, close] = isList ? ['[', ']'] : ['{ ', ' }'];
  const line = `${open}${parts.join(', ')}${close}`;
  if (line.length <= 110 && !line.includes('\n')) return line;
  return `${open.trim()}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close.trim()}`;
}
const idl = print(JSON.parse(readFileSync(`${work}/idl.line.json`, 'utf8')));
writeFileSync(
  `${work}/idl.ts`,
  `// Generated by scripts/build-program.sh from programs/marketplace. Do not edit.\n` +
    `import type { MarketplaceIdl } from '../idl-types.js';\n\nexport const idl: MarketplaceIdl = ${idl};\n`,
);
NODE

# --- Compare or install ----------------------------------------------------------------------------------------------

differs=0
place() {
  local built=$1 committed=$2
  if $check; then
    if ! cmp -s "$built" "$committed"; then
      echo "build-program: ${committed#"$root"/} differs from the build of the source" >&2
      differs=1
    fi
  elif ! cmp -s "$built" "$committed"; then
    mkdir -p "$(dirname "$committed")"
    cp "$built" "$committed"
  fi
}
place "$so" "$client/artifacts/marketplace.so"
place "$work/idl.ts" "$client/src/generated/idl.ts"
((differs == 0)) || fail "run scripts/build-program.sh and commit its files"
echo "$(sha256sum "$so" | cut -d' ' -f1)  marketplace.so ($(stat -c %s "$so") bytes)"
