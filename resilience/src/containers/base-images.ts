import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npmBinary } from '@agent-rental/test/support/toolchains/npm-binary';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import type { Engine } from './engine.js';

const run = promisify(execFile);
const DEBIAN = 'localhost/agent-rental-battery/debian:bookworm';
const SOURCES = '/etc/apt/sources.list.d/debian.sources';
const NPM_VERSION = '11.21.2';
const CONTAINERFILES = fileURLToPath(new URL('../../src/containers/base-images', import.meta.url));

/** The official images that the Dockerfile and the Compose file use, by kind, for instance `node`. */
export async function officialImages(repository: string): Promise<Map<string, string>> {
  const texts = await Promise.all(
    ['Dockerfile', 'deploy/compose/compose.yaml'].map((file) => readFile(join(repository, file), 'utf8')),
  );
  const found = texts.join('\n').matchAll(/docker\.io\/library\/(\w+):\S+/g);
  return new Map([...found].map(([name, kind = '']) => [kind, name]));
}

/** Makes stand-ins from Debian's packages under the official names, unless an earlier run made them. */
export async function makeImages(
  engine: Engine,
  images: ReadonlyMap<string, string>,
  log: (line: string) => void,
): Promise<void> {
  if (!(await isThere(engine, DEBIAN))) {
    log('bootstrapping Debian');
    await makeDebian(engine);
  }
  for (const [kind, image] of images) {
    if (await isThere(engine, image)) continue;
    log(`making ${image}`);
    const context = await mkdtemp(join(tmpdir(), 'agent-rental-image-'));
    try {
      await cp(CONTAINERFILES, context, { recursive: true });
      if (kind === 'node') await addNode(context);
      const file = join(context, `${kind}.Containerfile`);
      await engine.podmanAloud('build', '--tag', image, '--file', file, context);
    } finally {
      await rm(context, { recursive: true, force: true });
    }
  }
}

const isThere = (engine: Engine, image: string) => engine.succeeds('image', 'exists', image);

/** The smallest Debian, with this machine's package sources and certificate authorities. */
async function makeDebian(engine: Engine): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-debian-'));
  const root = join(folder, 'root');
  try {
    const sources = await readFile(SOURCES, 'utf8');
    const mirror = /^URIs: *(\S+)/m.exec(sources)?.[1] ?? 'http://deb.debian.org/debian';
    const options = ['--variant=minbase', '--include=ca-certificates', 'bookworm', root, mirror];
    await run('debootstrap', options, { maxBuffer: 64 * 1024 * 1024 });
    await rm(join(root, 'etc/apt/sources.list'), { force: true });
    for (const path of [SOURCES, '/etc/apt/apt.conf.d', '/etc/ssl/certs/ca-certificates.crt']) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await cp(path, join(root, path), { recursive: true, dereference: true });
    }
    await rm(join(root, 'var/cache/apt/archives'), { recursive: true, force: true });
    const archive = join(folder, 'root.tar');
    await run('tar', ['-C', root, '-cf', archive, '.']);
    await engine.podman('import', archive, DEBIAN);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function addNode(context: string): Promise<void> {
  await cp(await npmBinary('Node 24'), join(context, 'node'));
  const npm = await npmTool('npm', NPM_VERSION, 'bin/npm-cli.js');
  await cp(dirname(dirname(npm)), join(context, 'npm'), { recursive: true });
}
