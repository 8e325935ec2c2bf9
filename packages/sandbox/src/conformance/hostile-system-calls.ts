import type { Threat } from './threats.js';

/**
 * An argument of a call:
 *
 * - `file`: a read-only descriptor of a file that all sandboxes share.
 * - `pair`: one of a pair of sockets.
 * - `zeros`: the address of 4 KiB of zeros.
 * - Any other text: the address of that text.
 */
export type CallArgument = number | 'file' | 'pair' | 'zeros' | `"${string}"`;

/** A call of the kernel that no sandbox may make. With these arguments an open kernel would do it. */
export interface HostileSystemCall {
  what: string;
  threat: Threat;
  /** Its number; null where the processor's kernel has no such call. */
  x64: number | null;
  arm64: number | null;
  args: readonly CallArgument[];
}

type Attempt = readonly [
  what: string,
  numbers: readonly [x64: number | null, arm64: number | null],
  args: readonly CallArgument[],
];

const PAGE = 4_096;
const SELF = 0;
const NOW = -100; // AT_FDCWD
const CONT = 18;
const [UNIX, INET, STREAM, DATAGRAM] = [1, 2, 1, 2];
const [READ, WRITE, EXEC] = [1, 2, 4];
const [SHARED, PRIVATE, ANONYMOUS, GROWSDOWN, LOCKED, HUGETLB] = [1, 2, 0x20, 0x100, 0x2000, 0x40000];
const prctl = [157, 167] as const;
const ioctl = [16, 29] as const;
const fcntl = [72, 25] as const;
const mmap = [9, 222] as const;
const madvise = [28, 233] as const;
const clone = [56, 220] as const;
const getsockopt = [55, 209] as const;

