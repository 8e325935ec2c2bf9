import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The stored part of an agent's registration. The marketplace knows the published listings. */
interface Registration {
  job_id: string;
  listing_id?: string;
}

/** The examples' state from start to start. */
interface ExamplesState {
  /** Ports of the agents' own servers: manifests name them, so they must not change. */
  ports: Record<string, number>;
  /** By agent's name and model. */
  registrations: Record<string, Registration>;
}

/** The folder with the examples' wallets, keys and state. All files are private to its owner. */
export interface ExamplesFolder {
  readonly state: ExamplesState;
  path(file: string): string;
  saveState(): Promise<void>;
  /** The text of a file, or undefined when there is none. */
  read(file: string): Promise<string | undefined>;
  /** Writes a whole file or none of it, whenever the process ends. */
  write(file: string, text: string): Promise<void>;
}

const STATE_FILE = 'state.json';

/**
 * Opens the folder, making it where it is missing.
 *
 * @throws Error when its state cannot be read.
 */
export async function openExamplesFolder(folder: string): Promise<ExamplesFolder> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = (file: string) => join(folder, file);
  const read = async (file: string): Promise<string | undefined> => {
    try {
      return await readFile(path(file), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  };
  const write = async (file: string, text: string): Promise<void> => {
    await writeFile(`${path(file)}.new`, text, { mode: 0o600 });
    await rename(`${path(file)}.new`, path(file));
  };
  const written = await read(STATE_FILE);
  const state =
    written === undefined ? { ports: {}, registrations: {} } : parseState(written, path(STATE_FILE));
  return { state, path, saveState: () => write(STATE_FILE, JSON.stringify(state, null, 2)), read, write };
}

function parseState(text: string, path: string): ExamplesState {
  try {
    const { ports, registrations } = JSON.parse(text) as Partial<ExamplesState>;
    if (typeof ports === 'object' && typeof registrations === 'object') return { ports, registrations };
  } catch {
    // Told below, with the file's name.
  }
  throw new Error(`${path} is damaged. Remove it to have the example agents published anew.`);
}
