/**
 * The spending limits of the tools. A policy limits only by the rules that it names. Amounts are lamports.
 *
 * It is kept on the side of the tools, for the wallet whose key they hold: the holder of that key may sign past it,
 * so the hard limit is what the wallet holds.
 */
export interface SpendingPolicy {
  /** The most that one run may draw from a prepaid balance. A rental that agrees to a higher price is refused, too. */
  readonly maxRunLamports?: bigint | undefined;
  /**
   * The most within any 24 hours: for runs, and counted apart for what leaves the wallet for rentals and deposits,
   * because a deposit pays for runs that are counted when they happen.
   */
  readonly maxDayLamports?: bigint | undefined;
  /** The most within any 24 hours for one listing; runs and rentals apart, as above. */
  readonly maxListingLamports?: bigint | undefined;
  /** The only listings that may be rented or run. */
  readonly listingIds?: readonly string[] | undefined;
  /** Above this amount a person is asked first; where none can be asked, it is refused. */
  readonly askAboveLamports?: bigint | undefined;
}

/** A rule of a policy. */
export type SpendingRule = keyof SpendingPolicy;

/** A planned spend, as a person who approves it is told. Plain JSON. */
export interface SpendingRequest {
  /** `rental`: leaves the wallet. `run`: is drawn from a prepaid balance. */
  readonly kind: 'rental' | 'run';
  readonly agentId: string;
  /** The creator's words, cleaned and bounded. */
  readonly title: string;
  /** In all; exact as a JSON number. */
  readonly lamports: number;
  /** Of a Per-Task rental: what each run may cost from then on. */
  readonly maxRunLamports?: number;
}

/** Asks a person for approval. Anything but `true` is a no. */
export type Approve = (
  request: SpendingRequest,
  options: { readonly signal?: AbortSignal | undefined },
) => boolean | Promise<boolean>;

/** The policy refuses. */
export class SpendingRefusedError extends Error {
  override readonly name = 'SpendingRefusedError';
  readonly rule: SpendingRule;

  constructor(rule: SpendingRule, message: string) {
    super(message);
    this.rule = rule;
  }
}

/** A person would have to approve, and there was none to ask. */
export class ApprovalRequiredError extends Error {
  override readonly name = 'ApprovalRequiredError';
  readonly request: SpendingRequest;

  constructor(request: SpendingRequest) {
    super('No one could be asked to approve.');
    this.request = request;
  }
}
