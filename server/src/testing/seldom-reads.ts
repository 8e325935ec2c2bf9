import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { createChain, createProgramHistory } from '../chain/index.js';
import { openDatabase } from '../database/connection.js';
import { parseCommand, runCommand } from '../operator/index.js';
import { listActions, reportedListings } from '../moderation/index.js';
import { compareCharges } from '../reconciliation/index.js';
import { createApprovals } from '../registration/index.js';

const noKeys = () => {
  throw new Error('These commands open nothing.');
};

/**
 * Reads the lists of an operator. Compares the first page of balances with the chain as the hourly comparison does,
 * after all listings.
 */
export async function readWhatIsSeldomRead(databaseUrl: string, rpcUrl: string): Promise<void> {
  const { db, close } = openDatabase(databaseUrl, () => undefined);
  try {
    const command = parseCommand(['limits']);
    if (command.name !== 'help') await runCommand(db, command, noKeys);
    await createApprovals(db).pending();
    await reportedListings(db);
    await listActions(db, 100);
    let pages = 0;
    const enough = new Error('The first page was compared.');
    const comparison = compareCharges(
      {
        chain: createChain(rpcUrl, MARKETPLACE_PROGRAM_ID),
        history: createProgramHistory(rpcUrl, MARKETPLACE_PROGRAM_ID),
        states: { recordTaken: () => Promise.reject(new Error('Nothing is repaired here.')) },
        db,
      },
      {
        everyTransaction: false,
        counted: () => {
          pages += 1;
          if (pages > 1) throw enough;
        },
      },
    );
    await comparison.next().catch((error: unknown) => {
      if (error !== enough) throw error;
    });
  } finally {
    await close();
  }
}
