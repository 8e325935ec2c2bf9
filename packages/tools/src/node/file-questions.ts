import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ANSWER_MS, type QuestionLedger } from '../spending/questions.js';
import { digestOf, namesIn } from './ledger-folder.js';

const NAME = /^question\.[0-9a-f]{32}\.(?:open|yes|no|lapsed-[0-9a-f-]{36})$/;
/** A question lapses after this time without a sign of life from its process. Signs come every 5 s. */
const LAPSED_MS = 30_000;
/** Questions older than this are removed. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1_000;

/**
 * Questions in a ledger's folder. A question is a file with id and state in its name. The file's time is the asking process's
 * last sign of life. Only one process can create the file, and only one can remove a lapsed file.
 *
 * @param lapsedMs time without a sign of life after which a question lapses
 */
export function fileQuestions(folder: string, lapsedMs = LAPSED_MS): QuestionLedger {
  /** The tokens in the files of this process's questions. */
  const tokens = new Map<string, string>();
  const pathOf = (id: string, state: string): string => join(folder, `question.${digestOf(id)}.${state}`);

  /** Whether the open question is still this process's. Another process may ask again after a lapse. */
  async function isOwn(id: string): Promise<boolean> {
    const token = await readFile(pathOf(id, 'open'), 'utf8').catch(() => undefined);
    return token !== undefined && token === tokens.get(id);
  }

  async function answerOf(id: string): Promise<'yes' | 'no' | undefined> {
    for (const answer of ['yes', 'no'] as const) {
      const age = await ageMs(pathOf(id, answer));
      if (age !== undefined && age < ANSWER_MS) return answer;
    }
    return undefined;
  }

  async function forgetOld(): Promise<void> {
    for (const name of await namesIn(folder)) {
      if (!NAME.test(name)) continue;
      const age = await ageMs(join(folder, name));
      if (age !== undefined && age > FORGOTTEN_MS) await rm(join(folder, name), { force: true });
    }
  }

  return {
    open: async (id) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (;;) {
        const answer = await answerOf(id);
        if (answer !== undefined) return answer;
        const token = randomUUID();
        if (await made(pathOf(id, 'open'), token)) {
          tokens.set(id, token);
          // Another process may have answered between the check and the file.
          const late = await answerOf(id);
          if (late === undefined) {
            await Promise.all(['yes', 'no'].map((old) => rm(pathOf(id, old), { force: true })));
            await forgetOld();
            return 'opened';
          }
          await rm(pathOf(id, 'open'), { force: true });
          return late;
        }
        const age = await ageMs(pathOf(id, 'open'));
        if (age !== undefined && age <= lapsedMs) return 'open';
        // Only one of several processes removes a lapsed question.
        const taken = pathOf(id, `lapsed-${randomUUID()}`);
        if (age !== undefined && (await renamed(pathOf(id, 'open'), taken))) await rm(taken, { force: true });
      }
    },
    keep: async (id) => {
      if (await isOwn(id)) await touch(pathOf(id, 'open'));
    },
    close: async (id, answer) => {
      const path = pathOf(id, 'open');
      const mine = await isOwn(id);
      tokens.delete(id);
      if (!mine) return false;
      if (answer === undefined) {
        await rm(path, { force: true });
        return true;
      }
      await touch(path).catch(() => undefined);
      return renamed(path, pathOf(id, answer));
    },
  };
}

/** Creates a file; false if it exists. */
async function made(path: string, content: string): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Renames a file; false if it is gone. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now);
}

/** Milliseconds since a file's last change; undefined without a file. */
async function ageMs(path: string): Promise<number | undefined> {
  const { mtimeMs } = (await stat(path).catch(() => undefined)) ?? {};
  return mtimeMs === undefined ? undefined : Date.now() - mtimeMs;
}
