import {
  createEmailAddresses,
  createMailer,
  createTellByEmail,
  EMAIL_CRONTAB,
  EMAIL_ROUND_TASK,
  EMAIL_TASK,
} from '../events/index.js';
import { startJobs } from '../jobs/jobs.js';
import type { AppParts } from './app-parts.js';

/** E-mail to people. */
export type Email = ReturnType<typeof composeEmail>;

/** Composes the addresses, and the jobs where the operator has a mail server. @param baseUrl of this service, for links */
export function composeEmail({ config, database, keys, logger }: AppParts, baseUrl: () => string) {
  const mailer = config.smtp && createMailer(config.smtp);
  const deps = { db: database.db, keys, mailer, baseUrl };
  return {
    addresses: createEmailAddresses(deps),
    /** Starts the jobs in a separate queue, because a mail server may take seconds. */
    async start() {
      if (!mailer) return undefined;
      const sender = createTellByEmail({ ...deps, mailer });
      const tasks = {
        [EMAIL_ROUND_TASK]: () => sender.queueDue(),
        [EMAIL_TASK]: (payload: unknown) => sender.tell((payload as { wallet: string }).wallet),
      };
      return startJobs(database.pool, tasks, logger, { crontab: EMAIL_CRONTAB });
    },
  };
}
