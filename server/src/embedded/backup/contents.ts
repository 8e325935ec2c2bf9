import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { BackupError } from './backup-error.js';

const MANIFEST_FILE = 'backup.json';
/** PostgreSQL's data folder; everything else of the state folder, by its path there. */
export const DATABASE_FOLDER = 'database';
export const STATE_FOLDER = 'state';

const manifestSchema = z.object({
  version: z.literal(1),
  created_at: z.iso.datetime(),
  /** Of the release that made it. */
  release: z.string(),
  files: z.array(z.object({ path: z.string(), bytes: z.int().min(0), sha256: z.string() })),
});

/** The list of a backup's files. */
export type BackupManifest = z.infer<typeof manifestSchema>;

/**
 * Copies a folder, files readable by their owner alone. Leaves out files that vanish meanwhile, as a later copy
 * would.
 *
 * @param isWanted is asked for each entry by its path from the folder
 */
export async function copyFolder(
  from: string,
  to: string,
  isWanted: (path: string) => boolean = () => true,
  below = '',
): Promise<void> {
  await mkdir(join(to, below), { recursive: true, mode: 0o700 });
  for (const name of await namesIn(join(from, below))) {
    const path = join(below, name);
    if (!isWanted(path)) continue;
    try {
      const entry = await lstat(join(from, path));
      if (entry.isDirectory()) await copyFolder(from, to, isWanted, path);
      else if (entry.isFile()) await copyPrivate(join(from, path), join(to, path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Names in a folder; none where it has gone away. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

async function copyPrivate(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await chmod(to, 0o600);
}

/** Writes the list of a backup's files, with a hash of each. */
export async function writeManifest(folder: string, release: string): Promise<BackupManifest> {
  const paths = (await filesBelow(folder)).toSorted();
  const files: BackupManifest['files'] = [];
  for (const path of paths) files.push({ path, ...(await measure(join(folder, path))) });
  const manifest: BackupManifest = { version: 1, created_at: new Date().toISOString(), release, files };
  await writeFile(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 1)}\n`, {
    mode: 0o600,
    flush: true,
  });
  return manifest;
}

/**
 * Reads the list of a backup's files, and checks each against its hash.
 *
 * @throws BackupError for an incomplete backup.
 */
export async function readBackup(folder: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, MANIFEST_FILE), 'utf8').catch(() => {
    throw new BackupError(`${folder} is no backup: it has no ${MANIFEST_FILE}.`);
  });
  const manifest = manifestSchema.safeParse(parse(text)).data;
  if (!manifest) throw new BackupError(`${join(folder, MANIFEST_FILE)} is damaged, or of a later release.`);
  const listed = new Set([...manifest.files.map(({ path }) => path), MANIFEST_FILE]);
  const extra = (await filesBelow(folder)).find((path) => !listed.has(path));
  if (extra !== undefined) throw new BackupError(`The backup has a file that it does not list: ${extra}.`);
  for (const { path, bytes, sha256 } of manifest.files) {
    const found = await measure(join(folder, path)).catch(() => undefined);
    if (found?.bytes === bytes && found.sha256 === sha256) continue;
    throw new BackupError(`The backup's ${path} is ${found ? 'damaged' : 'missing'}: use another backup.`);
  }
  return manifest;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return path.slice(folder.length + 1);
    });
}

async function measure(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Makes a folder for a backup that is not whole yet. @throws BackupError where there is one of the wanted name. */
export async function newFolderFor(target: string): Promise<string> {
  const entries = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new BackupError(`${target} cannot be a backup: ${error.code}.`);
  });
  if (entries !== undefined) throw new BackupError(`${target} is there already: name a new folder.`);
  await mkdir(dirname(target), { recursive: true });
  const draft = `${target}.partial`;
  await mkdir(draft, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(
      error.code === 'EEXIST'
        ? `${draft} was left by an interrupted backup: remove it.`
        : `${draft} cannot be made: ${error.code}.`,
    );
  });
  return draft;
}
