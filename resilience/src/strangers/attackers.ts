import { prepareAttacks, type Target } from './attacks.js';
import { startHostileEndpoints } from './hostile-endpoints.js';

/**
 * The attackers' process. It tells its origins first. It prepares for the target of the first message and says so, and then attacks
 * until the second message. At last it tells the answers.
 */
const origins = await startHostileEndpoints();
const stopping = new AbortController();
process.on('message', (message: Omit<Target, keyof typeof origins> | 'stop') => {
  if (message === 'stop') stopping.abort();
  else void attack(message);
});
process.send?.(origins);

async function attack(target: Omit<Target, keyof typeof origins>): Promise<void> {
  const start = await prepareAttacks({ ...target, ...origins }, stopping.signal);
  process.send?.('ready');
  process.send?.(await start());
}
