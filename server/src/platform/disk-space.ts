import { statfs } from 'node:fs/promises';
import type { Logger } from './logger.js';
import { startRounds } from './rounds.js';

/** Room on the disk of a folder. */
export interface DiskSpace {
  /** False while less is free than the reserve. */
  hasRoom(): boolean;
  stop(): Promise<void>;
}

/** A disk may fill within seconds; a look costs microseconds. */
const LOOK_MS = 500;

/**
 * Watches the disk of a folder. Below the reserve the server starts no new runs. Running ones need the rest, and so
 * do the database and the chain, which stop when they cannot write.
 */
export async function watchDiskSpace(
  folder: string,
  reserveBytes: number,
  logger: Logger,
): Promise<DiskSpace> {
  let isShort = false;
  const look = async () => {
    const space = await statfs(folder).catch(() => undefined);
    if (space === undefined) return;
    const freeBytes = space.bavail * space.bsize;
    const wasShort = isShort;
    isShort = freeBytes < reserveBytes;
    if (isShort === wasShort) return;
    const fields = { free_bytes: freeBytes, reserve_bytes: reserveBytes };
    if (isShort) logger.error(fields, 'the disk is nearly full: no new runs start');
    else logger.info(fields, 'the disk has room again');
  };
  await look();
  const rounds = startRounds(look, LOOK_MS, { startsAtOnce: false });
  return {
    hasRoom: () => !isShort,
    stop: () => rounds.stop(),
  };
}
