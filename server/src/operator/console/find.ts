import { walletAddress, type Json } from '@agent-rental/contract';
import type { Db } from '../../database/connection.js';
import { isRunId, readListing, readRuns, readWallet } from '../support/index.js';

/** The facts of a run, a request, a wallet or a listing. @throws OperatorError where there is none */
export async function find(
  db: Db,
  id: string,
): Promise<{ kind: 'run' | 'wallet' | 'listing'; found: Record<string, Json> }> {
  if (isRunId(id) || id.startsWith('req_')) return { kind: 'run', found: await readRuns(db, id) };
  if (walletAddress.safeParse(id).success) return { kind: 'wallet', found: await readWallet(db, id) };
  return { kind: 'listing', found: await readListing(db, id) };
}
