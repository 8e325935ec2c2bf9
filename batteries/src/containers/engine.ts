import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonEnvironment } from '@agent-rental/test/support/toolchains/python-environment';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MOST_LIMIT = 16_384;

/** Podman with a storage of its own, and `docker` in the place of Docker. */
export interface Engine {
  /** The environment in which `docker` and `podman` are those of this engine. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs Podman; gives what it prints. @throws Error with what it wrote to stderr. */
  podman(...args: string[]): Promise<string>;
  /** As `podman`, showing what it does. */
  podmanAloud(...args: string[]): Promise<void>;
}

/**
 * Images and containers are kept apart from the machine's. Podman asks for more open files and processes than a machine may
 * allow. Not crun: it refuses to limit where both versions of cgroups have controllers.
 */
const containersConf = (folder: string, { files, processes }: Limits) => `[containers]
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

interface Limits {
  readonly files: number;
  readonly processes: number;
}

/** What this process may set, and a container needs at most. */
async function ownLimits(): Promise<Limits> {
  const { stdout } = await run('bash', ['-c', 'ulimit -Hn; ulimit -Hu']);
  const [files = 0, processes = 0] = stdout
    .split('\n')
    .map((text) => Math.min(MOST_LIMIT, text === 'unlimited' ? MOST_LIMIT : Number(text)));
  return { files, processes };
}

/**
 * Podman 4 has another word for `systempaths`, and starts nothing that requires a container that has ended and required others,
 * as the one that initialises the program; podman-compose keeps the order by itself. A read-only root has no other places to write
 * to than those that are named, as with Docker.
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

/** Opens Podman on a folder, with podman-compose from PyPI. @throws Error where one of them is not to be had. */
export async function openEngine(folder: string): Promise<Engine> {
  const requirements = fileURLToPath(
    new URL('../../src/containers/podman-compose-requirements.txt', import.meta.url),
  );
  const python = await pythonEnvironment(requirements);
  if ('missing' in python) throw new Error(`podman-compose cannot be installed: ${python.missing}`);
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await mkdir(join(folder, 'networks'), { recursive: true });
  const others = (process.env['PATH'] ?? '').split(':').filter((one) => one !== bin);
  const { stdout: podman } = await run('which', ['podman'], {
    env: { ...process.env, PATH: others.join(':') },
  });
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
    // Without systemd there are no timers: health checks are not run by themselves.
    DISABLE_HC_SYSTEMD: 'true',
  };
  return {
    env,
    async podman(...args) {
      const { stdout } = await run(join(bin, 'podman'), args, { env, maxBuffer: MAX_OUTPUT_BYTES });
      return stdout.trim();
    },
    podmanAloud: (...args) =>
      new Promise((resolve, reject) => {
        const child = spawn(join(bin, 'podman'), args, { env, stdio: ['ignore', 2, 2] });
        child.once('error', reject);
        child.once('exit', (code) =>
          code === 0 ? resolve() : reject(new Error(`podman ${args[0]} ended with ${code}`)),
        );
      }),
  };
}
