import { BpfAssembler } from './bpf-assembler.js';
import {
  type FilteredArchitecture,
  NEWEST_KNOWN_SYSTEM_CALL,
  type SystemCallName,
  systemCallNumber,
} from './syscall-numbers.js';

// linux/audit.h
const AUDIT_ARCHITECTURE: Readonly<Record<FilteredArchitecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

// linux/seccomp.h: what a filter answers, and where it finds what.
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const FAIL_WITH = 0x00050000;
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
/** Of the lower half of an argument; both processors are little-endian. */
const argumentOffset = (index: number): number => 16 + index * 8;

const EPERM = 1;
const ENOSYS = 38;
const CLONE_THREAD = 0x10000;
const MAP_SHARED_ANONYMOUS = 0x01 | 0x20;
const AF_UNIX = 1;

/** What neither Deno nor Python needs: ways out, and parts of the kernel that ways out were found in. */
const DENIED: readonly SystemCallName[] = [
  // Network and unix sockets. `socketpair` stays: it reaches nobody else.
  ...(['socket', 'connect', 'bind', 'listen', 'accept', 'accept4'] as const),
  // Processes, and looking into others. Threads stay.
  ...(['fork', 'vfork', 'execveat', 'ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp'] as const),
  ...(['pidfd_open', 'pidfd_getfd', 'process_madvise', 'unshare', 'setns', 'personality'] as const),
  // Memory that RLIMIT_DATA does not count.
  ...(['memfd_create', 'memfd_secret', 'shmget', 'semget', 'msgget', 'mq_open'] as const),
  // The file system's shape.
  ...(['mount', 'umount2', 'pivot_root', 'chroot', 'open_tree', 'move_mount', 'fsopen', 'fsconfig'] as const),
  ...(['fsmount', 'fspick', 'mount_setattr', 'name_to_handle_at', 'open_by_handle_at'] as const),
  ...(['quotactl', 'quotactl_fd', 'fanotify_init', 'swapon', 'swapoff', 'acct'] as const),
  // The kernel itself.
  ...(['io_uring_setup', 'io_uring_enter', 'io_uring_register', 'bpf', 'perf_event_open'] as const),
  ...(['userfaultfd', 'vmsplice', 'add_key', 'request_key', 'keyctl', 'syslog', 'reboot'] as const),
  ...(['kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module'] as const),
  ...(['mbind', 'set_mempolicy', 'migrate_pages', 'move_pages', 'lookup_dcookie'] as const),
  ...(['clock_settime', 'clock_adjtime', 'settimeofday', 'sethostname', 'setdomainname', 'vhangup'] as const),
  ...(['ioperm', 'iopl', 'modify_ldt'] as const),
];

/** True for processors that there is a filter for. */
export function hasSeccompFilter(architecture: string): architecture is FilteredArchitecture {
  return Object.hasOwn(AUDIT_ARCHITECTURE, architecture);
}

/**
 * The filter of system calls that a hardened sandbox lives behind, as `bwrap --seccomp` reads it. What is denied fails
 * with EPERM; a process that calls the kernel by another processor's table ends.
 *
 * - `clone` makes threads alone. The arguments of `clone3` cannot be looked at, so it is said not to exist, and the C
 *   library goes back to `clone`.
 * - What the list does not know yet is said not to exist, as on an older kernel.
 * - Shared anonymous memory is not counted by RLIMIT_DATA, so there is none.
 */
export function seccompFilter(architecture: FilteredArchitecture): Buffer {
  const numberOf = (name: SystemCallName): number => systemCallNumber(name, architecture) ?? -1;
  const program = new BpfAssembler()
    .load(ARCHITECTURE_OFFSET)
    .jumpIfEqual(AUDIT_ARCHITECTURE[architecture], undefined, 'kill')
    .load(NUMBER_OFFSET)
    // Also the second table of x86_64 (x32), whose numbers have bit 30 set.
    .jumpIfGreater(NEWEST_KNOWN_SYSTEM_CALL, 'missing')
    .jumpIfEqual(numberOf('clone3'), 'missing')
    .jumpIfEqual(numberOf('clone'), 'clone')
    .jumpIfEqual(numberOf('mmap'), 'mmap')
    .jumpIfEqual(numberOf('socketpair'), 'socketpair');
  for (const name of DENIED) {
    const number = systemCallNumber(name, architecture);
    if (number !== null) program.jumpIfEqual(number, 'deny');
  }
  return program
    .return(ALLOW)
    .label('clone')
    .load(argumentOffset(0))
    .and(CLONE_THREAD)
    .jumpIfEqual(CLONE_THREAD, 'allow', 'deny')
    .label('mmap')
    .load(argumentOffset(3))
    .and(MAP_SHARED_ANONYMOUS)
    .jumpIfEqual(MAP_SHARED_ANONYMOUS, 'deny', 'allow')
    .label('socketpair')
    .load(argumentOffset(0))
    .jumpIfEqual(AF_UNIX, 'allow', 'deny')
    .label('deny')
    .return(FAIL_WITH | EPERM)
    .label('missing')
    .return(FAIL_WITH | ENOSYS)
    .label('kill')
    .return(KILL_PROCESS)
    .label('allow')
    .return(ALLOW)
    .assemble();
}
