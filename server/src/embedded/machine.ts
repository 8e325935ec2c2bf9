import { StartError } from '../platform/start-error.js';

/** The properties of a machine that decide which native builds it can use. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** Of Linux alone. */
  readonly libc: 'glibc' | 'musl' | undefined;
}

/** Native parts of the embedded default, with the machines that their makers name builds for. */
const NATIVE_PARTS = [
  {
    name: 'PostgreSQL',
    builds: ['linux-x64-glibc', 'linux-arm64-glibc', 'darwin-x64', 'darwin-arm64', 'win32-x64'],
  },
  {
    name: 'the local chain (LiteSVM)',
    builds: [
      'linux-x64-glibc',
      'linux-arm64-glibc',
      'linux-x64-musl',
      'linux-arm64-musl',
      'darwin-x64',
      'darwin-arm64',
    ],
  },
  {
    name: 'the sandbox (Deno)',
    builds: [
      'linux-x64-glibc',
      'linux-arm64-glibc',
      'darwin-x64',
      'darwin-arm64',
      'win32-x64',
      'win32-arm64',
    ],
  },
] as const;

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  const { platform, arch } = process;
  return { platform, arch, libc: platform === 'linux' ? findLibc() : undefined };
}

function findLibc(): 'glibc' | 'musl' {
  // Else the report looks up the name of each open connection.
  (process.report as { excludeNetwork?: boolean }).excludeNetwork = true;
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

/** The parts of the embedded default that have no build for a machine. */
export function missingParts({ platform, arch, libc }: Machine): string[] {
  const machine = [platform, arch, ...(libc === undefined ? [] : [libc])].join('-');
  return NATIVE_PARTS.filter(({ builds }) => !builds.some((build) => build === machine)).map(
    ({ name }) => name,
  );
}

/** @throws StartError where a part of the embedded default has no build for a machine, with the remedy. */
export function requireMachine(machine: Machine): void {
  const missing = missingParts(machine);
  if (missing.length === 0) return;
  const { platform, arch, libc } = machine;
  const where = platform === 'win32' ? 'Windows' : libc === 'musl' ? 'Linux with musl (Alpine)' : platform;
  const instead =
    platform === 'win32'
      ? 'Use WSL 2 with Debian or Ubuntu'
      : 'Use a Linux with glibc (Debian, Ubuntu) or macOS, on x64 or arm64';
  throw new StartError(
    `On ${where}, ${arch}, there is no build of ${missing.join(', of ')}. ${instead}; or set DATABASE_URL and the other ` +
      'production parts, with SANDBOX_DRIVER=e2b, which need none of them.',
  );
}
