/** The checks of a server that gets requests, by name. A check rejects when its part is missing. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void> | void>>;

/** Whether the server is ready, and if not, why. */
export interface Readiness {
  ready: boolean;
  reasons: string[];
  /** Further facts, by name. */
  details: Readonly<Record<string, unknown>>;
}

/** A check that takes longer has failed. */
const CHECK_TIMEOUT_MS = 3_000;
/** Strangers may ask as often as they like: the parts are asked this often at most. */
const REMEMBERED_MS = 1_000;

/**
 * Makes the readiness of a server.
 *
 * @param isDraining read at each request: a load balancer must see it first
 * @param details read at each request, from memory
 */
export function createReadiness(
  checks: ReadinessChecks,
  isDraining: () => boolean,
  details: () => Readonly<Record<string, unknown>> = () => ({}),
): () => Promise<Readiness> {
  let remembered: { at: number; reasons: Promise<string[]> } | undefined;
  return async () => {
    if (!remembered || Date.now() - remembered.at > REMEMBERED_MS) {
      remembered = { at: Date.now(), reasons: failing(checks) };
    }
    const reasons = [...(isDraining() ? ['draining'] : []), ...(await remembered.reasons)];
    return { ready: reasons.length === 0, reasons, details: details() };
  };
}

async function failing(checks: ReadinessChecks): Promise<string[]> {
  const outcomes = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ((await passes(check)) ? [] : [name])),
  );
  return outcomes.flat();
}

async function passes(check: () => Promise<void> | void): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, CHECK_TIMEOUT_MS, false)));
  const checked = (async () => check())().then(
    () => true,
    () => false,
  );
  const passed = await Promise.race([checked, late]);
  clearTimeout(timer);
  return passed;
}
