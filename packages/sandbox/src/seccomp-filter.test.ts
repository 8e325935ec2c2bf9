import { describe, expect, test } from 'vitest';
import { BpfAssembler } from './bpf-assembler.js';
import { hasSeccompFilter, seccompFilter } from './seccomp-filter.js';
import { NEWEST_KNOWN_SYSTEM_CALL, type SystemCallName, systemCallNumber } from './syscall-numbers.js';

const ALLOWED = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const KILLED = 0x80000000;

interface Call {
  architecture: number;
  number: number;
  args?: readonly number[];
}

/** What the kernel's machine answers: classic BPF over `struct seccomp_data`. */
function answer(program: Buffer, { architecture, number, args = [] }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [at, value] of args.entries()) data.writeUInt32LE(value, 16 + at * 8);
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
  { name: 'x64', architecture: 0xc000003e, read: 0, execve: 59 },
  { name: 'arm64', architecture: 0xc00000b7, read: 63, execve: 221 },
] as const;

describe.each(machines)('the filter of system calls on $name', ({ name, architecture, read, execve }) => {
  const program = seccompFilter(name);
  const call = (system: SystemCallName, ...args: number[]): number =>
    answer(program, { architecture, number: systemCallNumber(system, name) ?? -1, args });

  test('lets a program compute, and be started', () => {
    expect(answer(program, { architecture, number: read })).toBe(ALLOWED);
    expect(answer(program, { architecture, number: execve })).toBe(ALLOWED);
    // MAP_PRIVATE | MAP_ANONYMOUS, and a shared view of a file
    expect(call('mmap', 0, 4096, 3, 0x22)).toBe(ALLOWED);
    expect(call('mmap', 0, 4096, 1, 0x01)).toBe(ALLOWED);
  });

  test.each([
    ...(['socket', 'connect', 'bind', 'listen', 'ptrace', 'mount', 'unshare', 'setns'] as const),
    ...(['memfd_create', 'io_uring_setup', 'bpf', 'keyctl', 'process_vm_readv', 'shmget'] as const),
  ])('denies %s', (system) => {
    expect(call(system)).toBe(EPERM);
  });

  test('lets threads be made, and no process', () => {
    const threadOfGlibc = 0x3d0f00;
    expect(call('clone', threadOfGlibc)).toBe(ALLOWED);
    expect(call('clone', 17)).toBe(EPERM);
    const newUserNamespace = 0x10000000;
    expect(call('clone', newUserNamespace)).toBe(EPERM);
    expect(call('clone3')).toBe(ENOSYS);
  });

  test('lets no memory be made that its limit does not count', () => {
    expect(call('mmap', 0, 4096, 3, 0x21)).toBe(EPERM);
    expect(call('mmap', 0, 4096, 3, 0x23)).toBe(EPERM);
  });

  test('lets socket pairs be made of unix sockets alone', () => {
    expect(call('socketpair', 1)).toBe(ALLOWED);
    expect(call('socketpair', 2)).toBe(EPERM);
  });

  test('says of what it does not know that it is not there', () => {
    expect(answer(program, { architecture, number: NEWEST_KNOWN_SYSTEM_CALL + 1 })).toBe(ENOSYS);
    const socketOfX32 = 0x40000029;
    expect(answer(program, { architecture, number: socketOfX32 })).toBe(ENOSYS);
  });

  test('ends a process that calls by the table of another processor', () => {
    const i386 = 0x40000003;
    expect(answer(program, { architecture: i386, number: read })).toBe(KILLED);
  });
});

test('there is no filter for other processors', () => {
  expect(hasSeccompFilter('arm64')).toBe(true);
  expect(hasSeccompFilter('riscv64')).toBe(false);
  expect(hasSeccompFilter('constructor')).toBe(false);
});

test('a program with a jump that cannot be made is refused', () => {
  expect(() => new BpfAssembler().jumpIfEqual(1, 'nowhere').assemble()).toThrow('nowhere');
  const backwards = new BpfAssembler().label('up').return(0).jumpIfEqual(1, 'up');
  expect(() => backwards.assemble()).toThrow('no jump');
  expect(() => new BpfAssembler().label('a').label('a')).toThrow('twice');
});
