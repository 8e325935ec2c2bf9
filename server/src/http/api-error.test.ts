import { Pool } from 'pg';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../testing/index.js';
import { internalError } from './api-error.js';

it('asks to come back when no connection of the pool became free in time, and hides what else went wrong', async () => {
  const database = await openTestDatabase();
  const pool = new Pool({ connectionString: database.url, max: 1, connectionTimeoutMillis: 1_000 });
  const taken = await pool.connect();
  const error: unknown = await pool.query('select 1').catch((cause: unknown) => cause);
  taken.release();
  await pool.end();
  await database.close();
  expect(internalError(error)).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 10 });
  expect(internalError(new Error('a secret'))).toMatchObject({
    code: 'internal_error',
    message: expect.not.stringContaining('secret') as string,
  });
});
