/**
 * The spending limits of the tools. An absent rule limits nothing. Amounts are lamports.
 *
 * Only the tools apply the policy. A holder of the wallet's key can sign without it, so the hard limit is the wallet's
 * balance.
 */
export interface SpendingPolicy {
  /** The most that one run may draw from a prepaid balance. A rental that agrees to a higher price is refused, too. */
  readonly maxRunLamports?: bigint | undefined;
  /**
   * The most within any 24 hours. Runs are one count, and payments for rentals and deposits another: a deposit pays for runs
   * that count later.
   */
  readonly maxDayLamports?: bigint | undefined;
  /** The most within any 24 hours for one listing, with separate counts of runs and rentals. */
  readonly maxListingLamports?: bigint | undefined;
  /** The only listings that may be rented or run. */
  readonly listingIds?: readonly string[] | undefined;
  /** Above this amount a person must approve. Without a person to ask, the spend is refused. */
  readonly askAboveLamports?: bigint | undefined;
}

/** A rule of a policy. */
export type SpendingRule = keyof SpendingPolicy;

/** A planned spend, for the approving person. Plain JSON. */
export interface SpendingRequest {
  /** `rental`: the money leaves the wallet. `run`: it comes from a prepaid balance. */
  readonly kind: 'rental' | 'run';
  readonly agentId: string;
  /** The creator's words, cleaned and bounded. */
  readonly title: string;
  /** The total; exact as a JSON number. */
  readonly lamports: number;
  /** Per-Task rental: the highest price of each later run. */
  readonly maxRunLamports?: number;
}

/** Asks a person for approval. Only `true` approves. */
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

/** A person must approve, but there was no person to ask. */
export class ApprovalRequiredError extends Error {
  override readonly name = 'ApprovalRequiredError';
  readonly request: SpendingRequest;

  constructor(request: SpendingRequest) {
    super('No one could be asked to approve.');
    this.request = request;
  }
}
