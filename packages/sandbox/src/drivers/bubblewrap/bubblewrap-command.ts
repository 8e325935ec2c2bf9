import { limitArguments } from '../process/linux-launcher.js';
import type { Launch } from '../process/process-starter.js';
import type { SandboxLimits } from '../../sandbox.js';

/** User and group inside the namespace; no user of the host. */
const INNER_ID = '1000';
const PRLIMIT = '/prlimit';

const NAMESPACES = `--unshare-all --unshare-user --uid ${INNER_ID} --gid ${INNER_ID} --disable-userns
  --as-pid-1 --die-with-parent --new-session --cap-drop ALL --hostname sandbox --clearenv`.split(/\s+/);

/** After everything is in place. There is no /proc: it tells paths, the boot and the command line of the host. */
const LAST_STEPS = '--remount-ro / --chdir /'.split(' ');

const FILTER_DESCRIPTOR = 3;
const INFO_DESCRIPTOR = 4;

/** What every hardened sandbox of this machine is started with. */
export interface Wall {
  /** The executable of bubblewrap. */
  bwrap: string;
  prlimit: string;
  /** Shared libraries of prlimit. */
  prlimitLibraries: readonly string[];
  /** The file with the filter of system calls, as bubblewrap reads it. */
  filterPath: string;
  /** The tool that makes the pipes of a sandbox's stdio. */
  mkfifo: string;
  /** Threads of one sandbox. */
  maxThreads: number;
  /**
   * User and group of sandboxes outside of their namespace, where the host is root and can change them. The kernel
   * does not limit the threads of root's processes.
   */
  user?: { uid: number; gid: number };
}

/** The program behind the wall. */
export interface WalledProgram {
  /** All that it sees of the host, read-only: by its path inside, the path outside. */
  files: ReadonlyMap<string, string>;
  /** Symbolic links: by their path inside, where they lead. */
  links?: ReadonlyMap<string, string>;
  /** All of its mappings together, readable ones and files included, may have this many megabytes. */
  addressSpaceMb: number;
  env: Readonly<Record<string, string>>;
  /** By the paths inside. */
  command: readonly string[];
}

/**
 * How to start a program that sees nothing but its own files, in namespaces of its own (users, processes, network,
 * mounts, IPC, host name, cgroups), without capabilities or a way to get any, with nothing to write to, behind the
 * filter of system calls and with hard limits. It dies with the host.
 *
 * The limits are set inside: there they count for this sandbox alone. The program is the first process of its
 * namespace: a process of bubblewrap's beside it would have none of these limits, and its memory could be written.
 *
 * @param infoPath a new file in which bubblewrap writes down the first process and its namespace, before it lets it run.
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
    // `--clearenv` is for the program; bubblewrap itself can be looked at, too.
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
