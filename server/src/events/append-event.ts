import type { EVENTS, EventName } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { z } from 'zod';
import type { Tx } from '../database/connection.js';

/** What happened, to be told to a wallet. */
export interface NewEvent<N extends EventName> {
  wallet: string;
  name: N;
  /** For example `run:<id>`. The transaction has locked, or made, the row that it names. */
  subject: string;
  data: z.input<(typeof EVENTS)[N]['data']>;
  /** The API key that hears of it too. */
  apiKeyId?: string;
}

/** Adds an event in the transaction that makes it true; its readers wake at the commit. Triggers write most events. */
export async function appendEvent<N extends EventName>(tx: Tx, event: NewEvent<N>): Promise<void> {
  const { wallet, name, subject, data, apiKeyId = null } = event;
  await sql`select append_event(${wallet}, ${name}, ${subject}, ${JSON.stringify(data)}::jsonb, ${apiKeyId}::uuid)`.execute(
    tx,
  );
}
