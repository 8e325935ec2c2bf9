/**
 * Breaks each check of the on-chain program on purpose, in a copy of the crate. A mutant is killed by the fuzzer, or else by a unit
 * test of the crate.
 *
 *   node scripts/mutate-program.mjs [--only REGEXP] [--part 1/2] [--instructions N] [--out FILE]
 *
 * Needs the tools that scripts/build-program.sh installs, and a built fuzz folder (`npm run build`). Prints one line per
 * mutant and writes the table as Markdown to FILE (programs/marketplace/target/mutants.md). Exits with 1 when a mutant
 * survives that is not known as equivalent, or when a mutant's text is no longer in the source.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { allMutants, breakSource } from '../fuzz/dist/program/mutants.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const crate = join(root, 'programs/marketplace');
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    part: { type: 'string', default: '1/1' },
    out: { type: 'string', default: join(crate, 'target/mutants.md') },
    instructions: { type: 'string', default: '1000000' },
  },
});
const work = mkdtempSync(join(tmpdir(), 'mutants-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => process.exit(1));
}
const copy = join(work, 'marketplace');
cpSync(crate, copy, { recursive: true, filter: (path) => !path.endsWith('/target') });

/** The flags of scripts/build-program.sh, without the flags that only make the bytes reproducible. */
const script = readFileSync(join(root, 'scripts/build-program.sh'), 'utf8');
const flags = [...script.matchAll(/^ {2}-C (\S+)$/gm)].map(([, flag]) => `-C\x1f${flag}`);
const BUILD =
  'rustc -Z build-std=core,alloc --locked --quiet --lib --release --crate-type cdylib --target bpfel-unknown-none';

/** Builds the copy; the errors of the compiler, or null. */
function build() {
  const tools = process.env['SBF_TOOLS'] ?? join(homedir(), '.cache/sbf-tools');
  const env = {
    ...process.env,
    PATH: `${tools}/bin:${homedir()}/.cargo/bin:${process.env['PATH']}`,
    RUSTC: '/usr/bin/rustc',
    RUSTC_BOOTSTRAP: '1',
    CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f'),
    CARGO_TARGET_DIR: join(work, 'target'),
  };
  const { status, stderr } = spawnSync('cargo', BUILD.split(' '), { cwd: copy, encoding: 'utf8', env });
  return status === 0 ? null : stderr?.trim() || 'cargo does not run';
}

/** The first violation that the fuzzer finds in the build, or null. */
function fuzz() {
  const main = join(root, 'fuzz/dist/program/main.js');
  const so = join(work, 'target/bpfel-unknown-none/release/libmarketplace.so');
  const args = [main, '--so', so, '--seed', '1', '--instructions', options.instructions, '--no-minimise'];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  const violation = /^violation: (.*)$/m.exec(run.stdout)?.[1];
  const error = run.stderr.split('\n').findLast((line) => /Error/.test(line));
  return run.status === 0 ? null : (violation ?? error ?? 'no outcome');
}

/** The first unit test of the crate that fails, or null. */
function unitTest() {
  const env = { ...process.env, CARGO_TARGET_DIR: join(work, 'host') };
  const args = ['test', '--locked', '--quiet', '--features', 'idl'];
  const { status, stdout } = spawnSync(join(homedir(), '.cargo/bin/cargo'), args, {
    cwd: copy,
    encoding: 'utf8',
    env,
  });
  return status === 0 ? null : (/^ {4}(\S+)$/m.exec(stdout)?.[1] ?? 'the unit tests');
}

/** How a mutant ends, and what noticed it. */
function tryMutant(mutant) {
  const path = join(copy, 'src', mutant.file);
  const source = readFileSync(path, 'utf8');
  try {
    writeFileSync(path, breakSource(source, mutant));
    const refused = build();
    if (refused !== null) {
      return ['unbuildable', refused.slice(0, 400)];
    }
    const violation = fuzz() ?? unitTest();
    return violation === null
      ? [mutant.equivalent === undefined ? 'survived' : 'equivalent', mutant.equivalent ?? '']
      : ['killed', violation];
  } catch (error) {
    return ['stale', error.message];
  } finally {
    writeFileSync(path, source);
  }
}

const refused = build();
if (refused !== null) {
  process.stderr.write(
    `The unbroken program does not build; scripts/build-program.sh installs the tools.\n${refused}\n`,
  );
  process.exit(1);
}
const [part, parts] = options.part.split('/').map(Number);
const mutants = allMutants(join(crate, 'src'))
  .filter(({ file, does }) => new RegExp(options.only).test(`${file} ${does}`))
  .filter((_, index) => index % parts === part - 1);
const rows = ['| file | the broken program ... | result | first noticed by |', '|---|---|---|---|'];
const counts = { killed: 0, equivalent: 0, survived: 0, stale: 0, unbuildable: 0 };
for (const [index, mutant] of mutants.entries()) {
  const [result, why] = tryMutant(mutant);
  counts[result] += 1;
  process.stdout.write(`${index + 1}/${mutants.length} ${result}: ${mutant.file} ${mutant.does}: ${why}\n`);
  const reason = why.replaceAll('|', '\\|').split('\n')[0].slice(0, 160);
  rows.push(`| \`${mutant.file}\` | ${mutant.does} | ${result} | ${reason} |`);
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
mkdirSync(dirname(options.out), { recursive: true });
writeFileSync(options.out, `${rows.join('\n')}\n`);
process.exitCode = counts.killed + counts.equivalent === mutants.length ? 0 : 1;
