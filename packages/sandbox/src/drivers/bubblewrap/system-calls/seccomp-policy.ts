import type { SystemCallName } from './syscall-numbers.js';

/** A test of one argument: the bits under `mask` (default all) of one of its 32-bit halves are one of these values. */
export interface ArgumentCheck {
  argument: number;
  half?: 'low' | 'high';
  mask?: number;
  oneOf: readonly number[];
}

/** A call is allowed when all checks of one of these lists pass. */
type Alternatives = readonly (readonly ArgumentCheck[])[];

/** A system call that a sandbox may make; without `when`, with any arguments. */
export interface SystemCallRule {
  name: SystemCallName;
  when?: Alternatives;
}

// mman.h, fcntl.h, futex.h, prctl.h, sched.h, asm-generic/ioctls.h: the same values on x86_64 and aarch64.
const PROT_WRITE = 0x2;
const PROT_EXEC = 0x4;
const MAP_SHARED = 0x01;
const MAP_PRIVATE = 0x02;
const MAP_FIXED = 0x10;
const MAP_ANONYMOUS = 0x20;
const MAP_DENYWRITE = 0x800;
const MAP_EXECUTABLE = 0x1000;
const MAP_NORESERVE = 0x4000;
const MAP_STACK = 0x20000;
const MAP_FIXED_NOREPLACE = 0x100000;
const MREMAP_MAYMOVE = 0x1;
const CLONE_THREAD = 0x10000;
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0x800;
const SOCK_CLOEXEC = 0x80000;
const WRITING = 0x3 | 0x40 | 0x200; // O_ACCMODE, O_CREAT, O_TRUNC
const O_RDONLY = 0;

const [F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC] = [0, 1, 2, 3, 4, 1030];
const [TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX] = [0x5401, 0x5413, 0x541b, 0x5421, 0x5451];
const FUTEX_WAITS = { WAIT: 0, WAIT_BITSET: 9 };
const FUTEX_OTHERS = { WAKE: 1, REQUEUE: 3, CMP_REQUEUE: 4, WAKE_OP: 5, WAKE_BITSET: 10 };
const FUTEX_PRIVATE = 128;
const FUTEX_CLOCK_REALTIME = 256;
const MADV_USE = { NORMAL: 0, RANDOM: 1, SEQUENTIAL: 2, WILLNEED: 3, DONTNEED: 4, FREE: 8 };
const MADV_KIND = { DONTFORK: 10, DOFORK: 11, HUGEPAGE: 14, NOHUGEPAGE: 15, DONTDUMP: 16, DODUMP: 17 };
const PR_SET_NAME = 15;

const ALL_BITS = 0xffff_ffff;
const without = (bits: number): number => (ALL_BITS & ~bits) >>> 0;

const is = (argument: number, ...oneOf: number[]): ArgumentCheck => ({ argument, oneOf });
const none = (argument: number, mask: number): ArgumentCheck => ({ argument, mask, oneOf: [0] });
const only = (argument: number, bits: number): ArgumentCheck => none(argument, without(bits));
const isNull = (argument: number): ArgumentCheck[] =>
  (['low', 'high'] as const).map((half) => ({ argument, half, oneOf: [0] }));

const MAP_PLACES = MAP_FIXED | MAP_FIXED_NOREPLACE;
const MAP_HINTS = MAP_DENYWRITE | MAP_EXECUTABLE | MAP_NORESERVE | MAP_STACK;
const MAP_FLAGS = MAP_PRIVATE | MAP_SHARED | MAP_PLACES | MAP_HINTS;

/** Anonymous memory is private: RLIMIT_DATA does not count shared memory. None of it can be executed. */
const anonymousMemory: readonly ArgumentCheck[] = [
  none(2, PROT_EXEC),
  only(3, MAP_FLAGS | MAP_ANONYMOUS),
  { argument: 3, mask: MAP_ANONYMOUS | MAP_SHARED | MAP_PRIVATE, oneOf: [MAP_ANONYMOUS | MAP_PRIVATE] },
];
/** Memory of a file. Every file is read-only. Code comes only from files. */
const mappedFile: readonly ArgumentCheck[] = [
  { argument: 2, mask: PROT_WRITE | PROT_EXEC, oneOf: [0, PROT_WRITE, PROT_EXEC] },
  only(3, MAP_FLAGS),
  { argument: 3, mask: MAP_SHARED | MAP_PRIVATE, oneOf: [MAP_SHARED, MAP_PRIVATE] },
];

