import { readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { readAgentProject } from '../project/agent-file.js';
import { digestOf } from '../project/register.js';

/** Files of an agent's program. */
const PROGRAM = /\.(?:[cm]?[jt]sx?|py|json|md|txt)$/;
/** Files that are not part of the agent: files of this command, and installed packages. */
const LEFT_OUT = new Set([
  'node_modules',
  'dist',
  'listings.json',
  'package-lock.json',
  'renter.json',
  'agent-wallet.json',
]);

/** The state of an agent's files at one moment. */
interface State {
  manifest: string;
  program: string;
}

/** Updates the running agent after changes in its folder. */
export interface LiveAgent {
  /** Resolves when the running agent has all changes of the folder, or their failure was reported. */
  upToDate(): Promise<void>;
  /** Stops watching the folder. */
  close(): void;
}

/** The handlers of changes. */
export interface ChangeHandlers {
  /** The manifest, the prompt or the terms have changed. */
  onManifest(): Promise<void>;
  /** The agent's program has changed; absent for an agent without a program. */
  onProgram: (() => Promise<void>) | undefined;
  onError(error: unknown): void;
}

/** Checks a folder after each change in it, and before each call. */
export function keepLive(folder: string, handlers: ChangeHandlers): LiveAgent {
  let live = stateOf(folder);
  let work: Promise<void> = Promise.resolve();
  const apply = async () => {
    try {
      const now = stateOf(folder);
      const [manifest, program] = [now.manifest !== live.manifest, now.program !== live.program];
      live = now;
      if (program) await handlers.onProgram?.();
      if (manifest) await handlers.onManifest();
    } catch (error) {
      handlers.onError(error);
    }
  };
  // One check at a time: the next check sees a change that comes meanwhile.
  const upToDate = () => (work = work.then(apply));
  const watcher = watch(folder, () => void upToDate());
  return { upToDate, close: () => watcher.close() };
}

function stateOf(folder: string): State {
  const files = readdirSync(folder)
    .filter((name) => PROGRAM.test(name) && !LEFT_OUT.has(name) && !name.startsWith('.'))
    .concat(readdirSync(folder).includes('src') ? filesBelow(folder, 'src') : []);
  const seen = files.map((name) => {
    const { mtimeMs, size } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
    return `${name} ${mtimeMs} ${size}`;
  });
  const project = readAgentProject(folder);
  const terms = JSON.stringify(project.body['listing']);
  return { manifest: `${digestOf(project)} ${terms}`, program: seen.join('\n') };
}

function filesBelow(folder: string, name: string): string[] {
  return readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => PROGRAM.test(file))
    .map((file) => join(name, file));
}
