import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDenoDriver, evaluateInSandbox, locateDenoBinary } from '@agent-rental/sandbox';
import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import {
  judge,
  knownBehindTheKernel,
  type KnownReach,
  knownOfTheInterfaces,
  knownOfTheLanguage,
} from './known-reaches.js';
import { openTracedSandboxes, type Surroundings, sweepLanguage, sweepNamespace } from './sweep.js';
import type { Reach } from './traced-calls.js';

async function modulesOfDeno(): Promise<string[]> {
  const stateDir = await mkdtemp(join(tmpdir(), 'sweep-'));
  const driver = await createDenoDriver({ stateDir, runtimeWall: 'permissions' });
  const pool = { take: () => driver.start({ entry: 'evaluator' }) };
  const code = `return (await import('node:module')).builtinModules.map((name) => 'node:' + name.replace(/^node:/, ''))`;
  const evaluation = await evaluateInSandbox(pool, { code, task: 'x' }, { timeoutMs: 30_000 });
  await driver.close();
  await rm(stateDir, { recursive: true });
  if (!('value' in evaluation)) throw new Error(evaluation.error);
  return evaluation.value as string[];
}

async function sweep(surroundings: Surroundings, namespaces: readonly string[]) {
  const traced = await openTracedSandboxes(surroundings, locateDenoBinary());
  const reaches: Reach[] = [];
  try {
    reaches.push(...(await sweepLanguage(traced)));
    for (const namespace of namespaces) {
      process.stderr.write(`${surroundings}: ${namespace}\n`);
      reaches.push(...(await sweepNamespace(traced, namespace)));
    }
  } finally {
    await traced.close();
  }
  return reaches;
}

function report(title: string, reaches: readonly Reach[], known: readonly KnownReach[]): number {
  const { named, unknown } = judge(reaches, known);
  process.stdout.write(`\n${title}\n`);
  const first = (apis: Set<string>, count: number) => [...apis].toSorted().slice(0, count).join(', ');
  for (const [what, apis] of named) process.stdout.write(`  named: ${what}: ${first(apis, 8)}\n`);
  for (const [call, apis] of unknown) process.stdout.write(`  NOT NAMED: ${call} (${first(apis, 4)})\n`);
  process.stdout.write(`  ${unknown.size} calls that docs/isolation.md does not name\n`);
  return unknown.size;
}

const { positionals: asked } = readCommandLine({
  command: 'npm run battery -- deno-apis',
  summary: `Calls all interfaces of Deno.*, node:* and the web in sandboxes of level runtime and kernel. Lists the system calls
that reach the machine before a check of permissions. Run it at each upgrade of Deno, on Linux with strace and bubblewrap;
it takes minutes. Ends with 1 when docs/isolation.md does not name a call, or the kernel's isolation lets one through.`,
  options: {},
  positionals: 'namespace ...',
});
const namespaces = asked.length > 0 ? asked : ['globalThis', 'Deno', ...(await modulesOfDeno())];
const known = [...knownOfTheLanguage, ...knownOfTheInterfaces];
const evaluator = await sweep('evaluator', ['globalThis', 'Deno']);
const permissions = await sweep('permissions', namespaces);
const kernel = (await sweep('kernel', namespaces)).filter(({ succeeded }) => succeeded);
const bad =
  report('Code in the evaluator, level runtime', evaluator, knownOfTheLanguage) +
  report('Code with all interfaces, without permissions, level runtime', permissions, known) +
  report('The same at level kernel: calls that succeeded', kernel, knownBehindTheKernel);
process.exitCode = bad === 0 ? 0 : 1;
