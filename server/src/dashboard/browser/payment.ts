import {
  formatSol,
  lamportsFromSol,
  rentalModel,
  SUBSCRIPTION_DURATIONS_SECONDS,
  type RentalModel,
} from '@agent-rental/contract';
import { readField } from './wrong-field.js';

/** Everything that a page says of a rental that it is about to pay. */
export interface Payment {
  listingId: string;
  model: RentalModel;
  /** The most that the rental, or each of its runs, may cost. */
  priceLamports: number;
  /** The prepaid amount, of a Per-Task rental. */
  depositLamports: number;
  /** How long a subscription lasts; the first window for the other models. */
  durationSeconds: (typeof SUBSCRIPTION_DURATIONS_SECONDS)[number];
  /** The network, as wallets name it. */
  chain: string;
}

/** The choices of a person on the page. */
export interface Choice {
  /** In SOL, as typed; absent where nothing is prepaid. */
  deposit?: string | undefined;
  /** A window of a subscription, in seconds, and its price. */
  window?: { seconds: string; priceLamports: string | undefined } | undefined;
}

/**
 * Reads the page's attributes and the renter's choices.
 *
 * @throws Error naming the fault of the deposit.
 */
export function readPayment(
  data: Readonly<Record<string, string | undefined>>,
  { deposit, window }: Choice,
): Payment {
  const { listing = '', model, price, minDeposit, chain = '' } = data;
  const seconds = SUBSCRIPTION_DURATIONS_SECONDS.find((one) => String(one) === window?.seconds);
  const least = Number(minDeposit);
  const depositLamports = deposit === undefined ? 0 : lamportsOf(deposit);
  if (deposit !== undefined && depositLamports < least) {
    throw new Error(`The deposit is at least ${formatSol(least)}.`);
  }
  return {
    listingId: listing,
    model: rentalModel.parse(model),
    priceLamports: Number(window?.priceLamports ?? price),
    depositLamports,
    durationSeconds: seconds ?? SUBSCRIPTION_DURATIONS_SECONDS[0],
    chain,
  };
}

/** Reads the attributes and the fields of the page's part. @throws WrongField for the deposit. */
export function readChosenPayment(root: HTMLElement): Payment {
  const [option] = root.querySelector<HTMLSelectElement>('#duration')?.selectedOptions ?? [];
  const window = option && { seconds: option.value, priceLamports: option.dataset['price'] };
  const field = root.querySelector<HTMLInputElement>('#deposit');
  return field === null
    ? readPayment(root.dataset, { window })
    : readField(field, (deposit) => readPayment(root.dataset, { deposit, window }));
}

/** A typed amount of SOL, in lamports. @throws Error naming the expected text. */
export function lamportsOf(text: string): number {
  const sol = Number(text);
  const isAmount = text.trim() !== '' && Number.isFinite(sol) && sol >= 0;
  const lamports = isAmount ? Number(lamportsFromSol(sol)) : Number.NaN;
  if (!Number.isSafeInteger(lamports)) throw new Error('Type an amount of SOL, as 0.01.');
  return lamports;
}
