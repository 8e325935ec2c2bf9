import type { SandboxLimits } from './sandbox.js';

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

/** `open` grants every permission: for trying what holds behind it. */
export type RuntimeWall = 'closed' | 'open';

// Without a word about it, every permission but some imports is denied.
const PERMISSIONS: Readonly<Record<RuntimeWall, string>> = { closed: '--deny-import', open: '--allow-all' };

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
 * @param options.dataLimited whether the process is going to have RLIMIT_DATA.
 */
export function denoArguments(
  file: string,
  limits: SandboxLimits,
  { dataLimited, runtimeWall = 'closed' }: { dataLimited: boolean; runtimeWall?: RuntimeWall },
): string[] {
  return [...FLAGS, PERMISSIONS[runtimeWall], `--v8-flags=${v8Flags(limits, dataLimited)}`, file];
}
