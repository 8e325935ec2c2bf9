import { readFileSync } from 'node:fs';
import { evaluatorPath, openEvaluatorPath, runnerPath, type SandboxEntry } from '@agent-rental/agent-runner';
import { DENO_MODULES } from './deno-modules.js';
import type { SandboxLimits } from '../../sandbox.js';

/** Deno asks no questions, reads no second file and fetches nothing. */
const FLAGS =
  'run --no-prompt --no-config --no-remote --no-npm --cached-only --no-lock --no-code-cache'.split(' ');

/**
 * The walls of the runtime. `closed`: code has no permission, and finds no interface of Deno or Node. The others are for
 * probes and tests of the outer walls. `permissions`: code finds all interfaces, and has no permission. `open`: code finds all
 * interfaces, and has every permission.
 */
export type RuntimeWall = 'closed' | 'permissions' | 'open';

// By default Deno denies every permission but some imports.
const PERMISSIONS: Readonly<Record<RuntimeWall, string>> = {
  closed: '--deny-import',
  permissions: '--deny-import',
  open: '--allow-all',
};

const NO_MODULE = `data:text/javascript,throw TypeError("There are no modules here.")`;
/** This text with the rest of an import is no valid address. The import fails before Deno looks for a module. */
const NOWHERE = 'data:text/javascript,/';

/**
 * Replaces every built-in module of Deno by a module that throws, and allows no other import. Some built-in modules read files
 * before they check the permission. An import shows whether a file exists, also before that check.
 */
const IMPORTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(DENO_MODULES.map((name) => [name, NO_MODULE])),
  ...Object.fromEntries(['file:///', 'http://', 'https://'].map((prefix) => [prefix, NOWHERE])),
};
const NO_MODULES = `--import-map=data:application/json,${encodeURIComponent(JSON.stringify({ imports: IMPORTS }))}`;

/**
 * The environment of Deno. It prevents these actions, which come before, or without, a check of permissions:
 * - at each start it asks dl.deno.land for a newer version, by DNS and HTTPS;
 * - WebGPU loads the drivers of the host and makes them a cache;
 * - `node:inspector` resolves the name of a host. The C library of Linux then has no attempt to ask a name server;
 * - dates read the time zone of the host. An agent's answer does not depend on where it runs.
 */
export const DENO_ENVIRONMENT: Readonly<Record<string, string>> = {
  DENO_NO_UPDATE_CHECK: '1',
  DENO_DISABLE_NODE_SHIM: '1',
  DENO_WEBGPU_BACKEND: 'none',
  RES_OPTIONS: 'attempts:0',
  TZ: 'UTC',
};

export function entryPath(entry: SandboxEntry, wall: RuntimeWall): string {
  if (entry === 'runner') return runnerPath();
  return wall === 'closed' ? evaluatorPath() : openEvaluatorPath();
}

/**
 * The main module of Deno. For the evaluator it is an address with the module's text. The path of a file would tell the
 * model's code the folders of this machine, in stacks and in errors of imports. The runner runs no code of a model, and its
 * text is longer than some systems' command lines, so it has a path.
 * @param path the path of the file for Deno.
 */
export function mainModule(entry: SandboxEntry, wall: RuntimeWall, path = entryPath(entry, wall)): string {
  if (entry === 'runner' || wall !== 'closed') return path;
  return `data:text/javascript;base64,${readFileSync(entryPath(entry, wall), 'base64')}`;
}

/**
 * The compiler is off where RLIMIT_DATA is set. With its compiler, V8 reserves 512 MiB of address space, and no useful
 * RLIMIT_DATA fits that. Objects get half of the memory: V8 gives up within seconds at its own bound. Without memory from the
 * kernel it can collect garbage for ever.
 */
function v8Flags({ memoryMb }: SandboxLimits, dataLimited: boolean): string {
  return dataLimited
    ? `--jitless,--max-heap-size=${Math.floor(memoryMb / 2)}`
    : `--max-heap-size=${memoryMb}`;
}

/**
 * The arguments with which Deno runs one file.
 * @param main the path of the file, or its text as an address.
 * @param options.dataLimited whether the process will have RLIMIT_DATA.
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
