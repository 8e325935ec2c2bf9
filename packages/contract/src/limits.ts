/** Numbers that texts tell users. Texts, queries and tests share these constants, so that each text matches the service. */

/** Hours for which the result of a run is kept. */
export const RESULT_KEPT_HOURS = 24;

/** MiB of results that are kept for a wallet, and for a listing. The oldest are removed first. */
export const RESULTS_KEPT_MIB = 64;

/** Hours for which a file is kept. */
export const FILE_KEPT_HOURS = 24;

/** Hours over which a spending policy adds up spends. */
export const SPENDING_WINDOW_HOURS = 24;

/** Minutes in which the owner of a wallet can answer an open approval. */
export const APPROVAL_OPEN_MINUTES = 60;

/** Minutes for which the answer is valid: a yes pays for one spend, and a no refuses the same call. */
export const APPROVAL_HOLDS_MINUTES = 10;

/** Open approvals that one API key may have at the same time. */
export const OPEN_APPROVALS_OF_KEY = 10;

/** Seconds after the end of a run in which an equal MCP call gets its answer and pays nothing. */
export const EQUAL_CALL_SECONDS = 30;

/** Runs of one listing at the same time (spec, "Limits"). */
export const SLOTS_PER_LISTING = 20;

/** Hours after its end in which an expired rental still counts as current. */
export const CURRENT_AFTER_HOURS = 24;

/** Hours for which a replaced webhook secret still signs beside the new one. */
export const PREVIOUS_SECRET_HOURS = 24;
/** So long before its end an event tells of it. */
export const EXPIRING_SECRET_HOURS = 6;

/** Runs for samples that the agents of one wallet may cause in 24 hours. */
export const SAMPLE_RUNS_PER_DAY = 20;

/** Days in a row on which the nightly run of a listing fails before the listing counts as failing. */
export const HEALTH_FAILING_DAYS = 3;

/** Days in a row on which the nightly run of a listing fails before search hides the listing. */
export const HEALTH_HIDDEN_DAYS = 30;

/** Nightly runs that the listings of one creator get in 24 hours; further listings wait for the next night. */
export const HEALTH_RUNS_PER_DAY = 20;

/** Free first runs that a listing gives in 24 hours. */
export const TRIALS_OF_LISTING_PER_DAY = 20;

/** Free first runs of a listing within an hour, so that many wallets do not take all of a day at once. */
export const TRIALS_OF_LISTING_PER_HOUR = 5;

/** Free first runs of a listing that one address, or IPv6 network of 64 bits, gets in 24 hours. */
export const TRIALS_OF_ADDRESS_PER_DAY = 3;

/** Free first runs, of all listings together, that a wallet gets in 24 hours. */
export const TRIALS_OF_WALLET_PER_DAY = 5;

/** Lamports that a wallet without any rental has to hold for a free first run. */
export const TRIAL_WALLET_LAMPORTS = 50_000_000n;

/** Paid runs that a review counts at most. */
export const PAID_RUNS_COUNTED = 100;

/** Probes of agents that one wallet may cause in 24 hours. */
export const PROBES_PER_DAY = 100;

/** Seconds for which a caller waits for the confirmation of a charge. */
export const CHARGE_WAIT_SECONDS = 45;

/** Seconds for which a tool call waits for the end of its run; after them it answers with the run's id. */
export const TOOL_WAIT_SECONDS = 45;

/** Credits that a wallet may be given in 24 hours for runs of one listing that were charged and not delivered. */
export const CREDITS_PER_DAY = 5;

/** Minutes after an agent's last answer in which its runs are charged at their start. Later: after the agent's answer. */
export const AGENT_CONTACT_MINUTES = 10;

/** The most of a wallet's rentals, runs or own agents that a list counts. The `total` of a shorter list is exact. */
export const COUNTED_FOR_TOTAL = { rentals: 150, runs: 1_000, agents: 200 } as const;

/** The most bytes of a listing's README, in UTF-8. */
export const README_MAX_BYTES = 20 * 1024;
