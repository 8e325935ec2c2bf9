/**
 * Breaks each check of the on-chain program on purpose, in a copy of the crate, and looks whether the fuzzer notices.
 *
 *   node scripts/mutate-program.mjs [--only REGEXP] [--part 1/2] [--instructions N] [--out FILE]
 *
 * Needs the tools that scripts/build-program.sh installs, and a built fuzz folder (`npm run build`). Prints one line per
 * mutant and writes the table as Markdown to FILE (programs/marketplace/target/mutants.md). Exits with 1 when a mutant
 * survives that is not known to be equivalent, or when the text that a mutant replaces is no longer in the source.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { allMutants } from '../fuzz/src/program/mutations/mutants.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    part: { type: 'string', default: '1/1' },
    out: { type: 'string' },
    instructions: { type: 'string', default: '1000000' },
  },
});

const root = fileURLToPath(new URL('..', import.meta.url));
const crate = join(root, 'programs/marketplace');
const work = mkdtempSync(join(tmpdir(), 'mutants-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => process.exit(1));
}

const copy = join(work, 'marketplace');
cpSync(crate, copy, { recursive: true, filter: (path) => !path.endsWith('/target') });
const tools = process.env['SBF_TOOLS'] ?? join(homedir(), '.cache/sbf-tools');
const built = join(work, 'target/bpfel-unknown-none/release/libmarketplace.so');

/** The flags of scripts/build-program.sh, without those that only make the bytes reproducible. */
const flags = [
  ['-C', 'linker=sbpf-linker'],
  ['-C', 'target-cpu=v2'],
  ['-C', 'target-feature=+allows-misaligned-mem-access'],
  ['-C', 'link-arg=--arch=v0'],
  ['-C', 'link-arg=--llvm-args=-bpf-stack-size=4096'],
  ['-C', 'link-arg=--disable-math-builtins'],
  ['-C', 'link-arg=--export=memcpy,memset'],
];

function build() {
  const args =
    'rustc -Z build-std=core,alloc --locked --quiet --lib --release --crate-type cdylib --target bpfel-unknown-none';
  return spawnSync('cargo', args.split(' '), {
    cwd: copy,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${tools}/bin:${homedir()}/.cargo/bin:${process.env['PATH']}`,
      RUSTC: '/usr/bin/rustc',
      RUSTC_BOOTSTRAP: '1',
      CARGO_ENCODED_RUSTFLAGS: flags.flat().join('\x1f'),
      CARGO_TARGET_DIR: join(work, 'target'),
    },
  });
}

/** What the fuzzer says of the build: null when it finds nothing wrong. */
function fuzz(seed) {
  const main = join(root, 'fuzz/dist/program/main.js');
  const args = ['--so', built, '--seed', `${seed}`, '--instructions', options.instructions, '--no-minimise'];
  const run = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status === 0) {
    return null;
  }
  const violation = /^violation: (.*)$/m.exec(run.stdout)?.[1];
  return (
    violation ??
    run.stderr
      .trim()
      .split('\n')
      .findLast((line) => /Error/.test(line)) ??
    'no outcome'
  );
}

const unbroken = build();
if (unbroken.status !== 0) {
  process.stderr.write(
    `The unbroken program does not build; scripts/build-program.sh installs the tools.\n${unbroken.stderr}`,
  );
  process.exit(1);
}

const pristine = join(work, 'pristine');
cpSync(join(copy, 'src'), pristine, { recursive: true });
const read = (file) => readFileSync(join(pristine, file), 'utf8');
const instructionFiles = readdirSync(join(pristine, 'instructions'))
  .filter((name) => name.endsWith('.rs') && name !== 'mod.rs')
  .map((name) => `instructions/${name}`);
const [part, parts] = options.part.split('/').map(Number);
const mutants = allMutants(read, instructionFiles)
  .filter(({ file, does }) => options.only === undefined || new RegExp(options.only).test(`${file} ${does}`))
  .filter((_, index) => index % parts === part - 1);

function tryMutant({ file, find, replace, also }) {
  const source = read(file);
  const replacements = [{ find, replace }, ...(also === undefined ? [] : [also])];
  const stale = replacements.map((each) => source.split(each.find).length - 1).find((found) => found !== 1);
  if (stale !== undefined) {
    return { result: 'stale', by: `found ${stale} times` };
  }
  const path = join(copy, 'src', file);
  writeFileSync(
    path,
    replacements.reduce((text, each) => text.replace(each.find, () => each.replace), source),
  );
  try {
    const compiled = build();
    if (compiled.status !== 0) {
      return { result: 'unbuildable', by: compiled.stderr.trim().slice(0, 400) };
    }
    const violation = fuzz(1);
    return violation === null ? { result: 'survived', by: '' } : { result: 'killed', by: violation };
  } finally {
    writeFileSync(path, source);
  }
}

const rows = [];
let bad = 0;
const counts = { killed: 0, equivalent: 0, survived: 0, stale: 0, unbuildable: 0 };
for (const [index, mutant] of mutants.entries()) {
  const found = tryMutant(mutant);
  const result = found.result === 'survived' && mutant.equivalent !== undefined ? 'equivalent' : found.result;
  counts[result] += 1;
  bad += result === 'killed' || result === 'equivalent' ? 0 : 1;
  const why = result === 'equivalent' ? mutant.equivalent : found.by;
  process.stdout.write(`${index + 1}/${mutants.length} ${result}: ${mutant.file} ${mutant.does}: ${why}\n`);
  rows.push(
    `| \`${mutant.file}\` | ${mutant.does} | ${result} | ${why.replaceAll('|', '\\|').split('\n')[0].slice(0, 160)} |`,
  );
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
const out = options.out ?? join(crate, 'target/mutants.md');
const head = ['| file | the broken program ... | result | first noticed by |', '|---|---|---|---|'];
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, `${[...head, ...rows].join('\n')}\n`);
process.exitCode = bad > 0 ? 1 : 0;