const futexOperations = [
  ...Object.values({ ...FUTEX_WAITS, ...FUTEX_OTHERS }).map((operation) => operation | FUTEX_PRIVATE),
  ...Object.values(FUTEX_WAITS),
];

const allow = (...names: SystemCallName[]): SystemCallRule[] => names.map((name) => ({ name }));
const allowWhen = (name: SystemCallName, ...when: ArgumentCheck[][]): SystemCallRule[] => [{ name, when }];

/**
 * The system calls of Deno and Python, found by a trace of the conformance suite. The list also has the older and newer forms
 * that their C libraries use on other machines. All other calls fail.
 */
export const systemCallRules: readonly SystemCallRule[] = [
  // Memory. No MAP_GROWSDOWN: RLIMIT_DATA takes it for a stack. No MAP_LOCKED, MAP_HUGETLB or MAP_DROPPABLE either.
  ...allowWhen('mmap', [...anonymousMemory], [...mappedFile]),
  ...allow('munmap', 'brk'),
  ...allowWhen('mprotect', [none(2, PROT_EXEC)]),
  ...allowWhen('mremap', [only(3, MREMAP_MAYMOVE)]),
  // No MADV_MERGEABLE: the time of a write to merged memory tells the content of other sandboxes' memory.
  ...allowWhen('madvise', [is(2, ...Object.values(MADV_USE), ...Object.values(MADV_KIND))]),

  // Threads, and no processes. A futex that is not private may be in a file that another sandbox maps, too. A sandbox may
  // wait for it, as `pthread_join` does, and not wake it.
  ...allowWhen('clone', [{ argument: 0, mask: CLONE_THREAD, oneOf: [CLONE_THREAD] }]),
  ...allowWhen('futex', [{ argument: 1, mask: without(FUTEX_CLOCK_REALTIME), oneOf: futexOperations }]),
  ...allow('set_robust_list', 'rseq', 'set_tid_address', 'arch_prctl', 'exit', 'exit_group'),
  ...allow('restart_syscall', 'sched_yield', 'sched_getaffinity', 'sched_getparam', 'sched_getscheduler'),
  ...allow('rt_sigaction', 'rt_sigprocmask', 'rt_sigreturn', 'sigaltstack', 'tgkill'),
  // Not PR_SET_PDEATHSIG: a sandbox dies with its host. Not PR_SET_MEMORY_MERGE.
  ...allowWhen('prctl', [is(0, PR_SET_NAME)]),
  // prlimit and the program start behind the filter. Limits can only be lowered.
  ...allow('execve'),
  ...allowWhen('prlimit64', [is(0, 0)]),

  // Files, only to read. Not `flock`, leases or locks of `fcntl`: other sandboxes see them on shared files.
  ...allow('read', 'readv', 'pread64', 'write', 'writev', 'lseek', 'close', 'getdents64', 'getcwd'),
  ...allowWhen('openat', [{ argument: 2, mask: WRITING, oneOf: [O_RDONLY] }]),
  ...allowWhen('open', [{ argument: 1, mask: WRITING, oneOf: [O_RDONLY] }]),
  ...allow('stat', 'lstat', 'fstat', 'newfstatat', 'statx', 'access', 'faccessat', 'faccessat2'),
  ...allow('readlink', 'readlinkat', 'dup'),
  ...allowWhen('fcntl', [is(1, F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC)]),
  // Programs ask for terminals, and there are none. Not SIOCGIF*: the network interfaces.
  ...allowWhen('ioctl', [is(1, TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX)]),

  // Waiting. Tokio and asyncio wake themselves by a pair of sockets, which have no address and send to none.
  ...allow('epoll_create1', 'epoll_ctl', 'epoll_wait', 'epoll_pwait', 'eventfd2', 'poll', 'ppoll', 'select'),
  ...allow('pselect6'),
  ...allowWhen('socketpair', [
    is(0, AF_UNIX),
    { argument: 1, mask: without(SOCK_NONBLOCK | SOCK_CLOEXEC), oneOf: [SOCK_STREAM] },
  ]),
  ...allowWhen('sendto', [...isNull(4)]),
  ...allowWhen('recvfrom', [...isNull(4)]),

  // Time, chance, and facts about the process and the machine.
  ...allow('clock_gettime', 'clock_getres', 'clock_nanosleep', 'nanosleep', 'gettimeofday', 'time', 'times'),
  ...allow('getrandom', 'getrusage', 'getpid', 'getppid', 'gettid', 'getuid', 'geteuid', 'getgid', 'getegid'),
  ...allow('uname', 'sysinfo'),
];
