import { describe, expect, test } from 'vitest';
import { BpfAssembler } from './bpf-assembler.js';
import { hostileSystemCalls } from '../../../conformance/hostile-system-calls.js';
import { hasSeccompFilter, seccompFilter } from './seccomp-filter.js';
import { systemCallRules } from './seccomp-policy.js';
import { type SystemCallName, systemCallNames, systemCallNumber } from './syscall-numbers.js';

const ALLOWED = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const KILLED = 0x80000000;
/** The kernel's bound for one filter. */
const MOST_INSTRUCTIONS = 4_096;

interface Call {
  architecture: number;
  number: number;
  args?: readonly (number | bigint)[];
}

/** The answer of the kernel's machine: classic BPF over `struct seccomp_data`. */
function answer(program: Buffer, { architecture, number, args = [] }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [at, value] of args.entries())
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + at * 8);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const value = program.readUInt32LE(at * 8 + 4);
    const [then, otherwise] = [program[at * 8 + 2] ?? 0, program[at * 8 + 3] ?? 0];
    switch (program.readUInt16LE(at * 8)) {
      case 0x20:
        accumulator = data.readUInt32LE(value);
        break;
      case 0x54:
        accumulator = (accumulator & value) >>> 0;
        break;
      case 0x05:
        at += value;
        break;
      case 0x15:
        at += accumulator === value ? then : otherwise;
        break;
      case 0x25:
        at += accumulator > value ? then : otherwise;
        break;
      case 0x06:
        return value;
      default:
        throw new Error('no such instruction');
    }
  }
  throw new Error('the program has no end');
}

const machines = [
  { name: 'x64', architecture: 0xc000003e },
  { name: 'arm64', architecture: 0xc00000b7 },
] as const;

