import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { createChain, createProgramHistory } from '../chain/index.js';
import { openDatabase } from '../database/connection.js';
import { parseCommand, runCommand } from '../operator/index.js';
import { compareCharges } from '../reconciliation/index.js';

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
    for (const name of ['reviews', 'limits'] as const) {
      const command = parseCommand([name]);
      if (command.name !== 'help') await runCommand(db, command, noKeys);
    }
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
