import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonEnvironment } from '@agent-rental/test/support/toolchains/python-environment';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MOST_LIMIT = 16_384;

/** Podman with separate storage, and a `docker` command that calls it. */
export type Engine = Awaited<ReturnType<typeof openEngine>>;

/**
 * Podman's configuration:
 * - Images and containers are separate from the machine's.
 * - The limits are set, because Podman asks for more open files and processes than a machine may allow.
 * - The runtime is runc. crun refuses limits where both versions of cgroups have controllers.
 */
const containersConf = (folder: string, [files, processes]: number[]) => `[containers]
default_ulimits = ["nofile=${files}:${files}", "nproc=${processes}:${processes}"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
`;

const storageConf = (folder: string) => `[storage]
driver = "overlay"
graphroot = "${folder}/images"
runroot = "${folder}/run"
`;

/** This process's limits of open files and processes, at most `MOST_LIMIT` each. */
async function ownLimits(): Promise<number[]> {
  const { stdout } = await run('bash', ['-c', 'ulimit -Hn; ulimit -Hu']);
  const limits = stdout.trim().split('\n');
  return limits.map((text) => Math.min(MOST_LIMIT, text === 'unlimited' ? MOST_LIMIT : Number(text)));
}

/**
 * Changes arguments that Podman 4 does not treat as Docker does:
 * - `--requires` is dropped, and podman-compose keeps the order itself. Podman does not start a container that requires an
 *   ended container with requirements, for instance the one that initialises the program.
 * - `--read-only` gets no temporary file systems that the Compose file does not name.
 * - `systempaths` has another name.
 */
const podmanShim = (podman: string) => `#!/bin/bash
given=()
for one in "$@"; do
  case $one in
    --requires=*) ;;
    --read-only) given+=(--read-only --read-only-tmpfs=false) ;;
    systempaths=unconfined) given+=(unmask=ALL) ;;
    *) given+=("$one") ;;
  esac
done
exec ${podman} "\${given[@]}"
`;

const dockerShim = (python: string) => `#!/bin/sh
if [ "$1" = compose ]; then shift; exec ${python} -m podman_compose "$@"; fi
exec podman "$@"
`;

/** Sets up Podman in a folder, with podman-compose from PyPI. @throws Error when one of them is missing. */
export async function openEngine(folder: string) {
  const requirements = new URL('../../src/containers/podman-compose-requirements.txt', import.meta.url);
  const python = await pythonEnvironment(fileURLToPath(requirements));
  if ('missing' in python) throw new Error(`podman-compose cannot be installed: ${python.missing}`);
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await mkdir(join(folder, 'networks'), { recursive: true });
  const others = (process.env['PATH'] ?? '').split(':').filter((one) => one !== bin);
  const { stdout: podman } = await run('which', ['podman'], { env: { PATH: others.join(':') } });
  const files = {
    'containers.conf': containersConf(folder, await ownLimits()),
    'storage.conf': storageConf(folder),
    'bin/podman': podmanShim(podman.trim()),
    'bin/docker': dockerShim(python.python),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  for (const name of ['podman', 'docker']) await chmod(join(bin, name), 0o755);
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env['PATH']}`,
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    // Podman's health checks need systemd's timers.
    DISABLE_HC_SYSTEMD: 'true',
  };
  const program = join(bin, 'podman');
  /** Runs Podman. @returns its standard output. @throws Error with its standard error. */
  const call = async (...args: string[]) =>
    (await run(program, args, { env, maxBuffer: MAX_OUTPUT_BYTES })).stdout.trim();
  return {
    /** The environment in which `docker` and `podman` call this engine. */
    env,
    podman: call,
    /** Runs Podman. @returns whether it ended with 0. */
    succeeds: async (...args: string[]) => (await call(...args).catch(() => undefined)) !== undefined,
    /** Runs Podman and shows its output. */
    async podmanAloud(...args: string[]) {
      const [code] = await once(spawn(program, args, { env, stdio: ['ignore', 2, 2] }), 'exit');
      if (code !== 0) throw new Error(`podman ${args[0]} ended with ${code}`);
    },
  };
}
