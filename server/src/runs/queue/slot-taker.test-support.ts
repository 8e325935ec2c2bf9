import { openDatabase } from '../../database/connection.js';
import { createSeatRepository, type SeatRequest } from './slot-repository.js';
import { createSeats } from './slots.js';

/** Takes seats as a replica does, says so in a line, and keeps them until it is killed. */
const [url = '', requests = '[]'] = process.argv.slice(2);
const seats = createSeats({
  repository: createSeatRepository(openDatabase(url, () => undefined).db),
  changes: {
    announce: async () => undefined,
    watch: () => ({ next: async () => false, close: () => undefined }),
  },
  logger: { warn: () => undefined },
  line: { maxLength: 0, maxWaitMs: 1_000 },
  leaseMs: 2_000,
});
for (const request of JSON.parse(requests) as SeatRequest[]) {
  await seats.take(request, new AbortController().signal);
}
process.stdout.write('taken\n');