describe.each(machines)('the filter of system calls on $name', ({ name, architecture }) => {
  const program = seccompFilter(name);
  const byNumber = (number: number, ...args: (number | bigint)[]): number =>
    answer(program, { architecture, number, args });
  const call = (system: SystemCallName, ...args: (number | bigint)[]): number =>
    byNumber(systemCallNumber(system, name) ?? Number.NaN, ...args);

  test('fits into the kernel', () => {
    expect(program.length / 8).toBeLessThan(MOST_INSTRUCTIONS);
  });

  test('allows calls that the rules name without conditions', () => {
    const plain = systemCallRules.filter(
      (rule) => rule.when === undefined && systemCallNumber(rule.name, name) !== null,
    );
    expect(plain.length).toBeGreaterThan(50);
    for (const rule of plain) expect(call(rule.name), rule.name).toBe(ALLOWED);
  });

  test('fails every other call with any arguments: with ENOSYS for new calls, which programs can do without [EXE-43]', () => {
    const allowed = new Set(systemCallNames.map((system) => systemCallNumber(system, name)));
    for (let number = 0; number < 1_000; number += 1) {
      if (allowed.has(number)) continue;
      expect(byNumber(number), `call ${number}`).toBe(number < 424 ? EPERM : ENOSYS);
      expect(byNumber(number, 1, 1, 1, 1, 1, 1), `call ${number}`).toBe(number < 424 ? EPERM : ENOSYS);
    }
    const readOfX32 = 0x40000000;
    expect(byNumber(readOfX32)).toBe(ENOSYS);
    const clone3 = 435;
    expect(byNumber(clone3)).toBe(ENOSYS);
  });

  test.each(hostileSystemCalls.filter((attempt) => attempt[name] !== null))(
    'fails $what',
    ({ [name]: number, args }) => {
      const words = args.map((argument) => (typeof argument === 'number' ? argument : 0x7f00_0000_1000n));
      expect([EPERM, ENOSYS]).toContain(byNumber(number ?? Number.NaN, ...words));
    },
  );

  test('lets threads be made, and no process', () => {
    const threadOfGlibc = 0x3d0f00;
    expect(call('clone', threadOfGlibc)).toBe(ALLOWED);
    expect(call('clone', 17)).toBe(EPERM);
    const newUserNamespace = 0x10000000;
    expect(call('clone', newUserNamespace)).toBe(EPERM);
  });

  test('lets memory be mapped that its limits count, and code from files alone', () => {
    const [read, readWrite, readExecute, all] = [1, 3, 5, 7];
    const [shared, privately, anonymous, growsDown] = [0x01, 0x02, 0x20, 0x100];
    const file = 5;
    expect(call('mmap', 0, 4096, readWrite, privately | anonymous, 2n ** 64n - 1n, 0)).toBe(ALLOWED);
    expect(call('mmap', 0, 4096, read, shared, file, 0)).toBe(ALLOWED);
    expect(call('mmap', 0, 4096, readExecute, privately, file, 0)).toBe(ALLOWED);
    for (const [protection, flags] of [
      [readWrite, shared | anonymous],
      [readWrite, shared | privately | anonymous],
      [read, shared | anonymous],
      [readWrite, privately | anonymous | growsDown],
      [readExecute, privately | anonymous],
      [all, privately],
    ] as const) {
      expect(call('mmap', 0, 4096, protection, flags, file, 0), `${protection} ${flags}`).toBe(EPERM);
    }
    expect(call('mprotect', 0, 4096, readWrite)).toBe(ALLOWED);
    expect(call('mprotect', 0, 4096, readExecute)).toBe(EPERM);
  });

  test('lets files be opened to be read', () => {
    const [readOnly, writeOnly, readWrite, create, cloexec] = [0, 1, 2, 0x40, 0x80000];
    expect(call('openat', 0, 0, readOnly | cloexec)).toBe(ALLOWED);
    for (const flags of [writeOnly, readWrite, readOnly | create]) {
      expect(call('openat', 0, 0, flags)).toBe(EPERM);
    }
  });

  test('lets a pair of sockets talk to itself, and to no address', () => {
    const [unix, inet, stream, datagram, flags] = [1, 2, 1, 2, 0x80800];
    expect(call('socketpair', unix, stream | flags)).toBe(ALLOWED);
    expect(call('socketpair', inet, stream)).toBe(EPERM);
    expect(call('socketpair', unix, datagram)).toBe(EPERM);
    expect(call('sendto', 5, 0, 1, 0, 0, 0)).toBe(ALLOWED);
    expect(call('sendto', 5, 0, 1, 0, 0x1000, 16)).toBe(EPERM);
    expect(call('sendto', 5, 0, 1, 0, 0x7f00_0000_0000n, 16)).toBe(EPERM);
  });

  test('lets a thread wait for another, and wake none outside of the process', () => {
    const [wait, wake, waitBitset, isPrivate, realtime] = [0, 1, 9, 128, 256];
    expect(call('futex', 0, wake | isPrivate)).toBe(ALLOWED);
    expect(call('futex', 0, wait | isPrivate | realtime)).toBe(ALLOWED);
    expect(call('futex', 0, waitBitset | realtime), 'pthread_join').toBe(ALLOWED);
    expect(call('futex', 0, wake)).toBe(EPERM);
  });

  test('lets its own limits be lowered, and no one else be looked at', () => {
    expect(call('prlimit64', 0, 7, 0, 0)).toBe(ALLOWED);
    expect(call('prlimit64', 1, 7, 0, 0)).toBe(EPERM);
  });

  test('ends a process that calls by the table of another processor', () => {
    const i386 = 0x40000003;
    expect(answer(program, { architecture: i386, number: 0 })).toBe(KILLED);
  });
});

test('there is no filter for other processors', () => {
  expect(hasSeccompFilter('arm64')).toBe(true);
  expect(hasSeccompFilter('riscv64')).toBe(false);
  expect(hasSeccompFilter('constructor')).toBe(false);
});

test('every system call of the list is one of the rules, once', () => {
  expect(systemCallRules.map(({ name }) => name).toSorted()).toEqual(systemCallNames.toSorted());
});

test('a program with a jump that cannot be made is refused', () => {
  expect(() => new BpfAssembler().jumpIfEqual(1, 'nowhere').assemble()).toThrow('nowhere');
  const backwards = new BpfAssembler().label('up').return(0).jumpIfEqual(1, 'up');
  expect(() => backwards.assemble()).toThrow('no jump');
  expect(() => new BpfAssembler().label('a').label('a')).toThrow('twice');
});
