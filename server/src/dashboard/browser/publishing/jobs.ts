import type { Job } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';

const POLL_MS = 500;
const MOST_WAIT_MS = 10 * 60_000;

/**
 * Waits for the end of a registration's or an update's job.
 *
 * @throws Error with the remedy when it takes too long.
 */
export async function endOfJob(client: RentalClient, jobId: string): Promise<Job> {
  const giveUpAt = Date.now() + MOST_WAIT_MS;
  for (;;) {
    const job = await client.getJob(jobId);
    if (job.status !== 'queued') return job;
    if (Date.now() > giveUpAt) {
      throw new Error('The marketplace still checks it. Load this page again to see how it ends.');
    }
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
}
