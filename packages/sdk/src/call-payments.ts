import type { Network, Operation } from '@agent-rental/contract';
import { isApiError } from './errors.js';
import { sendRequest, unlessAborted, type HttpOptions, type RequestInput } from './http.js';

/** The payment that a service asks for in an answer of 402. */
export interface AskedPayment {
  /** The answer's `WWW-Authenticate`. */
  challenge: string;
  /** The listing that the client called. */
  listingId: string;
  /** The chain and the recipient of payments, as the service states them. */
  network: Network;
}

/** Pays for single calls from a wallet. `callPayer` of `@agent-rental/sdk/solana` makes one. */
export interface CallPayer {
  /** Wallet address, base58. */
  readonly address: string;
  /**
   * Signs the payment of one call.
   *
   * @returns the value of `Authorization` that presents it
   * @throws UntrustedTransactionError if a limit or the challenge forbids it: nothing was signed
   */
  pay(asked: AskedPayment): Promise<string>;
}

/** A run that a payment may pay for. */
interface PayableRun {
  listingId: string;
  /** Runs of one key share one payment. */
  key: string;
  /** Whether the caller knows the key, so that it may call again under it. */
  isNamed: boolean;
}

/** A payment under a key; `freeAtMs` is the end of the key. */
interface KeptPayment {
  authorization: Promise<string>;
  freeAtMs?: number;
}

/** Payments that one client remembers. The oldest go first. */
const MOST_KEPT = 1_000;

/** The payments of one client's calls. */
export interface CallPayments {
  /** Sends a run. If the service asks for a payment, pays and sends it again. Throws as `sendRequest` and the payer. */
  send<T>(
    run: PayableRun,
    operation: Operation,
    input: RequestInput,
    read: (response: Response) => T | Promise<T>,
  ): Promise<T>;
  /** Frees a key some seconds after the end of its run: a later call under it is another run. */
  freeLater(key: string, seconds: number): void;
  /** Headers by which the payment of a run reads it; none for other runs. */
  headersOf(runId: string): Record<string, string>;
}

/** Makes the payments of one client's calls. @param stated reads the service's statement about its network */
export function createCallPayments(
  http: HttpOptions,
  payer: CallPayer,
  stated: () => Promise<Network>,
): CallPayments {
  const byKey = new Map<string, KeptPayment>();
  const byRun = new Map<string, string>();

  const keptUnder = (key: string): KeptPayment | undefined => {
    const kept = byKey.get(key);
    if ((kept?.freeAtMs ?? Infinity) > Date.now()) return kept;
    byKey.delete(key);
    return undefined;
  };
  /** Begins a payment that equal calls share. A failed one is not kept. */
  const begin = (key: string, listingId: string, challenge: string): KeptPayment => {
    const authorization = stated().then((network) => payer.pay({ challenge, listingId, network }));
    const payment = { authorization };
    keep(byKey, key, payment);
    authorization.catch(() => forget(key, payment));
    return payment;
  };
  const forget = (key: string, payment: KeptPayment): void => {
    if (byKey.get(key) === payment) byKey.delete(key);
  };

  return {
    async send(run, operation, input, read) {
      const { key, listingId, isNamed } = run;
      const wallet = { 'payment-wallet': payer.address };
      const attempt = (more: RequestInput = {}, reader = read) => {
        const headers = { ...input.headers, ...wallet, ...more.headers };
        return sendRequest(http, operation, { ...input, ...more, headers }, reader);
      };
      let payment = keptUnder(key);
      if (payment === undefined) {
        const asked = await attempt().then(toAnswer, async (error: unknown) => {
          if (!isUnrented(error)) return challengeOf(error);
          // Once: a caller with a rental may otherwise be asked to pay for the run that a lost answer was of.
          const more = { headers: { 'accept-payment': 'solana/charge' }, repeatable: false };
          return attempt(more).then(toAnswer, challengeOf);
        });
        if ('answer' in asked) return asked.answer;
        payment = keptUnder(key) ?? begin(key, listingId, asked.challenge);
      }
      try {
        const authorization = await unlessAborted(payment.authorization, input.signal);
        return await attempt({ headers: { authorization } }, async (response) => {
          const runId = response.headers.get('x-run-id');
          if (runId !== null) keep(byRun, runId, authorization);
          return read(response);
        });
      } catch (error) {
        // The service did not take it. The next call pays anew, within the limits of the payer.
        if (isApiError(error) && error.status === 402) forget(key, payment);
        throw error;
      } finally {
        if (!isNamed) forget(key, payment);
      }
    },
    freeLater: (key, seconds) => {
      const payment = byKey.get(key);
      if (payment) payment.freeAtMs = Date.now() + seconds * 1000;
    },
    headersOf: (runId) => {
      const authorization = byRun.get(runId);
      return authorization === undefined ? {} : { authorization };
    },
  };
}

const toAnswer = <T>(answer: T) => ({ answer });

/** Whether a caller with a login was refused for want of a rental or a balance. Nothing ran for it then. */
const isUnrented = (error: unknown): boolean =>
  isApiError(error) &&
  error.status === 403 &&
  (error.code === 'credential_not_found' || error.code === 'insufficient_balance');

/** @throws the error itself where it asks for no payment. */
function challengeOf(error: unknown): { challenge: string } {
  if (!isApiError(error) || error.paymentChallenge === undefined) throw error;
  return { challenge: error.paymentChallenge };
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_KEPT && oldest !== undefined) map.delete(oldest);
}
