import { limitArguments } from '../process/linux-launcher.js';
import type { Launch } from '../process/process-starter.js';
import type { SandboxLimits } from '../../sandbox.js';

/** User and group inside the namespace; no user of the host. */
const INNER_ID = '1000';
const PRLIMIT = '/prlimit';

const NAMESPACES = `--unshare-all --unshare-user --uid ${INNER_ID} --gid ${INNER_ID} --disable-userns
  --as-pid-1 --die-with-parent --new-session --cap-drop ALL --hostname sandbox --clearenv`.split(/\s+/);

/** The last steps. There is no /proc: it tells paths, the boot and the command line of the host. */
const LAST_STEPS = '--remount-ro / --chdir /'.split(' ');

const FILTER_DESCRIPTOR = 3;
const INFO_DESCRIPTOR = 4;

/** The parts that every hardened sandbox of this machine needs for its start. */
export interface Wall {
  bwrap: string;
  prlimit: string;
  prlimitLibraries: readonly string[];
  /** The file with the filter of system calls, as bubblewrap reads it. */
  filterPath: string;
  /** The tool that makes the pipes of a sandbox's stdio. */
  mkfifo: string;
  maxThreads: number;
  /**
   * User and group of sandboxes outside of their namespace, where the host is root and can change them. The kernel does not
   * limit the threads of root's processes.
   */
  user?: { uid: number; gid: number };
}

export interface WalledProgram {
  /** The only files of the host that it sees, read-only: the paths outside, by the paths inside. */
  files: ReadonlyMap<string, string>;
  /** Symbolic links: their targets, by their paths inside. */
  links?: ReadonlyMap<string, string>;
  /** The most megabytes of all its mappings together, read-only mappings and files included. */
  addressSpaceMb: number;
  env: Readonly<Record<string, string>>;
  /** By the paths inside. */
  command: readonly string[];
}

/**
 * The launch of a walled program:
 *
 * - It sees only its files, read-only, and can write nothing.
 * - It has new namespaces for users, processes, network, mounts, IPC, host name and cgroups.
 * - It has no capabilities and no way to get any.
 * - It has the filter of system calls and hard limits.
 * - It dies with the host.
 *
 * The limits are set inside, where they count only for this sandbox. The program is the first process of its namespace. A
 * process of bubblewrap in that namespace would have no limits, and the program could write its memory.
 *
 * @param infoPath a new file. bubblewrap records the first process and its namespace there, before that process runs.
 */
export function walledLaunch(
  wall: Wall,
  { files, links = new Map(), addressSpaceMb, env, command }: WalledProgram,
  limits: SandboxLimits,
  infoPath?: string,
): Launch {
  const all = new Map(files);
  all.set(PRLIMIT, wall.prlimit);
  for (const path of wall.prlimitLibraries) all.set(path, path);
  return {
    file: wall.bwrap,
    args: [
      ...NAMESPACES,
      ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
      ...[...all].flatMap(([inside, outside]) => ['--ro-bind', outside, inside]),
      ...[...links].flatMap(([inside, target]) => ['--symlink', target, inside]),
      ...LAST_STEPS,
      '--seccomp',
      String(FILTER_DESCRIPTOR),
      ...(infoPath === undefined ? [] : ['--info-fd', String(INFO_DESCRIPTOR)]),
      '--',
      PRLIMIT,
      ...limitArguments(limits),
      `--nproc=${wall.maxThreads}`,
      `--as=${addressSpaceMb * 1024 * 1024}`,
      '--',
      ...command,
    ],
    // `--clearenv` clears the program's environment. Other processes can read the one of bubblewrap, too.
    env: {},
    cwd: '/',
    files: [
      { descriptor: FILTER_DESCRIPTOR, path: wall.filterPath, flags: 'r' },
      ...(infoPath === undefined
        ? []
        : [{ descriptor: INFO_DESCRIPTOR, path: infoPath, flags: 'wx' } as const]),
    ],
    ...(wall.user === undefined ? {} : { user: wall.user }),
  };
}
