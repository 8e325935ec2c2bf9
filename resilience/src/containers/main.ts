import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { freePort } from '@agent-rental/test/support/workshop';
import { makeImages, officialImages } from './base-images.js';
import { checkDrain, checkImage, checkRunning, checkStreaming, type Check } from './checks.js';
import { openEngine } from './engine.js';
import { blocksOf, openPageShell } from './page-shell.js';
import { startPublicModel } from './public-model.js';

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const IMAGE = 'agent-rental:0.1.0';
/** Needed programs, which have the names of their Debian packages, and `ip`. */
const PACKAGES = ['podman', 'runc', 'debootstrap', 'iptables', 'openssl', 'iproute2'];

const { values } = readCommandLine({
  command: 'npm run battery -- containers',
  summary:
    'Builds the image, and runs the commands of docs/containers.md with Podman. They start two servers behind the proxy, run a ' +
    'rented agent, and stop a server during a run. Ends with 1 when a result differs from the page. Needs Linux on x64, root ' +
    `and these Debian packages: ${PACKAGES.join(', ')}. Keeps the images in --folder for the next run.`,
  options: {
    pull: { kind: 'flag', text: 'use the official images, not stand-ins made from Debian’s packages' },
    keep: { kind: 'flag', text: 'leave the containers running' },
    folder: {
      kind: 'text',
      text: 'of the images and containers',
      default: '/var/tmp/agent-rental-containers',
    },
  },
});

const log = (line: string) => process.stderr.write(`${line}\n`);
const faults: string[] = [];
const check: Check = (what, isRight, seen) => {
  log(`${isRight ? 'right' : 'WRONG'}: ${what}${isRight || seen === undefined ? '' : ` (${seen})`}`);
  if (!isRight) faults.push(what);
};
const figures: string[] = [];
async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  figures.push(`${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return result;
}

await requireTools();
await mkdir(values.folder, { recursive: true });
const engine = await openEngine(values.folder);
await removeContainers();
const images = await officialImages(REPOSITORY);
await timed('base images', async () => {
  if (!values.pull) return makeImages(engine, images, log);
  return engine.podmanAloud('pull', ...images.values());
});
const folder = await mkdtemp(join(tmpdir(), 'agent-rental-containers-'));
const repository = join(folder, 'repository');
await copyRepository(repository);
const model = await startPublicModel(folder);
const [http, https, chain] = [await freePort(), await freePort(), await freePort()];
const url = `http://localhost:${http}`;
/** Texts of the page and their replacements on this machine, with its free ports and the stand-in for OpenAI. */
const replacements: [written: string, here: string][] = [
  ['http://localhost:8080', url],
  ['HTTP_PORT=8080', `HTTP_PORT=${http}`],
  ['HTTPS_PORT=8443', `HTTPS_PORT=${https}`],
  [':compose.bubblewrap.yaml\n', `:compose.bubblewrap.yaml:${await writeOverride()}\n`],
  ['sk-...', 'sk-none'],
];
const shell = await openPageShell(repository, { ...engine.env, CHAIN_PORT: String(chain) });
const renter = join(repository, 'deploy/compose/secrets/renter.json');
const deployment = { engine, url, model, check, renter };
try {
  const blocks = await blocksOf(join(repository, 'docs/containers.md'));
  for (const [written] of replacements)
    check(`the page has ${written.trim()}`, blocks.join('').includes(written));
  for (const block of blocks) {
    const here = replacements.reduce((text, [written, other]) => text.replaceAll(written, other), block);
    log(`$ ${here.trim().split('\n').join('\n$ ')}`);
    await follow(here);
  }
} finally {
  await shell.close();
  await model.close();
  if (!values.keep) {
    await removeContainers();
    await rm(folder, { recursive: true, force: true });
  }
}
log(figures.join('\n'));
log(faults.length === 0 ? 'All is as the page says.' : `Not as the page says: ${faults.join('; ')}`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Removes the leftovers of this run or of a killed one: all except the images. */
async function removeContainers(): Promise<void> {
  await engine.podman('rm', '--all', '--force', '--time', '0');
  for (const kind of ['pod', 'volume', 'network']) await engine.podman(kind, 'prune', '--force');
}

/** Runs a block, then checks its results. */
async function follow(block: string): Promise<void> {
  const isStart = block.includes('up --detach');
  const what = block.includes('docker build') ? 'build' : isStart ? 'start' : (block.split('\n')[0] ?? '');
  const said = await timed(what, () => shell.run(block));
  if (block.includes('docker build')) {
    const size = Number(await engine.podman('image', 'inspect', '--format', '{{.Size}}', IMAGE));
    figures.push(`image: ${Math.round(size / 1e6)} MB`);
    await checkImage(engine, IMAGE, check);
  }
  if (isStart) await checkRunning(deployment);
  if (block.includes('operator doctor'))
    check('doctor finds all well', said.includes('0 problems, 0 warnings'), said);
  if (block.includes('agent-rental rent')) {
    check('the rented agent answered', said.includes(model.answer));
    const listing = (await shell.run('echo "$LISTING"')).trim();
    await checkStreaming(deployment, listing);
    await checkDrain(deployment, listing);
  }
}

/** Writes the Compose file that lets the servers find and trust the stand-in for OpenAI. */
async function writeOverride(): Promise<string> {
  const server = {
    environment: { NODE_EXTRA_CA_CERTS: '/run/model.crt' },
    extra_hosts: [`${model.name}:${model.address}`],
    volumes: [`${model.certificate}:/run/model.crt:ro`],
  };
  const file = join(folder, 'compose.here.yaml');
  await writeFile(file, JSON.stringify({ services: { 'server-1': server, 'server-2': server } }));
  return file;
}

/** Copies tracked and new files, so that the commands do not change the repository. */
async function copyRepository(target: string): Promise<void> {
  await mkdir(target);
  const files =
    'git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - | tar -x -C "$1"';
  await run('bash', ['-c', files, 'copy', target], { cwd: REPOSITORY });
}

async function requireTools(): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64' || process.getuid?.() !== 0) {
    log('It needs Linux on x64, and root.');
    process.exit(2);
  }
  const missing: string[] = [];
  for (const name of PACKAGES)
    await run('which', [name === 'iproute2' ? 'ip' : name]).catch(() => missing.push(name));
  if (missing.length === 0) return;
  log(`Missing: apt-get install ${missing.join(' ')} netavark aardvark-dns`);
  process.exit(2);
}
