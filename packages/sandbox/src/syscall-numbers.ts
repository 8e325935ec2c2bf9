/** Processors that the filter of system calls is written for, as Node names them. */
export type FilteredArchitecture = 'x64' | 'arm64';

type SystemCallName = keyof typeof numbers;

/**
 * Linux's numbers of the system calls that the filter names: on x86_64, and on aarch64. Null: not there.
 * From asm/unistd_64.h and asm-generic/unistd.h.
 */
const numbers = {
  accept: [43, 202],
  accept4: [288, 242],
  acct: [163, 89],
  add_key: [248, 217],
  bind: [49, 200],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  connect: [42, 203],
  delete_module: [176, 106],
  execveat: [322, 281],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fork: [57, null],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioperm: [173, null],
  iopl: [172, null],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  listen: [50, 201],
  lookup_dcookie: [212, 18],
  mbind: [237, 235],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  migrate_pages: [256, 238],
  mmap: [9, 222],
  modify_ldt: [154, null],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  mq_open: [240, 180],
  msgget: [68, 186],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  personality: [135, 92],
  pidfd_getfd: [438, 438],
  pidfd_open: [434, 434],
  pivot_root: [155, 41],
  process_madvise: [440, 440],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  semget: [64, 190],
  set_mempolicy: [238, 237],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  shmget: [29, 194],
  socket: [41, 198],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  vfork: [58, null],
  vhangup: [153, 58],
  vmsplice: [278, 75],
  socketpair: [53, 199],
} as const satisfies Record<string, readonly [x64: number | null, arm64: number | null]>;

/** The highest number that either table of this list's time has. What came later is not known here. */
export const NEWEST_KNOWN_SYSTEM_CALL = 450;

/** The number of a system call; null where the processor's kernel has no such call. */
export function systemCallNumber(name: SystemCallName, architecture: FilteredArchitecture): number | null {
  return numbers[name][architecture === 'x64' ? 0 : 1];
}

export type { SystemCallName };
