#!/usr/bin/env node
// Breaks the program on purpose, one check at a time, and runs the client's tests against each broken build: every
// one must turn them red. Works in a copy; prints a table, writes it with --out FILE, exits 1 when a break went unseen.
//
//   node programs/marketplace/mutate.mjs [--out FILE] [--only REGULAR-EXPRESSION]
//
// Breaks are found in the sources: every refusal is taken out, every check that an instruction calls, every rule and
// every stricter kind in the account descriptions, and comparisons are moved by one.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};

/** [what it is, what to look for, what to write instead]. Each match is one break. */
const RULES = [
  ['refusal taken out', /return Err\(Error::(\w+)\.into\(\)\);/g, () => '{}'],
  ['requirement taken out', /require\((.+), Error::(\w+)\)(\??)/g, (m) => (m[3] === '?' ? 'Ok::<(), crate::error::Refusal>(())?' : 'Ok(())')],
  ['check taken out', /^( +)(?!fn )(?:\S+\.)?check_\w+\(.*\)\?;$/gm, (m) => `${m[1]}{}`],
  ['address rule taken out', / *=> (?:pda|inline_pda|repeats|named_by)\([^)]*\),/g, () => ','],
  ['need not sign', /: Signer,/g, () => ': crate::accounts::Wallet,'],
  ['need not sign', /: Payer,/g, () => ': crate::accounts::Payee,'],
  ['comparison moved by one', /if [^{]*?[^=<>-]([<>])(?![=<>])[^{]*\{/g, (m) => m[0].replace(/([^=<>-])([<>])(?![=<>])/, '$1$2=')],
  ['comparison moved by one', /if [^{]*?([<>])=(?!=)[^{]*\{/g, (m) => m[0].replace(/([<>])=/, '$1')],
  ['flag flipped', /Flag::new\((true|false)\)/g, (m) => `Flag::new(${m[1] === 'true' ? 'false' : 'true'})`],
];

function sources(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.rs'))
    .map((entry) => join(entry.parentPath, entry.name));
}

function breaksIn(file, text) {
  // Tests and the IDL's half are not part of the program.
  const end = text.indexOf('#[cfg(test)]');
  const program = end < 0 ? text : text.slice(0, end);
  return RULES.flatMap(([kind, pattern, replace]) =>
    [...program.matchAll(pattern)].flatMap((match) => {
      const replacement = replace(match);
      if (replacement === null || /^\s*\/\//.test(program.slice(program.lastIndexOf('\n', match.index) + 1))) {
        return [];
      }
      const line = program.slice(0, match.index).split('\n').length;
      const mutated = text.slice(0, match.index) + replacement + text.slice(match.index + match[0].length);
      return [{ file, line, kind, found: match[0].trim().replaceAll(/\s+/g, ' '), mutated }];
    }),
  );
}

const work = mkdtempSync(join(tmpdir(), 'marketplace-mutants-'));
const kept = (path) => !/\/(?:target|dist|node_modules)(?:\/|$)/.test(path);
for (const part of ['programs/marketplace', 'packages/program-client', 'scripts/build-program.sh', 'vitest.config.ts', 'tsconfig.base.json', 'package.json']) {
  cpSync(join(root, part), join(work, part), { recursive: true, filter: kept });
}
symlinkSync(join(root, 'node_modules'), join(work, 'node_modules'));
const generated = join(work, 'packages/program-client/src/generated');

function run(command, args) {
  const env = { ...process.env, CI: '1', FORCE_COLOR: '0', NO_COLOR: '1' };
  return spawnSync(command, args, { cwd: work, encoding: 'utf8', timeout: 300_000, env });
}

/** Builds what is in the copy and tests it with the right IDL; says how it went. */
function verdict() {
  const built = run('scripts/build-program.sh', []);
  // The broken source would describe itself as it is; the tests hold it against what it should be.
  cpSync(join(root, 'packages/program-client/src/generated'), generated, { recursive: true });
  if (built.status !== 0) {
    return { state: 'does not build', detail: /error.*/.exec(built.stderr)?.[0] ?? '' };
  }
  const tested = run('npx', [
    'vitest', 'run', 'packages/program-client', '--maxWorkers=2', '--bail=1', '--reporter=tap-flat',
    '--exclude=**/compute-units.test.ts',
  ]);
  const failure = /^not ok \d+ - (.* > .*?)(?: # time.*)?$/m.exec(tested.stdout)?.[1];
  return tested.status === 0
    ? { state: 'UNSEEN', detail: '' }
    : { state: 'red', detail: failure?.replace('packages/program-client/src/', '') ?? 'no test ran' };
}

try {
  const healthy = verdict();
  if (healthy.state !== 'UNSEEN') {
    throw new Error(`The unbroken program fails: ${healthy.state} ${healthy.detail}`);
  }
  const folder = join(work, 'programs/marketplace/src');
  const all = sources(folder)
    .filter((file) => !/idl\.rs$|description\.rs$|discriminator\.rs$/.test(file))
    .sort()
    .flatMap((file) => breaksIn(file, readFileSync(file, 'utf8')))
    .filter((each) => new RegExp(option('--only') ?? '').test(`${each.file} ${each.found}`));
  const rows = [];
  for (const [index, each] of all.entries()) {
    const right = readFileSync(each.file, 'utf8');
    writeFileSync(each.file, each.mutated);
    const { state, detail } = verdict();
    writeFileSync(each.file, right);
    const where = `${relative(folder, each.file)}:${each.line}`;
    rows.push({ where, ...each, state, detail });
    process.stdout.write(`${index + 1}/${all.length} ${state} | ${where} | ${each.kind}: ${each.found} | ${detail}\n`);
  }
  const unseen = rows.filter((row) => row.state === 'UNSEEN');
  const cell = (text) => text.replaceAll('|', '\\|');
  const table = [
    `${rows.length} breaks: ${rows.filter((row) => row.state === 'red').length} red, ${unseen.length} unseen, ${rows.filter((row) => row.state === 'does not build').length} do not build.`,
    '',
    '| where | break | outcome | first test to fail |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row.where} | ${row.kind}: \`${cell(row.found)}\` | ${row.state} | ${cell(row.detail)} |`),
    '',
  ].join('\n');
  if (option('--out') !== undefined) {
    writeFileSync(option('--out'), table);
  }
  process.stdout.write(`${table.split('\n')[0]}\n`);
  process.exitCode = unseen.length === 0 ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