const attempts: Partial<Record<Threat, readonly Attempt[]>> = {
  'network: TCP, UDP, DNS, unix sockets, metadata address': [
    ['a socket', [41, 198], [INET, STREAM, 0]],
    ['a unix socket', [41, 198], [UNIX, STREAM, 0]],
    ['a netlink socket', [41, 198], [16, 3, 0]],
    ['a pair of datagram sockets', [53, 199], [UNIX, DATAGRAM, 0, 'zeros']],
    ['connecting', [42, 203], ['pair', 'zeros', 16]],
    ['binding', [49, 200], ['pair', 'zeros', 2]],
    ['listening', [50, 201], ['pair', 1]],
    ['sending to an address', [44, 206], ['pair', 'zeros', 1, 0, 'zeros', 2]],
    ['sending descriptors', [46, 211], ['pair', 'zeros', 0]],
    ['receiving descriptors', [47, 212], ['pair', 'zeros', 0x40]],
  ],
  'the host behind stdio: its interfaces, addresses and process': [
    ['the list of network interfaces', ioctl, ['pair', 0x8912, 'zeros']],
    ['the list of network interfaces, through stdin', ioctl, [0, 0x8912, 'zeros']],
    ['an index of an interface, through stdin', ioctl, [0, 0x8933, '"lo"']],
    ['an address of an interface, through stdout', ioctl, [1, 0x8915, '"lo"']],
    ['the process behind stdin', getsockopt, [0, 1, 17, 'zeros', '"\\x0c"']],
    ['a descriptor of the process behind stdin', getsockopt, [0, 1, 77, 'zeros', '"\\x04"']],
    ['the process behind a pair', getsockopt, ['pair', 1, 17, 'zeros', '"\\x0c"']],
    ['the name of stdin', [51, 204], [0, 'zeros', '"\\x10"']],
    ['larger buffers', [54, 208], ['pair', 1, 7, '"\\xff\\xff\\xff"', 4]],
    ['a larger pipe', fcntl, [0, 1031, 1 << 20]],
  ],
  signals: [
    ['signalling all', [62, 129], [-1, CONT]],
    ['signalling itself', [62, 129], [1, 0]],
    ['signalling a thread', [200, 130], [1, 0]],
    ['a queued signal', [129, 138], [1, CONT, 'zeros']],
    ['a signal by descriptor', [424, 424], ['file', 0, 0, 0]],
    ['a descriptor of a process', [434, 434], [1, 0]],
    ['a descriptor of signals', [289, 74], [-1, 'zeros', 8, 0]],
    ['a signal when a pair is written to', fcntl, ['pair', 8, 1]],
  ],
  'fork bomb': [
    ['fork', [57, null], []],
    ['vfork', [58, null], []],
    ['clone', clone, [17, 0, 0, 0, 0]],
    ['a new namespace by clone', clone, [0x10000000 | 17, 0, 0, 0, 0]],
    ['clone3', [435, 435], ['zeros', 88]],
    ['a new namespace', [272, 97], [0x10000000]],
    ['the namespace of a file', [308, 268], ['file', 0]],
  ],
  'processes of the machine, `/proc`': [
    ['ptrace of the parent', [101, 117], [0, 0, 0, 0]],
    ['reading memory of a process', [310, 270], [1, 'zeros', 0, 'zeros', 0, 0]],
    ['writing memory of a process', [311, 271], [1, 'zeros', 0, 'zeros', 0, 0]],
    ['comparing processes', [312, 272], [1, 1, 0, 0, 1]],
    ['limits of another process', [302, 261], [1, 7, 0, 'zeros']],
    ['the host file system, by a file', [138, 44], ['file', 'zeros']],
    ['the host file system, by a path', [137, 43], ['"/"', 'zeros']],
    ['pages of the host in memory', [27, 232], [0x10000, 0, 'zeros']],
    ["the kernel's log", [103, 116], [10, 0, 0]],
  ],
  'memory bomb': [
    ['memory that grows down', mmap, [0, PAGE, READ | WRITE, PRIVATE | ANONYMOUS | GROWSDOWN, -1, 0]],
    ['shared memory', mmap, [0, PAGE, READ | WRITE, SHARED | ANONYMOUS, -1, 0]],
    ['locked memory', mmap, [0, PAGE, READ | WRITE, PRIVATE | ANONYMOUS | LOCKED, -1, 0]],
    ['huge pages', mmap, [0, 1 << 21, READ | WRITE, PRIVATE | ANONYMOUS | HUGETLB, -1, 0]],
    ['a file in memory', [319, 279], ['"x"', 0]],
    ['a secret file in memory', [447, 447], [0]],
    ['System V memory', [29, 194], [0, PAGE, 0o1600]],
    ['System V messages', [68, 186], [0, 0o1600]],
    ['System V semaphores', [64, 190], [0, 1, 0o1600]],
    ['a message queue', [240, 180], ['"q"', 0o102, 0o600, 0]],
    ['a pipe', [293, 59], ['zeros', 0]],
    ['pages in a pipe', [278, 75], [1, 'zeros', 0, 0]],
    ['locking all memory', [151, 230], [2]],
    ['a handler of page faults', [323, 282], [1]],
  ],
  'quotas of the whole machine': [
    ['slots of asynchronous input and output', [206, 0], [1, 'zeros']],
    ['an io_uring', [425, 425], [1, 'zeros']],
    ['writing all to disk', [162, 81], []],
    ['writing a file system to disk', [306, 267], ['file']],
    ['writing a file to disk', [74, 82], ['file']],
    ['a watch for changes of files', [294, 26], [0]],
    ['a watch for all files', [300, 262], [0, 0]],
    ['a timer with a signal', [222, 107], [0, 0, 'zeros']],
    ['a timer with a descriptor', [283, 85], [1, 0]],
    ['a key', [248, 217], ['"user"', '"k"', 'zeros', 1, -2]],
    ['a place in a keyring', [250, 219], [0, -3, 1]],
    ['a counter of the processor', [298, 241], ['zeros', 0, -1, -1, 0]],
    ['a program for the kernel', [321, 280], [0, 'zeros', 72]],
    ['another filter of system calls', [317, 277], [1, 0, 'zeros']],
    ['another priority', [141, 140], [0, SELF, 1]],
    ['another scheduler', [144, 119], [SELF, 3, 'zeros']],
    ['other processors', [203, 122], [SELF, 8, '"\\x01"']],
    ['another priority of input and output', [251, 30], [1, SELF, (3 << 13) | 7]],
    ['reading ahead of a file', [187, 213], ['file', 0, PAGE]],
    ['dropping a file from memory', [221, 223], ['file', 0, 0, 4]],
    ['huge mappings written at once', [28, 233], [0, 0, 23]],
  ],
  'other sandboxes': [
    ['a lock on a shared file', [73, 32], ['file', 1]],
    ['a lock of a part of a shared file', fcntl, ['file', 6, '"\\x00\\x00"']],
    ['a lock by descriptor of a shared file', fcntl, ['file', 37, '"\\x00\\x00"']],
    ['a lease of a shared file', fcntl, ['file', 1024, 0]],
    ['being told of changes', fcntl, ['file', 1026, 0]],
    ['waking others through a shared file', [202, 98], ['zeros', 1, 1, 0, 0, 0]],
    ['memory merged with other sandboxes', madvise, [0, 0, 12]],
    ['all memory merged with other sandboxes', prctl, [67, 1, 0, 0, 0]],
  ],
  'undoing what ends it with the server': [
    ['no signal at the death of its parent', prctl, [1, 0, 0, 0, 0]],
    ['another signal at the death of its parent', prctl, [1, CONT, 0, 0, 0]],
    ['being the parent of orphans', prctl, [36, 1, 0, 0, 0]],
    ['another command line', prctl, [35, 8, 0, 0, 0]],
  ],
  'native code': [
    ['executable memory', mmap, [0, PAGE, READ | EXEC, PRIVATE | ANONYMOUS, -1, 0]],
    ['writable and executable memory', mmap, [0, PAGE, READ | WRITE | EXEC, PRIVATE | ANONYMOUS, -1, 0]],
    ['a file mapped to be changed and executed', mmap, [0, PAGE, READ | WRITE | EXEC, PRIVATE, 'file', 0]],
    ['making memory executable', [10, 226], [0, 0, READ | EXEC]],
    ['making memory executable by a key', [329, 288], [0, 0, READ | EXEC, -1]],
    ['another personality', [135, 92], [0x0400000]],
    ['executing a descriptor', [322, 281], ['file', '""', 'zeros', 'zeros', 0x1000]],
    ['loading a module', [313, 273], ['file', '""', 0]],
  ],
  'filling the disk or its inodes': [
    ['opening a file to write', [257, 56], [NOW, '"/app/new"', 0o101, 0o600]],
    ['opening a folder as a file to write', [257, 56], [NOW, '"/"', 0x410002, 0o600]],
    ['a folder', [258, 34], [NOW, '"/app/new"', 0o700]],
    ['a link', [266, 36], ['"x"', NOW, '"/app/new"']],
    ['a device', [259, 33], [NOW, '"/app/new"', 0o010600, 0]],
    ['removing', [263, 35], [NOW, '"/app"', 0x200]],
    ['renaming', [316, 276], [NOW, '"/app"', NOW, '"/new"', 0]],
    ['a changed mode', [268, 53], [NOW, '"/app"', 0o777]],
    ['a changed time', [280, 88], [NOW, '"/app"', 0, 0]],
    ['mounting', [165, 40], ['"none"', '"/app"', '"tmpfs"', 0, 0]],
    ['unmounting', [166, 39], ['"/app"', 2]],
    ['another root', [161, 51], ['"/app"']],
    ['a copy of the mounts', [428, 428], [NOW, '"/"', 1]],
    ['a new file system', [430, 430], ['"tmpfs"', 0]],
    ['a file by its handle', [303, 264], [NOW, '"/"', 'zeros', 'zeros', 0]],
  ],
};

/** System calls that native code may not make, by their threat. */
export const hostileSystemCalls: readonly HostileSystemCall[] = Object.entries(attempts).flatMap(
  ([threat, list]) =>
    list.map(([what, [x64, arm64], args]) => ({ what, threat: threat as Threat, x64, arm64, args })),
);
