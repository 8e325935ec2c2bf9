import type {
  ApiKeyScope,
  Category,
  ErrorCode,
  EventName,
  ListingStatus,
  RentalModel,
  ReportReason,
  RunFailureClass,
  SpendingPolicy,
  UnreachableReason,
  VersionChange,
  WebhookAttempt,
} from '@agent-rental/contract';
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';
import type { ChargeState } from './charge-states.js';

/** A connected app. */
interface StoredApp {
  /** The address of its metadata document, a hash of the id of a client that registered itself, or the wallet itself. */
  client: string;
  redirect_host: string;
  /** The address at which its tokens work. */
  resource: string;
}

/** The tables, as the migrations make them. Amounts are lamports in `bigint`; times are `Date`. */
export interface Database {
  /** SHA-256 of what counts once: login challenges, assertions of clients, and proofs of possession. */
  used_challenges: { digest: Buffer; expires_at: Date };
  api_keys: {
    id: string;
    wallet: string;
    label: string;
    /** SHA-256 of the key; the key itself is shown once and never stored. Null: an app's. */
    digest: Buffer | null;
    /** `run` and `rent` where nothing is written. */
    scopes: Generated<ApiKeyScope[]>;
    /** Null: no limits. */
    policy: JSONColumnType<SpendingPolicy> | null;
    created_at: Generated<Date>;
    revoked_at: Date | null;
    /** An app that was connected by OAuth; null: a key. */
    app: JSONColumnType<StoredApp, string | null | undefined, never> | null;
    /** Of an app: when it ends unless it is used before; null: a key, which does not end by itself. */
    expires_at: Generated<Date | null>;
  };
  /** Codes by which apps that were just connected get their first tokens; kept a while after their use. */
  oauth_codes: {
    /** SHA-256 of the code. */
    digest: Buffer;
    api_key_id: string;
    /** SHA-256 of the client's id. */
    client_digest: Buffer;
    redirect_uri: string;
    /** The S256 challenge of PKCE. */
    code_challenge: string;
    expires_at: Date;
    used_at: Date | null;
    /** Thumbprint of the only key that may redeem it (RFC 9449, section 10); null: any. */
    jkt: Generated<string | null>;
  };
  /** Tokens of connected apps. Refresh tokens that were used stay until they would have ended. */
  oauth_tokens: {
    /** SHA-256 of the token. */
    digest: Buffer;
    api_key_id: string;
    /** SHA-256 of the client's id. */
    client_digest: Buffer;
    kind: 'access' | 'refresh';
    /** A refresh token has all of its app; an access token may have fewer. */
    scopes: ApiKeyScope[];
    expires_at: Date;
    used_at: Date | null;
    /** Of a refresh token that was used: with the token itself, it makes the tokens that replaced it. */
    salt: Buffer | null;
    /** Thumbprint of the key that it is bound to (RFC 9449); null: a bearer token. */
    jkt: Generated<string | null>;
  };
  /** Spends of keys with a daily limit, within the last day. */
  api_key_spends: {
    /** A run's id or a transaction's signature. */
    id: string;
    api_key_id: string;
    kind: 'run' | 'rental';
    lamports: bigint;
    created_at: Generated<Date>;
  };
  /** Questions of API keys to the owner of their wallet; kept for a day after they have expired. */
  spending_approvals: {
    id: string;
    wallet: string;
    api_key_id: string;
    kind: 'run' | 'rental';
    listing_id: string;
    /** The most that is approved. */
    lamports: bigint;
    /** SHA-256 of the call's request. */
    call_digest: Buffer;
    state: Generated<'open' | 'approved' | 'refused'>;
    /** The spend that an approval has paid for: a run's id or a transaction's signature. */
    used_by: string | null;
    created_at: Generated<Date>;
    /** Of an open question: until when it can be answered. Of an answered one: until when the answer holds. */
    expires_at: Date;
  };
  creators: {
    wallet: string;
    display_name: string | null;
    /** Active listings; kept by the trigger that keeps `listing_search`. */
    listing_count: Generated<number>;
  };
  listings: {
    id: string;
    creator: string;
    title: string;
    description: string;
    category: string[];
    /** Terms are null in a draft that was registered without them, and never afterwards. */
    rental_model: RentalModel | null;
    price_lamports: bigint | null;
    min_deposit_lamports: bigint | null;
    /** The creator's. */
    runs_per_minute: number | null;
    /** The operator's, which wins. */
    operator_runs_per_minute: Generated<number | null>;
    /** `draft` until its account is seen on-chain. */
    status: 'draft' | ListingStatus;
    address: string;
    metadata_uri: string;
    sample_output: JSONColumnType<string[]>;
    /** Where the samples came from; null when the creator named no source and no sample run was made. */
    sample_input: ColumnType<unknown, string | null | undefined, string | null>;
    /** Why the review's run gave no sample. */
    sample_problem: Generated<string | null>;
    /** The version that runs. */
    version_id: string;
    review_state: 'pending' | 'approved' | 'rejected';
    /** Why it was rejected, or other words of the review. */
    review_reason: Generated<string | null>;
    /**
     * The version that may run on sale: the operator approved it, or it passed the checks after the first publication. A
     * trigger makes it the one that runs when a draft is published.
     */
    approved_version_id: Generated<string | null>;
    /** When a transaction that publishes the draft was last co-signed. */
    publication_proposed_at: Generated<Date | null>;
    /** Ended runs, of which the last ones are in `listing_run_deltas`. */
    run_count: Generated<number>;
    completed_count: Generated<number>;
    rating_sum: Generated<number>;
    review_count: Generated<number>;
    /** Reviews by rating, from one star to five. */
    rating_counts: Generated<number[]>;
    /** The same of the reviews that rank. */
    ranked_rating_sum: Generated<number>;
    ranked_review_count: Generated<number>;
    /** When it was published although it had not been reached; null again once a probe has reached it. */
    unverified_at: Generated<Date | null>;
    published_at: Date | null;
    updated_at: Generated<Date>;
    created_at: Generated<Date>;
    /** Whether it is run every night, to see whether it works: the creator's. */
    health_checks: Generated<boolean>;
    /** Whose first run is free: the creator's offer. */
    free_trial: Generated<'anyone' | 'renters' | null>;
    /** Markdown of the creator. */
    readme: Generated<string | null>;
    /** The picture of the creator, and its digest. */
    icon: Generated<Buffer | null>;
    icon_sha256: Generated<string | null>;
    /** The median duration of its runs, and when it was counted. */
    median_ms: Generated<number | null>;
    median_at: Generated<Date | null>;
    /** When it failed first, once it has failed for some days; null while it works. */
    failing_since: Generated<Date | null>;
    /** Since when search leaves it out, because it fails. */
    hidden_since: Generated<Date | null>;
    /** Slot at which the chain was last read for this row; older reads never overwrite newer ones. */
    slot: Generated<bigint>;
  };
  /** The fields of active listings that search reads; a trigger on `listings` keeps them. */
  listing_search: Record<Category | RentalModel, boolean> & {
    seq: number;
    listing_id: string;
    published_at: Date;
    price_lamports: bigint;
    rating: number;
    /** The rating as the order by rating uses it: few reviews say little. */
    rating_order: number;
    /** A `tsvector`: words of title and description, and facets. */
    document: string;
  };
  /** How many active listings have a term, but for `search_term_deltas`; the view `search_term_counts` adds both. */
  search_terms: { kind: 'lexeme' | 'word'; term: string; listing_count: bigint };
  /** By how much the counts of terms changed, as the trigger appends it and `fold_search_terms` adds it up. */
  search_term_deltas: { seq: Generated<bigint>; kind: 'lexeme' | 'word'; term: string; difference: number };
  /** The same of the runs of a listing, for `fold_run_counts`. */
  listing_run_deltas: {
    seq: Generated<bigint>;
    listing_id: string;
    run_count: number;
    completed_count: number;
    /** Another count, for the creator. */
    measure: Generated<'completed' | 'failed' | 'undelivered' | 'refused' | 'viewed' | 'rented' | null>;
    /** Why: the class of a failure or refusal. */
    detail: Generated<string>;
    amount: Generated<number>;
    /** How long a run with a result took. */
    duration_ms: Generated<number | null>;
    noted_at: Generated<Date>;
    /** The run's renter, its API key and its cost, where a run ended. */
    wallet: Generated<string | null>;
    api_key_id: Generated<string | null>;
    cost_lamports: Generated<bigint | null>;
  };
  /** Renters' ended runs by day and listing. */
  renter_stats: {
    /** A wallet, or the id of an API key. */
    owner: string;
    started_at: Date;
    listing_id: string;
    completed: number;
    failed: number;
    undelivered: number;
    spent_lamports: bigint;
  };
  /** Whether listings work that are or were on sale. */
  listing_health: {
    listing_id: string;
    /** When it is to be run next. */
    due_at: Date;
    /** When a run said last whether it works. */
    checked_at: Date | null;
    /** Days on which it failed, since it worked last. */
    failed_days: Generated<number>;
    /** When it failed first, since it worked last. */
    failing_from: Date | null;
    /** Why it failed last, in words for its creator. */
    problem: string | null;
  };
  /** A creator's counts of a listing's runs, by hour and day in UTC; `fold_run_counts` writes them. Its earnings in
   * lamports, too; `keep_creator_earnings` writes them. */
  listing_stats: {
    listing_id: string;
    grain: 'hour' | 'day';
    started_at: Date;
    measure: 'completed' | 'failed' | 'undelivered' | 'refused' | 'viewed' | 'rented' | 'duration' | 'earned';
    /** Why; of a duration the step of its logarithm. */
    detail: string;
    amount: bigint;
  };
  reviews: {
    listing_id: string;
    reviewer: string;
    rating: number;
    comment: string | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
    /** Counts for the order by rating: its wallet has rented an agent of another creator, too. */
    ranks: Generated<boolean>;
    /** Of the listing's creator. */
    answer: Generated<string | null>;
    answered_at: Generated<Date | null>;
  };
  /** READMEs as HTML. */
  listing_readmes: { listing_id: string; sha256: Buffer; html: string };
  agent_versions: {
    id: string;
    listing_id: string;
    input_schema: JSONColumnType<Record<string, unknown>>;
    output_schema: JSONColumnType<Record<string, unknown>>;
    timeout_seconds: number;
    /** Of the public part; null for a version of an older release. */
    metadata_uri: string | null;
    /** Prompt, tools, model, endpoint and keys, sealed; null once the version cannot run any more. */
    private_part: Buffer | null;
    /** From 1, for each listing; given by a trigger. */
    number: Generated<number>;
    /** When another version became the one that runs. */
    replaced_at: Generated<Date | null>;
    /** The listing's text while this version runs; null for a superseded one. */
    description: Generated<string | null>;
    category: Generated<string[] | null>;
    /** The change for renters of the version before; null for a first one. */
    change_kind: Generated<VersionChange['kind'] | null>;
    /** Of a breaking change, each with its place in the schemas. */
    change_reasons: Generated<string[] | null>;
    /** The creator's words on the changes. */
    notes: Generated<string | null>;
    created_at: Generated<Date>;
  };
  /** The version that a wallet, or one of its API keys, runs. An empty key is the wallet. */
  version_pins: {
    wallet: string;
    listing_id: string;
    api_key_id: Generated<string>;
    version: number;
    created_at: Generated<Date>;
  };
  /** Runs for samples, runs that see whether a listing works, and registration jobs, by the creator's wallet; kept for a day. */
  sample_runs: { wallet: string; kind: Generated<'review' | 'health' | 'job'>; created_at: Generated<Date> };
  /** Probes that were asked for, by the wallet whose agent was probed; kept for a day. */
  probe_requests: { wallet: string; created_at: Generated<Date> };
  /** The result of an agent's last probe or sample run, and the last run that did not reach it. */
  agent_probes: {
    listing_id: string;
    /** When a probe was asked for that has not ended. */
    requested_at: Date | null;
    /** When the present version was reached; null while it was not. */
    reached_at: Date | null;
    /** The next four are null where nothing has failed since it was reached by a probe. */
    unreachable_since: Date | null;
    failed_at: Date | null;
    reason: UnreachableReason | null;
    http_status: number | null;
    /** For the creator. */
    detail: string | null;
  };
  /** Blocks of public content, by the text of their CID (version 1, base32). */
  content_blocks: { cid: string; bytes: Buffer; created_at: Generated<Date> };
  registration_jobs: {
    id: string;
    wallet: string;
    /** The API key or connected app that sent it; null: a login of the wallet. */
    api_key_id: Generated<string | null>;
    status: 'queued' | 'completed' | 'failed';
    /** The request's body, sealed; dropped once the job has ended. */
    body: Buffer | null;
    error: JSONColumnType<Record<string, unknown>> | null;
    listing_id: string | null;
    /** The listing that the job changes; null where it registers one. */
    updates: Generated<string | null>;
    /** Warnings, which refuse nothing; null where there are none. */
    warnings: JSONColumnType<{ path: string; message: string }[]> | null;
    created_at: Generated<Date>;
  };
  credentials: {
    address: string;
    buyer: string;
    listing_address: string;
    rental_model: RentalModel;
    /** False once revoked. */
    valid: boolean;
    purchased_at: Date;
    expires_at: Date | null;
    slot: bigint;
  };
  balances: {
    address: string;
    buyer: string;
    listing_address: string;
    balance_lamports: bigint;
    max_price_lamports: bigint;
    highest_sequence: bigint;
    /** The charge window as on-chain: bit `i` of the 256 tells whether `highest - i` was consumed. */
    window_bits: Buffer;
    slot: bigint;
  };
  escrows: {
    address: string;
    listing_address: string;
    /** Not withdrawn yet. */
    earnings_lamports: bigint;
    /** Ever earned. */
    total_earned_lamports: bigint;
    slot: bigint;
  };
  /** Sums over all listings of a creator; triggers on `escrows` and `listings` keep them. */
  creator_earnings: {
    creator: string;
    /** Published ones. */
    listing_count: number;
    earned_lamports: bigint;
    withdrawable_lamports: bigint;
  };
  /** The newest finalized transaction of the program that is in the index. */
  index_cursor: { program_id: string; signature: string };
  /** Accounts to be read again, at `finalized`, once this slot is. */
  unfinalized_accounts: { address: string; slot: bigint };
  runs: {
    id: string;
    listing_id: string;
    version_id: string;
    wallet: string;
    /** The API key or connected app that began it; null: a login of the wallet. */
    api_key_id: Generated<string | null>;
    status: 'running' | 'completed' | 'failed' | 'undelivered';
    idempotency_key: string | null;
    request_digest: Buffer;
    cost_lamports: Generated<bigint>;
    duration_ms: number | null;
    /** The output, sealed. */
    output: Buffer | null;
    /** Its bytes, sealed. */
    output_bytes: GeneratedAlways<number | null>;
    created_at: Generated<Date>;
    finished_at: Date | null;
    /** Callers that wait for the answer, on all replicas. */
    waiters: Generated<number>;
    /** When the last of them left without it; null while a caller waits. */
    left_at: Generated<Date | null>;
    /** The run goes on without a waiting caller. */
    keeps_going: Generated<boolean>;
    /** Why the run is to stop; set once, while it runs. */
    stop_reason: Generated<'cancelled' | 'caller_left' | null>;
    /** How the agent ended, while the charge is not confirmed yet; the output is there then, and held back. */
    outcome: Generated<'completed' | 'failed' | null>;
    /** When the first output left before the run had ended; such a run is never credited. */
    output_left_at: Generated<Date | null>;
    /** Of an `undelivered` run: the error that its caller got. */
    error: Generated<{ code: ErrorCode; message: string } | null>;
    /** Why it did not complete, as the creator of its agent is told. */
    failure_class: Generated<RunFailureClass | null>;
    failure_http_status: Generated<number | null>;
    /** Random, so that the digests in a receipt say nothing to those who are not given it. */
    salt: Generated<Buffer | null>;
    input_digest: Generated<Buffer | null>;
    output_digest: Generated<Buffer | null>;
    /** The free run of a wallet without a rental. */
    is_trial: Generated<boolean>;
  };
  /** The most that the results of a wallet, or of a listing, take; exact when the oldest of them are removed. */
  kept_results: { kind: 'wallet' | 'listing'; holder: string; bytes: bigint };
  /** Free runs that wallets have had. */
  trials: {
    wallet: string;
    listing_id: string;
    run_id: string;
    taken_at: Generated<Date>;
    /** The sender's address, or its network; kept for a day. */
    address: string | null;
  };
  cancelled_keys: { wallet: string; idempotency_key: string; created_at: Generated<Date> };
  files: {
    id: string;
    wallet: string;
    /** The API key or connected app that sent it; null: a login of the wallet. */
    api_key_id: string | null;
    media_type: string;
    size_bytes: Generated<number>;
    is_complete: Generated<boolean>;
    created_at: Generated<Date>;
    expires_at: Date;
  };
  /** The content of a file in sealed parts, so that no file is ever whole in memory while it comes in. */
  file_parts: { file_id: string; position: number; sealed: Buffer };
  seats: {
    run_id: string;
    listing_id: string;
    wallet: string | null;
    /** Order in which slots were taken. */
    place: Generated<bigint>;
    expires_at: Date;
  };
  /** Runs that wait for a slot of their listing. */
  seat_line: {
    run_id: string;
    listing_id: string;
    wallet: string;
    is_priority: boolean;
    /** Whose turn it is: the waiting runs of one wallet and class share it; the lowest goes. */
    turn: bigint;
    /** Order of arrival. */
    place: Generated<bigint>;
    expires_at: Date;
  };
  /** Payments by HTTP 402. */
  payments: {
    /** Of the payer's transaction, base58. It names the payment. */
    signature: string;
    protocol: 'mpp' | 'x402';
    /** The payer and the service alone know it. */
    challenge_id: string;
    /** The payer, whose balance it becomes. */
    wallet: string;
    listing_id: string;
    /** The price of a run that the payer agreed to. */
    price_lamports: bigint;
    /** The worth of the payment: for the balance, its rent and the network's fee. */
    lamports: bigint;
    /** Units of USDC that the payer pays, of which 1,000,000 are one; null for a payment in SOL. */
    units: bigint | null;
    /** The payer's own name for the payment, under which it pays for a listing once. */
    identifier: string | null;
    /**
     * `received`: recorded, its transaction may land. `landed`: the till has the money. `funded`: it is a balance of the
     * payer. `refunded`: it went back. `failed`: it never landed, and nothing was taken. `lost`: a fork took it back after
     * the till had passed it on.
     */
    state: Generated<'received' | 'landed' | 'funded' | 'refunded' | 'failed' | 'lost'>;
    /** Neither of its transactions can be taken back any more. */
    is_final: Generated<boolean>;
    /** The payer's transaction as it is sent; null once the payment is final. */
    signed_bytes: Buffer | null;
    /** It never lands once the finalized chain is higher. */
    last_valid_block_height: bigint;
    /** The till's transaction: into the payer's balance, or back. */
    transfer_kind: 'fund' | 'refund' | null;
    transfer_signature: string | null;
    transfer_bytes: Buffer | null;
    transfer_last_valid_block_height: bigint | null;
    /** The payer's part of it: in its balance, or returned. */
    transfer_lamports: bigint | null;
    /** Units of USDC that are returned. */
    transfer_units: bigint | null;
    transfer_rent_lamports: bigint | null;
    transfer_fee_lamports: bigint | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
    next_attempt_at: Generated<Date>;
    attempts: Generated<number>;
  };
  charges: {
    run_id: string;
    wallet: string;
    listing_id: string;
    balance_address: string;
    price_lamports: bigint;
    sequence: bigint;
    state: ChargeState;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
    /** While it is signed or confirmed: when the reconciler looks at it next. */
    next_attempt_at: Generated<Date>;
    /** How often the reconciler has looked at it without an end. */
    attempts: Generated<number>;
    /** The program's error code of a charge that failed on-chain, where it gave one. */
    failure_code: Generated<number | null>;
    /** When a transaction of it was confirmed first; stays when a fork drops that. */
    confirmed_at: Generated<Date | null>;
    /** Its output may leave once it is final, and not before. */
    awaits_finality: Generated<boolean>;
  };
  /** Values derived from keys: a wrong key is found at the start. */
  key_checks: { name: 'master' | 'next_master'; value: Buffer };
  /** The keys that sign and authenticate for the service. The first of each purpose comes from the master key. */
  service_keys: {
    purpose: string;
    /** From 1, by purpose. */
    number: number;
    /** Names the key; nothing can be derived from it. */
    kid: string;
    /** Null once the key has ended. */
    sealed: Buffer | null;
    /** Null where only the service checks its signatures. */
    public_key: Buffer | null;
    made_at: Generated<Date>;
    /** From then on it is the one in use, until a later one is. */
    signs_from: Generated<Date>;
    /** Until when its signatures are accepted; null: no end is set. */
    accepted_until: Generated<Date | null>;
    /** When it was ended because it had leaked. */
    revoked_at: Generated<Date | null>;
  };
  /** When the agent of a version was reached last. */
  agent_contacts: { version_id: string; reached_at: Date };
  charge_signatures: {
    signature: string;
    run_id: string;
    /** The transaction; null once the charge is final. */
    signed_bytes: ColumnType<Buffer | null, Buffer, null>;
    last_valid_block_height: bigint;
    created_at: Generated<Date>;
  };
  credits: {
    /** The run that failed by our fault. */
    run_id: string;
    wallet: string;
    listing_id: string;
    /** The free run that used the credit. */
    used_by_run_id: string | null;
    created_at: Generated<Date>;
    /** The reason of the operator who gave it; null for one that the service gave. */
    reason: Generated<string | null>;
  };
  /** Undelivered runs that may be owed a credit, or have to give one back; triggers on runs, charges and credits write them. */
  undelivered_runs: {
    run_id: string;
    noted_at: Generated<Date>;
    /** When the reconciler looks at it next. */
    next_attempt_at: Generated<Date>;
    attempts: Generated<number>;
  };
  /** Ended runs without a charge on-chain; triggers on `runs` and `charges` write them. */
  run_log_entries: {
    run_id: string;
    /** Order of arrival. */
    seq: Generated<bigint>;
    /** Null while the run waits for one. */
    batch: bigint | null;
    leaf_index: number | null;
  };
  run_log_batches: {
    /** Counts from 1. */
    number: bigint;
    leaf_count: number;
    previous_root: Buffer;
    root: Buffer;
    /** The Merkle tree: its levels one after the other, leaves first, 32 bytes a node. */
    nodes: Buffer;
    created_at: Generated<Date>;
    /** The final transaction; null until there is one. */
    signature: Generated<string | null>;
    /** While there is none: when it is looked at next. */
    next_attempt_at: Generated<Date>;
    attempts: Generated<number>;
  };
  run_log_signatures: {
    signature: string;
    batch: bigint;
    signed_bytes: Buffer;
    last_valid_block_height: bigint;
    created_at: Generated<Date>;
  };
  /** What operators decided; see `moderation/operator-actions.ts`. Rows are only added. */
  operator_actions: {
    id: GeneratedAlways<bigint>;
    action: string;
    subject: string;
    reason: string | null;
    operator: string;
    signature: string | null;
    details: JSONColumnType<Record<string, unknown>> | null;
    created_at: Generated<Date>;
  };
  /** Reports of wallets about listings. */
  listing_reports: {
    id: string;
    listing_id: string;
    wallet: string;
    reason: ReportReason;
    text: string;
    /** Address of the sender, or its network; kept for 24 hours. */
    address: string | null;
    created_at: Generated<Date>;
    /** When an operator closed it; null while it is open. */
    closed_at: Date | null;
  };
  /** What happened to wallets; see `events/`. */
  events: {
    id: Generated<string>;
    added: GeneratedAlways<bigint>;
    /** Place in the wallet's order; null until it is read. */
    position: bigint | null;
    wallet: string;
    name: EventName;
    subject: string;
    /** Counts the events of a wallet about the subject. */
    sequence: bigint;
    data: JSONColumnType<Record<string, unknown>>;
    /** The API key that began the run, or asked for the approval. */
    api_key_id: string | null;
    created_at: Generated<Date>;
  };
  /** Addresses that hear of events; see `events/webhooks/`. */
  webhooks: {
    id: Generated<string>;
    wallet: string;
    /** Null: its secret signs callbacks of runs. */
    url: string | null;
    /** Null: all. */
    events: EventName[] | null;
    sealed_secrets: Buffer;
    /** Failed attempts since the last success. */
    failures: Generated<number>;
    failing_since: Date | null;
    /** Until then nothing is sent, because it failed. */
    rests_until: Generated<Date>;
    paused_at: Date | null;
    created_at: Generated<Date>;
  };
  /** Which events wallets hear of, where they have set it. */
  event_settings: { wallet: string; low_balance_runs: number };
  /** Addresses of people that hear of events; see `events/email/`. */
  email_addresses: {
    wallet: string;
    /** The address, and the token that unsubscribes it. */
    sealed_address: Buffer;
    unsubscribe_digest: Buffer;
    /** Null: the default ones. */
    events: EventName[] | null;
    confirmed_at: Date | null;
    /** The mail server refused it then, which ended its confirmation. */
    refused_at: Date | null;
    /** Null once it is confirmed. */
    confirm_digest: Buffer | null;
    confirm_until: Date | null;
    /** Position of the last event that was told, or left out. */
    told_until: Generated<bigint>;
    last_sent_at: Date | null;
  };
  /** Confirmations that were sent, for their bounds; kept for 24 hours. */
  email_confirmations: {
    wallet: string;
    address_digest: Buffer;
    /** Address of the caller, or its network. */
    network: string | null;
    sent_at: Generated<Date>;
  };
  /** The contexts that callers of A2A gave to their runs. */
  a2a_contexts: { run_id: string; context_id: string };
  /** Where the events of one run go. */
  run_callbacks: {
    run_id: string;
    url: string;
    events: EventName[] | null;
    /** Requests in the form of another protocol. */
    sealed_push: Buffer | null;
  };
  /** Events for webhooks, with their attempts. */
  webhook_deliveries: {
    webhook_id: string;
    event_id: string;
    /** Of a run's callback. */
    callback_url: string | null;
    status: Generated<'pending' | 'delivered' | 'failed'>;
    attempts: JSONColumnType<WebhookAttempt[], string | undefined>;
    next_attempt_at: Generated<Date>;
    created_at: Generated<Date>;
  };
}
