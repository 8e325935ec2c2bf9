import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { PACKAGE_PATH } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { pack } from 'tar-stream';
import { ApiError } from '../../errors/api-error.js';

/** `scripts/stage-packages.mjs` fills this folder. The service packs it. */
const STAGE = fileURLToPath(new URL('../../packages', import.meta.url));
/** The service's address in a staged manifest. */
const ADDRESS = '{{MARKETPLACE}}';

/** A package of npm that the service offers. */
export interface ServedPackage {
  readonly url: string;
  /** As npm's lock file writes it (W3C Subresource Integrity). */
  readonly integrity: string;
  readonly tarball: Buffer;
}

/** The packages of this marketplace: its command line, its MCP server over stdio, and its libraries. */
export interface ServedPackages {
  /** Undefined for an unknown name, or without the step of the build that stages the packages. */
  find(name: string): Promise<ServedPackage | undefined>;
}

/** @param folder the packages to serve. Default: the staged packages of the build. */
export function createServedPackages(baseUrl: () => string, folder = STAGE): ServedPackages {
  const packed = new Map<string, Promise<ServedPackage>>();
  return {
    find: async (name) => {
      const names: string[] = await readdir(folder).catch(() => []);
      if (!names.includes(name)) return undefined;
      const known = packed.get(name);
      if (known) return known;
      const address = baseUrl().replace(/\/+$/, '');
      const made = packFolder(join(folder, name), address).then((tarball) => ({
        url: address + PACKAGE_PATH.replace(':name', name),
        integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
        tarball,
      }));
      packed.set(name, made);
      return made;
    },
  };
}

/** `GET /packages/NAME.tgz`: npm and npx install from it. */
export function packageRoutes(app: FastifyInstance, packages: ServedPackages): void {
  app.get<{ Params: { name: string } }>(
    PACKAGE_PATH,
    { config: { auth: 'none' } },
    async (request, reply) => {
      const found = await packages.find(request.params.name);
      if (!found) throw new ApiError('not_found', 'There is no package with this name.');
      const tag = `"${found.integrity}"`;
      // The address stays, and its content changes with the service's version.
      reply.headers({ 'cache-control': 'no-cache', etag: tag });
      if (request.headers['if-none-match'] === tag) return reply.code(304).send();
      return reply.type('application/octet-stream').send(found.tarball);
    },
  );
}

/** The same bytes for the same files: no times, and in the order of names. */
async function packFolder(folder: string, address: string): Promise<Buffer> {
  const archive = pack();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
  const write = async () => {
    for (const name of files) {
      const content = await readFile(join(folder, name));
      const mode = name.startsWith('bin/') ? 0o755 : 0o644;
      const text = name === 'package.json' ? content.toString().replaceAll(ADDRESS, address) : content;
      archive.entry({ name: `package/${name}`, mode, mtime: new Date(0) }, text);
    }
    archive.finalize();
  };
  const [bytes] = await Promise.all([buffer(archive), write()]);
  return promisify(gzip)(bytes);
}
