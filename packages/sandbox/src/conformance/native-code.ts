import assert from 'node:assert/strict';
import type { Evaluation } from '@agent-rental/agent-runner';
import { evaluateInSandbox } from '../protocol/evaluate-in-sandbox.js';
import type { SandboxDriver, SandboxLimits } from '../sandbox.js';
import type { CallArgument, HostileSystemCall } from './hostile-system-calls.js';

const TIMEOUT_MS = 60_000;

/** A language in which code of a sandbox can make any system call. */
export type NativeLanguage = 'python' | 'javascript';

/**
 * The languages in which a driver's code can make any system call on this machine's kernel. At level `runtime` there is none,
 * and a separate machine has a separate kernel.
 */
export function nativeLanguages({ isolation, capabilities }: SandboxDriver): NativeLanguage[] {
  if (isolation !== 'kernel' || capabilities === undefined) return [];
  return [
    ...(capabilities.python ? (['python'] as const) : []),
    ...(capabilities.nativeJavaScript === true ? (['javascript'] as const) : []),
  ];
}

export function evaluateIn(
  driver: SandboxDriver,
  language: NativeLanguage,
  code: string,
  { limits = {}, timeoutMs = TIMEOUT_MS }: { limits?: Partial<SandboxLimits>; timeoutMs?: number } = {},
): Promise<Evaluation> {
  const pool = { take: () => driver.start({ entry: 'evaluator', language, limits }) };
  return evaluateInSandbox(pool, { code, task: 'the task' }, { timeoutMs });
}

/** The calls that the kernel did for code of a driver, in any language. */
export async function callsDone(
  driver: SandboxDriver,
  calls: readonly HostileSystemCall[],
): Promise<string[]> {
  const done: string[] = [];
  for (const language of nativeLanguages(driver)) {
    const code = language === 'python' ? inPython(calls) : inJavaScript(calls);
    const evaluation = await evaluateIn(driver, language, code);
    assert.ok('value' in evaluation && Array.isArray(evaluation.value), JSON.stringify(evaluation));
    done.push(...evaluation.value.map((what) => `${what as string} (${language})`));
  }
  return done;
}

/** Statements that make the calls, in any language. */
function statementsOf(
  calls: readonly HostileSystemCall[],
  wordOf: (argument: CallArgument) => string,
): string {
  return calls
    .flatMap(({ what, args, ...numbers }) => {
      const number = numbers[process.arch === 'arm64' ? 'arm64' : 'x64'];
      return number === null
        ? []
        : [`call(${[JSON.stringify(what), number, ...args.map(wordOf)].join(', ')})`];
    })
    .join('\n');
}

function inPython(calls: readonly HostileSystemCall[]): string {
  const wordOf = (argument: CallArgument): string => {
    if (typeof argument === 'number' || argument === 'file' || argument === 'pair') {
      return `ctypes.c_long(${argument})`;
    }
    return argument === 'zeros' ? 'text(b"")' : `text(b${argument})`;
  };
  return `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
file = os.open("/app/evaluator.py", os.O_RDONLY)
ends = socket.socketpair()
pair = ends[0].fileno()
def text(value):
    return ctypes.create_string_buffer(value, 4096)
done = []
def call(what, number, *arguments):
    if libc.syscall(ctypes.c_long(number), *arguments) != -1:
        done.append(what)
${statementsOf(calls, wordOf)}
return done`;
}

function inJavaScript(calls: readonly HostileSystemCall[]): string {
  const wordOf = (argument: CallArgument): string => {
    if (typeof argument === 'number') return `${argument}n`;
    if (argument === 'file' || argument === 'pair') return argument;
    return `text(${argument === 'zeros' ? '""' : argument})`;
  };
  return `
const { symbols } = Deno.dlopen('libc.so.6', {
  syscall: { parameters: Array(7).fill('i64'), result: 'i64' },
  open: { parameters: ['buffer', 'i32'], result: 'i32' },
  socketpair: { parameters: ['i32', 'i32', 'i32', 'buffer'], result: 'i32' },
});
const held = [];
const buffer = (value) => {
  const bytes = new Uint8Array(4096);
  bytes.set(Uint8Array.from(value, (character) => character.charCodeAt(0)));
  held.push(bytes);
  return bytes;
};
const text = (value) => BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(buffer(value))));
const file = BigInt(symbols.open(buffer('/app/runner.mjs'), 0));
const ends = new Int32Array(2);
symbols.socketpair(1, 1, 0, new Uint8Array(ends.buffer));
const pair = BigInt(ends[0]);
const done = [];
const call = (what, number, ...rest) => {
  const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n] = rest;
  if (symbols.syscall(BigInt(number), a, b, c, d, e, f) !== -1n) done.push(what);
};
${statementsOf(calls, wordOf)}
return done;`;
}
