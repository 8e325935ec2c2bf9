import { Pool } from 'pg';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../testing/index.js';
import { internalError } from './api-error.js';

const pgError = (code: string) => Object.assign(new Error('a statement failed'), { code });

it('asks to come back when the database is out or busy, and hides what else went wrong [OPS-52]', async () => {
  const database = await openTestDatabase();
  const pool = new Pool({ connectionString: database.url, max: 1, connectionTimeoutMillis: 1_000 });
  const taken = await pool.connect();
  const error: unknown = await pool.query('select 1').catch((cause: unknown) => cause);
  taken.release();
  await pool.end();
  await database.close();
  expect(internalError(error)).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 10 });
  const refused: unknown = await new Pool({ connectionString: 'postgres://127.0.0.1:1/x' })
    .query('select 1')
    .catch((cause: unknown) => cause);
  for (const out of [refused, new Error('Connection terminated unexpectedly'), pgError('53100')])
    expect(internalError(out)).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 5 });
  expect(internalError(pgError('23505'))).toMatchObject({ code: 'internal_error' });
  expect(internalError(new Error('a secret'))).toMatchObject({
    code: 'internal_error',
    message: expect.not.stringContaining('secret') as string,
  });
});
