import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { linksOf, namesIn, pathExists, readText } from './repository.js';

const run = promisify(execFile);
const FOLDER = 'docs/clients';
const PROGRAMS = 'resilience/src/clients/programs';
const pages = namesIn(FOLDER, 'file').filter((name) => name.endsWith('.md') && name !== 'README.md');

interface Block {
  readonly language: string;
  readonly code: string;
}

function blocksOf(page: string): Block[] {
  const text = readText(`${FOLDER}/${page}`);
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```/gm)].map(([, language = '', code = '']) => ({
    language,
    code,
  }));
}

/** Has an interpreter check a program without running it. */
async function checkProgram(name: string, code: string, command: string, args: string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-page-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, name), code);
  await run(command, [...args, join(folder, name)]);
}

const python = (() => {
  try {
    execFileSync('python3', ['--version']);
    return true;
  } catch {
    return false;
  }
})();
if (!python) process.stderr.write('Python on the pages of clients was NOT CHECKED: there is no python3\n');

/** The parser of each language; it throws on invalid text. */
const CHECKS: Readonly<Record<string, (code: string) => unknown>> = {
  json: (code) => JSON.parse(code),
  yaml: (code) => parseYaml(code),
  js: (code) => checkProgram('page.mjs', code, process.execPath, ['--check']),
  sh: (code) => checkProgram('page.sh', code, 'bash', ['-n']),
  python: (code) =>
    python &&
    checkProgram('page.py', code, 'python3', ['-c', 'import ast, sys; ast.parse(open(sys.argv[1]).read())']),
};

const helpText = run(process.execPath, [
  fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/mcp-server'))),
  '--help',
]);
const packages = namesIn('packages', 'folder')
  .filter((name) => pathExists(`packages/${name}/package.json`))
  .map((name) => (JSON.parse(readText(`packages/${name}/package.json`)) as { name: string }).name);
const tried = readText('resilience/src/clients/clients.ts');
const programs = namesIn(PROGRAMS, 'file').map((name) => readText(`${PROGRAMS}/${name}`));

test('the page of clients links every page', () => {
  const linked = linksOf(`${FOLDER}/README.md`).map(({ target }) => target);
  expect(linked).toEqual(expect.arrayContaining(pages.map((page) => `${FOLDER}/${page}`)));
});

describe.each(pages)('%s', (page) => {
  const text = readText(`${FOLDER}/${page}`);
  const blocks = blocksOf(page);

  test('has a configuration in a language that it is written in', async () => {
    expect(blocks).not.toEqual([]);
    for (const { language, code } of blocks) {
      expect(Object.keys(CHECKS)).toContain(language);
      await CHECKS[language]?.(code);
    }
  });

  test('names settings, packages and addresses that exist', async () => {
    const { stdout: help } = await helpText;
    for (const setting of text.match(/AGENT_RENTAL_\w+/g) ?? []) expect(help).toContain(setting);
    for (const [name] of text.matchAll(/@agent-rental\/[\w-]+/g)) expect(packages).toContain(name);
    const addresses = text.match(/https?:\/\/(?:127\.0\.0\.1|marketplace)[^\s"'`,]*/g) ?? [];
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses)
      expect(address).toMatch(
        /^https?:\/\/(?:127\.0\.0\.1:8787|marketplace\.example)(?:\/mcp|\/packages\/mcp-server\.tgz)?$/,
      );
  });

  test('names the version of its trial, or says that there was none', () => {
    const claims = text.match(/^(?:Tried|Not tried) [^]*?(?=\n\n|\n*$(?![^]))/gm) ?? [];
    expect(claims).not.toEqual([]);
    for (const claim of claims.filter((words) => words.startsWith('Tried'))) {
      expect(claim).toContain('`npm run clients`');
      const versions = claim.match(/\d+\.\d+\.\d+/g) ?? [];
      expect(versions).not.toEqual([]);
      for (const version of versions) expect(tried).toContain(version);
    }
  });

  test('imports only modules that a tested program imports', () => {
    for (const { language, code } of blocks) {
      const imports =
        language === 'js'
          ? [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => `from '${name}'`)
          : language === 'python'
            ? [...code.matchAll(/^(?:from|import) [\w.]+/gm)].map(([words]) => words)
            : [];
      for (const words of imports) {
        expect(
          programs.some((program) => program.includes(words)),
          words,
        ).toBe(true);
      }
    }
  });
});
