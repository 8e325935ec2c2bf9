import { closeSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { readAccount, writeAccount, type AddressedAccount } from '../ledger/account-state.js';
import type { UndoEntry } from '../ledger/undo-log.js';
import { ByteReader, ByteWriter } from './byte-codec.js';
import { encodeFrame, readFrames } from './frames.js';
import type { HistoryDump } from './history-index.js';
import { syncFolder } from './journal.js';

/** The state of the chain after all records before `position` of the journal, and no later ones. */
interface SnapshotHeader {
  position: number;
  unixMs: number;
  /** How far the chain's clock is ahead of the wall clock. */
  offsetMs: number;
}

interface SnapshotSource {
  header: SnapshotHeader;
  /** Read while the file is being written: must give the states as of `header.position`. */
  accounts: Iterable<AddressedAccount>;
  unfinalized: readonly UndoEntry[];
  history: HistoryDump;
}

/** Called with the parts of a snapshot in the order in which they must be applied. */
interface SnapshotVisitor {
  account: (account: AddressedAccount) => void;
  unfinalized: (entry: UndoEntry) => void;
  history: (dump: HistoryDump) => void;
}

const VERSION = 1;
const HEADER = 1;
const ACCOUNTS = 2;
const UNFINALIZED = 3;
const HISTORY = 4;
const END = 5;

const BATCH_BYTES = 1024 * 1024;
const HISTORY_PARTS = ['locations', 'signatureHashes', 'postingHashes', 'postingNumbers'] as const;

/**
 * Writes a snapshot beside the older one and then removes that. The event loop gets a turn after every mebibyte.
 * @param readyToPublish resolves when the journal is on the disk up to the snapshot's position.
 */
export async function writeSnapshot(
  dir: string,
  source: SnapshotSource,
  readyToPublish: () => Promise<void>,
): Promise<void> {
  const temporary = join(dir, 'snapshot.tmp');
  const file = await open(temporary, 'w', 0o600);
  try {
    for (const payload of payloadsOf(source)) await file.writeFile(encodeFrame(payload));
    await file.sync();
  } finally {
    await file.close();
  }
  await readyToPublish();
  const older = listSnapshots(dir);
  const name = `snapshot-${String(source.header.position).padStart(16, '0')}.bin`;
  renameSync(temporary, join(dir, name));
  syncFolder(dir);
  for (const previous of older) if (previous !== name) rmSync(join(dir, previous), { force: true });
}

/**
 * Applies the newest whole snapshot. Null when there is none: then the journal must be replayed from its beginning.
 * A snapshot only saves time, so a damaged one is passed over.
 */
export function loadSnapshot(dir: string, visitor: SnapshotVisitor): SnapshotHeader | null {
  rmSync(join(dir, 'snapshot.tmp'), { force: true });
  for (const name of listSnapshots(dir).toReversed()) {
    const fd = openSync(join(dir, name), 'r');
    try {
      if (isWhole(fd)) return applySnapshot(fd, visitor);
    } finally {
      closeSync(fd);
    }
  }
  return null;
}

function listSnapshots(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => /^snapshot-\d{16}\.bin$/u.test(name))
    .sort();
}

function* payloadsOf({ header, accounts, unfinalized, history }: SnapshotSource): Generator<Buffer> {
  const { position, unixMs, offsetMs } = header;
  yield new ByteWriter().u8(HEADER).u8(VERSION).f64(position).f64(unixMs).f64(offsetMs).finish();
  let batch = new ByteWriter().u8(ACCOUNTS);
  for (const account of accounts) {
    writeAccount(batch, account);
    if (batch.finish().length < BATCH_BYTES) continue;
    yield batch.finish();
    batch = new ByteWriter().u8(ACCOUNTS);
  }
  yield batch.finish();
  for (const entry of unfinalized) {
    const writer = new ByteWriter().u8(UNFINALIZED).f64(entry.slot).u32(entry.number);
    for (const before of entry.before) writeAccount(writer, before);
    yield writer.finish();
  }
  for (const [part, name] of HISTORY_PARTS.entries()) {
    const bytes = history[name];
    for (let at = 0; at < bytes.length; at += BATCH_BYTES) {
      yield new ByteWriter()
        .u8(HISTORY)
        .u8(part)
        .bytes(bytes.subarray(at, at + BATCH_BYTES))
        .finish();
    }
  }
  yield new ByteWriter().u8(END).finish();
}

function isWhole(fd: number): boolean {
  let last = 0;
  for (const { payload } of readFrames(fd, 0)) {
    if (payload[0] === HEADER && payload[1] !== VERSION) return false;
    last = payload[0] ?? 0;
  }
  return last === END;
}

function applySnapshot(fd: number, visitor: SnapshotVisitor): SnapshotHeader {
  let header: SnapshotHeader = { position: 0, unixMs: 0, offsetMs: 0 };
  const history: Buffer[][] = HISTORY_PARTS.map(() => []);
  for (const { payload } of readFrames(fd, 0)) {
    const reader = new ByteReader(payload);
    switch (reader.u8()) {
      case HEADER:
        reader.u8();
        header = { position: reader.f64(), unixMs: reader.f64(), offsetMs: reader.f64() };
        break;
      case ACCOUNTS:
        while (!reader.finished) visitor.account(readAccount(reader));
        break;
      case UNFINALIZED: {
        const entry: UndoEntry = { slot: reader.f64(), number: reader.u32(), before: [] };
        while (!reader.finished) entry.before.push(readAccount(reader));
        visitor.unfinalized(entry);
        break;
      }
      case HISTORY:
        history[reader.u8()]?.push(Buffer.from(payload.subarray(2)));
        break;
      default:
    }
  }
  const [locations, signatureHashes, postingHashes, postingNumbers] = history.map((part) =>
    Buffer.concat(part),
  );
  visitor.history({ locations, signatureHashes, postingHashes, postingNumbers } as HistoryDump);
  return header;
}
