/**
 * `npm run check [-- part ...]`: everything that is decided without running a test. Runs all parts but `packages` when none
 * is named, stops at the first that fails, and ends with its exit code.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, root } from './build.mjs';

const bin = (name) => join(root, 'node_modules', name);

/** Programs by part, in the order in which they run. */
const PARTS = {
  lint: {
    summary: 'lint, and cycles of imports',
    command: [bin('oxlint/bin/oxlint'), '--deny-warnings'],
  },
  directions: {
    summary: 'which folder imports which',
    command: [join(root, 'scripts/directions.mjs')],
  },
  format: { summary: 'format', command: [bin('oxfmt/bin/oxfmt'), '--check', '.'] },
  bundles: {
    summary: 'generated bundles of the runner',
    command: [join(root, 'packages/agent-runner/bundle.mjs'), '--check'],
  },
  pages: {
    summary: 'generated script of the pages',
    command: [join(root, 'server/dashboard-bundle.mjs'), '--check'],
  },
  views: {
    summary: 'generated views of MCP Apps',
    command: [join(root, 'packages/mcp-server/bundle-views.mjs'), '--check'],
  },
  isolation: {
    summary: 'generated table of docs/isolation.md',
    command: [join(root, 'packages/sandbox/isolation-table.mjs'), '--check'],
  },
  docs: {
    summary: 'generated documents',
    command: [join(root, 'scripts/generate-docs.mjs'), '--check'],
  },
  prose: {
    summary: 'long sentences, indirect clauses, and words with another term',
    command: [join(root, 'scripts/prose/main.mjs')],
  },
  unused: {
    summary: 'unused files, exports and dependencies',
    command: [bin('knip/bin/knip.js'), '--no-progress'],
  },
  packages: {
    summary: 'the published packages, packed and used in an empty project',
    command: [join(root, 'scripts/check-packages/main.mjs')],
    isOnDemand: true,
  },
  nodes: {
    summary: 'this check and some unit tests, on Node 22, 24 and 26 (Linux)',
    command: [join(root, 'scripts/node-versions.mjs')],
    isOnDemand: true,
  },
};

const asked = process.argv.slice(2);
if (asked.includes('--help') || asked.includes('-h')) {
  const lines = Object.entries(PARTS).map(
    ([name, { summary, isOnDemand }]) =>
      `  ${name.padEnd(11)}${summary}${isOnDemand ? ' (only when named)' : ''}`,
  );
  process.stdout.write(
    `npm run check [-- part ...]\n\nBuilds, then checks without running a test:\n\n${lines.join('\n')}\n`,
  );
  process.exit(0);
}
const unknown = asked.find((name) => !Object.hasOwn(PARTS, name));
if (unknown !== undefined) {
  process.stderr.write(`Unknown part '${unknown}'. npm run check takes: ${Object.keys(PARTS).join(', ')}.\n`);
  process.exit(2);
}
const names = asked.length > 0 ? asked : Object.keys(PARTS).filter((name) => !PARTS[name].isOnDemand);
const seconds = [];
const startedAt = performance.now();
const secondsSince = (time) => (performance.now() - time) / 1_000;
await build();
seconds.push(['build', secondsSince(startedAt)]);
for (const name of names) {
  const partStartedAt = performance.now();
  process.stdout.write(`${PARTS[name].summary}\n`);
  const { status } = spawnSync(process.execPath, PARTS[name].command, { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    process.stderr.write(`npm run check -- ${name} failed.\n`);
    process.exit(status ?? 1);
  }
  seconds.push([name, secondsSince(partStartedAt)]);
}
seconds.sort(([, one], [, other]) => other - one);
seconds.push(['in all', secondsSince(startedAt)]);
process.stdout.write(
  `\n${seconds.map(([name, took]) => `${took.toFixed(1).padStart(8)} s  ${name}\n`).join('')}`,
);
