import { readFileSync } from 'node:fs';
import { evaluatorPath, openEvaluatorPath, runnerPath, type SandboxEntry } from '@agent-rental/agent-runner';
import { DENO_MODULES } from './deno-modules.js';
import type { SandboxLimits } from '../../sandbox.js';

/** Nothing is asked for, nothing is read beside the one file, nothing is fetched. */
const FLAGS = [
  'run',
  '--no-prompt',
  '--no-config',
  '--no-remote',
  '--no-npm',
  '--cached-only',
  '--no-lock',
  '--no-code-cache',
];

/**
 * Which of the runtime's walls stand. `closed`: no permission, and code finds neither Deno's nor Node's interfaces to try
 * it with. For probes and tests of what holds behind that, `permissions`: code finds all of them, and has no permission;
 * `open`: and has every permission.
 */
export type RuntimeWall = 'closed' | 'permissions' | 'open';

// Without a word about it, every permission but some imports is denied.
const PERMISSIONS: Readonly<Record<RuntimeWall, string>> = {
  closed: '--deny-import',
  permissions: '--deny-import',
  open: '--allow-all',
};

const NO_MODULE = `data:text/javascript,throw TypeError("There are no modules here.")`;
/** No address can be made of this and what follows a prefix: the import fails before anything is looked for. */
const NOWHERE = 'data:text/javascript,/';

/**
 * Every module that Deno carries is one that throws, and nothing is looked for elsewhere: some of these modules read files
 * before they ask for the permission, and whether a file is there shows before the permission is asked for.
 */
const IMPORTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(DENO_MODULES.map((name) => [name, NO_MODULE])),
  ...Object.fromEntries(['file:///', 'http://', 'https://'].map((prefix) => [prefix, NOWHERE])),
};
const NO_MODULES = `--import-map=data:application/json,${encodeURIComponent(JSON.stringify({ imports: IMPORTS }))}`;

/**
 * What of the environment speaks to Deno. Each of these is done before, or without, a check of permissions:
 * - at each start it asks dl.deno.land for a newer version, by DNS and HTTPS;
 * - WebGPU loads the drivers of the host and makes them a cache;
 * - `node:inspector` resolves the name of a host. The C library of Linux then has no attempt at asking a name server;
 * - dates read the time zone of the host. An agent's answer does not depend on where it runs.
 */
export const DENO_ENVIRONMENT: Readonly<Record<string, string>> = {
  DENO_NO_UPDATE_CHECK: '1',
  DENO_DISABLE_NODE_SHIM: '1',
  DENO_WEBGPU_BACKEND: 'none',
  RES_OPTIONS: 'attempts:0',
  TZ: 'UTC',
};

/** The bundled file that a kind of sandbox runs behind these walls. */
export function entryPath(entry: SandboxEntry, wall: RuntimeWall): string {
  if (entry === 'runner') return runnerPath();
  return wall === 'closed' ? evaluatorPath() : openEvaluatorPath();
}

/**
 * What Deno is told to run: for the evaluator an address that carries its text, because a file's path would tell its code
 * how this machine is laid out, in every stack and in the errors of imports. The runner runs no code that it is sent, and
 * its text is longer than some systems' command lines.
 * @param path where Deno finds the file.
 */
export function mainModule(entry: SandboxEntry, wall: RuntimeWall, path = entryPath(entry, wall)): string {
  if (entry === 'runner' || wall !== 'closed') return path;
  return `data:text/javascript;base64,${readFileSync(entryPath(entry, wall), 'base64')}`;
}

/**
 * With its compiler on, V8 reserves 512 MiB of address space that count against RLIMIT_DATA: no useful limit fits, so
 * where that limit is set, the compiler is off. Objects get half of the memory: V8 that reaches its own bound gives up
 * within seconds, while V8 that is refused memory by the kernel can collect garbage for ever.
 */
function v8Flags({ memoryMb }: SandboxLimits, dataLimited: boolean): string {
  return dataLimited
    ? `--jitless,--max-heap-size=${Math.floor(memoryMb / 2)}`
    : `--max-heap-size=${memoryMb}`;
}

/**
 * The arguments with which Deno runs one file.
 * @param main the path of the file, or its text as an address.
 * @param options.dataLimited whether the process is going to have RLIMIT_DATA.
 */
export function denoArguments(
  main: string,
  entry: SandboxEntry,
  limits: SandboxLimits,
  { dataLimited, runtimeWall }: { dataLimited: boolean; runtimeWall: RuntimeWall },
): string[] {
  return [
    ...FLAGS,
    PERMISSIONS[runtimeWall],
    ...(runtimeWall === 'closed' && entry === 'evaluator' ? [NO_MODULES] : []),
    `--v8-flags=${v8Flags(limits, dataLimited)}`,
    main,
  ];
}
