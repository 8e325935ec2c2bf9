import { onTestFinished, expect, it } from 'vitest';
import { createLogger } from '../platform/logger.js';
import { openTestDatabase } from '../testing/index.js';
import { openNotifications } from './notifications.js';

it('gives its connection back where it cannot listen', async () => {
  const { pool, close } = await openTestDatabase();
  onTestFinished(close);
  const logger = createLogger('silent');
  await expect(openNotifications(pool, 'no channel', logger)).rejects.toThrow('syntax error');
  expect(pool.totalCount - pool.idleCount).toBe(0);
  const notifications = await openNotifications(pool, 'a_channel', logger);
  expect(pool.totalCount - pool.idleCount).toBe(1);
  const heard = new Promise<string>((resolve) => notifications.subscribe(resolve));
  await notifications.publish('news');
  expect(await heard).toBe('news');
  await notifications.close();
  expect(pool.totalCount - pool.idleCount).toBe(0);
});
