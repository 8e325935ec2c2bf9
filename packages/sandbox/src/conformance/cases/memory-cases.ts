import assert from 'node:assert/strict';
import type { JsonValue } from '@agent-rental/agent-runner';
import type { SandboxDriver } from '../../sandbox.js';
import type { ConformanceCase } from '../conformance-case.js';
import { evaluateIn, nativeLanguages, type NativeLanguage } from '../native-code.js';

const MEMORY_MB = 128;
/** Kernel memory that page tables may take: 2 MiB for each GiB that may be mapped. */
const MOST_PAGE_TABLES_MB = 136;

/**
 * Maps memory in ways that limits of data do not count, and touches it. Gives the mapped MB of each way. Stops far above every
 * limit, so that a machine without the wall survives it.
 */
const BOMBS: Readonly<Record<NativeLanguage, string>> = {
  python: `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
failed = ctypes.c_void_p(-1).value
MB = 1 << 20

def grown_down():
    got = 0
    while got < 600:
        at = libc.mmap(None, MB, 3, 0x122, -1, 0)
        if at == failed: break
        ctypes.memset(at, 1, MB)
        got += 1
    return got

# Each 2 MB that are read once take a page of page table
def sparse(size_mb):
    at = libc.mmap(None, size_mb * MB, 1, 0x4022, -1, 0)
    if at == failed: return 0
    tables = 0
    for offset in range(0, size_mb * MB, 2 * MB):
        ctypes.c_char.from_address(at + offset).value
        tables += 4096
    return tables // MB

return {"grown down": grown_down(), "page tables": max(sparse(size) for size in (128 << 10, 32 << 10, 1 << 10))}`,
  javascript: `
const { symbols } = Deno.dlopen('libc.so.6', {
  mmap: { parameters: ['usize', 'usize', 'i32', 'i32', 'i32', 'i64'], result: 'i64' },
  memset: { parameters: ['i64', 'i32', 'usize'], result: 'pointer' },
});
const MB = 1n << 20n;
let grown = 0;
for (; grown < 600; grown += 1) {
  const at = symbols.mmap(0n, MB, 3, 0x122, -1, 0n);
  if (at === -1n) break;
  symbols.memset(at, 1, MB);
}
const sparse = (sizeMb) => {
  const at = symbols.mmap(0n, BigInt(sizeMb) * MB, 1, 0x4022, -1, 0n);
  if (at === -1n) return 0;
  const view = new Deno.UnsafePointerView(Deno.UnsafePointer.create(at));
  for (let offset = 0; offset < sizeMb; offset += 2) view.getUint8(offset * 1048576);
  return sizeMb / 512;
};
return { 'grown down': grown, 'page tables': sparse(128 * 1024) };`,
};

export const memoryCases: readonly ConformanceCase[] = [
  {
    name: 'gets no memory that its limits do not count',
    threat: 'memory bomb',
    async check(driver: SandboxDriver) {
      for (const language of nativeLanguages(driver)) {
        const evaluation = await evaluateIn(driver, language, BOMBS[language], {
          limits: { memoryMb: MEMORY_MB },
        });
        assert.ok('value' in evaluation, JSON.stringify(evaluation));
        const got = evaluation.value as Record<string, JsonValue>;
        assert.equal(got['grown down'], 0, `${language}: memory that grows down`);
        assert.ok(Number(got['page tables']) < MOST_PAGE_TABLES_MB, `${language}: ${JSON.stringify(got)}`);
      }
    },
  },
];
