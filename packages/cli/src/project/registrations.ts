import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { CommandError, UsageError } from '../errors.js';

const FILE = 'listings.json';

const registration = z.object({
  job_id: z.string().optional(),
  listing_id: z.string().optional(),
  /** Digest of the last registered agent. */
  sha256: z.string().optional(),
  /** Digest of the last sent title, rate and samples of the listing. */
  listing_sha256: z.string().optional(),
});

/** The state of an agent's registration on one marketplace. */
export type Registration = z.infer<typeof registration>;

/** Reads an agent's registrations, by the marketplace's URL. They have no secrets. */
export function readRegistrations(folder: string): Record<string, Registration> {
  const path = join(folder, FILE);
  if (!existsSync(path)) return {};
  try {
    return z.record(z.string(), registration).parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw new CommandError(`${FILE} is damaged: restore it, or delete it to register the agent again.`);
  }
}

/** Stores the state of an agent's registration on one marketplace. */
export function writeRegistration(folder: string, url: string, value: Registration): void {
  const all = { ...readRegistrations(folder), [url]: value };
  writeFileSync(join(folder, FILE), `${JSON.stringify(all, null, 2)}\n`);
}

/** The command's listing: the named one, or the folder's. @throws UsageError for neither. */
export function listingOf(named: string | undefined, folder: string, url: string): string {
  const id = named ?? readRegistrations(folder)[url]?.listing_id;
  if (id === undefined) {
    throw new UsageError(
      `Which listing? Name it, or run this in the folder of an agent that is published on ${url}.`,
    );
  }
  return id;
}
