import { setImmediate } from 'node:timers/promises';
import { RENTAL_TERMS } from '@agent-rental/contract';
import type { Chain } from '../../chain/index.js';
import type { IndexedStatus } from '../../credentials/index.js';
import type { Callbacks } from '../../events/index.js';
import type { FileInput, FileService } from '../../files/index.js';
import type { Allowance } from '../../spending/index.js';
import { ApiError } from '../../errors/api-error.js';
import { withoutAbsentNulls } from '../../platform/json-schema/checks.js';
import type { Settlement } from '../../settlement/index.js';
import { requireAccess, requireRunning, requireValidInput } from './access.js';
import type { Trials } from '../trials/trials.js';
import type { Task } from '../task.js';
import { step } from './steps.js';

/** The parts that admitting uses. */
export interface AdmitDeps {
  settlement: Pick<Settlement, 'hasCredit'>;
  files: Pick<FileService, 'readInput'>;
  trials: Pick<Trials, 'requireOpen'>;
  chain: Pick<Chain, 'programId'>;
  callbacks: Callbacks;
  /** Reads an input in the published form of a schema, as a model writes it, into the schema's own form. */
  readPublishedInput: (schema: object, input: unknown) => unknown;
}

/**
 * Step 2, who may: by the index, so that a stranger is turned away before anything is spent on it. Gives the task
 * with its input.
 *
 * @param access the wallet's access to the listing, by the index.
 * A wallet without a rental has the free run of a listing that offers one.
 *
 * @throws ApiError 403 without access or an approval that the caller needs. 400 for an input that the agent does not take,
 * or a callback that cannot be made.
 */
export const admit = step(
  'admit',
  async (deps: AdmitDeps, task: Task, allowance: Allowance, access: IndexedStatus): Promise<Task> => {
    const { listing } = task;
    const withInput = async (admitted: Task) =>
      withValidInput(
        deps,
        await withFileInput(admitted, (inputUri) => deps.files.readInput(inputUri, task.owner)),
      );
    requireRunning(listing);
    if (task.callback) await deps.callbacks.require(task.wallet, task.callback.url);
    const { status, agreedPriceLamports } = access;
    if (status === 'not_found' && listing.freeTrial !== null) {
      await deps.trials.requireOpen(task);
      return withInput({ ...task, isTrial: true });
    }
    const credited = status === 'low_balance' && (await deps.settlement.hasCredit(task.wallet, listing.id));
    requireAccess(status, listing, {
      credited,
      agreedPriceLamports,
      programId: deps.chain.programId,
    });
    const admitted = await withInput(task);
    if (!credited) await requireApproval(deps, task, allowance);
    return admitted;
  },
);

/** Asks the owner of the wallet, where the caller's policy says so, before a slot is taken. A credited run takes nothing. */
async function requireApproval(
  { settlement }: AdmitDeps,
  { wallet, listing, digest }: Task,
  allowance: Allowance,
): Promise<void> {
  if (!RENTAL_TERMS[listing.rentalModel].chargesRuns) return;
  const call = { listingId: listing.id, digest };
  const spend = { kind: 'run', lamports: listing.priceLamports, call } as const;
  if (!allowance.asksFor(spend) || (await settlement.hasCredit(wallet, listing.id))) return;
  await allowance.requireApproval(spend);
}

/**
 * Takes an input in the creator's form, or in the form of the tool's definition: for some schemas a model can write that
 * form only. In both, null for an optional member that may not be null is absence.
 */
export async function withValidInput(
  { readPublishedInput }: Pick<AdmitDeps, 'readPublishedInput'>,
  task: Task,
): Promise<Task> {
  const schema = task.listing.version.inputSchema;
  try {
    await requireValidInput(task.input, schema);
    return task;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request' || task.input === undefined)
      throw error;
    for (const given of [task.input, readPublishedInput(schema, task.input)]) {
      const input = await withoutAbsentNulls(schema, given);
      if (input !== undefined) return { ...task, input: input as Task['input'] };
    }
    throw error;
  }
}

/** Largest input out of a file as JSON, which is how it reaches the agent: escaped characters grow. */
const MAX_FILE_INPUT_BYTES = 24 * 1024 * 1024;

/**
 * Returns the task with its input: for a task that names a file, the file's content.
 *
 * @throws ApiError `invalid_request` when the content cannot be an input.
 */
export async function withFileInput(
  task: Task,
  read: (inputUri: string) => Promise<FileInput>,
): Promise<Task> {
  if (task.inputUri === undefined) return task;
  const { value: input, files } = await read(task.inputUri);
  // It was parsed in this iteration of the event loop, and is serialized in the next one.
  await setImmediate();
  if (typeof input !== 'string' && (typeof input !== 'object' || input === null || Array.isArray(input))) {
    throw new ApiError('invalid_request', 'input_uri: a JSON file must hold an object or a string.');
  }
  if (Buffer.byteLength(JSON.stringify(files ?? input)) > MAX_FILE_INPUT_BYTES) {
    throw new ApiError(
      'invalid_request',
      'input_uri: the file has too many characters that are not plain text.',
    );
  }
  return { ...task, input, ...(files === undefined ? {} : { files }) };
}
