import { openDatabase } from '../../database/connection.js';
import { createSlotRepository, type SlotRequest } from './slot-repository.js';
import { createSlots } from './slots.js';

/** Takes slots as a replica does, says so in a queue, and keeps them until it is killed. */
const [url = '', requests = '[]'] = process.argv.slice(2);
const slots = createSlots({
  repository: createSlotRepository(openDatabase(url, () => undefined).db, 'seats_test'),
  changes: {
    announce: async () => undefined,
    watch: () => ({ next: async () => false, close: () => undefined }),
  },
  logger: { warn: () => undefined },
  queue: { maxLength: 0, maxWaitMs: 1_000 },
  leaseMs: 2_000,
});
for (const request of JSON.parse(requests) as SlotRequest[]) {
  await slots.take(request, new AbortController().signal);
}
process.stdout.write('taken\n');
