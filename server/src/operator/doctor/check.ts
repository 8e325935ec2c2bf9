/** How one part is. */
export interface Finding {
  status: 'ok' | 'warning' | 'problem';
  /** The finding, without a secret. */
  detail: string;
  /** The remedy; empty where all is well. */
  advice: string;
}

/** A finding under the name of its part. */
export interface Checked extends Finding {
  name: string;
}

export const ok = (detail: string): Finding => ({ status: 'ok', detail, advice: '' });
export const warning = (detail: string, advice: string): Finding => ({ status: 'warning', detail, advice });
export const problem = (detail: string, advice: string): Finding => ({ status: 'problem', detail, advice });

/** A finding for a part that needs a missing part. The missing part has its own line. */
export const notChecked = (what: string): Finding => warning(`not checked: ${what}`, 'Mend that first.');

/**Time limit of every check, except the sandbox's, which starts processes. */
const CHECK_TIMEOUT_MS = 10_000;

/** Runs a check within a bounded time. An error is a problem, in the words of its message. */
export async function check(
  name: string,
  find: () => Finding | Promise<Finding>,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<Checked> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(
      () =>
        resolve(problem(`no answer within ${timeoutMs / 1000} s`, 'Look at its log, and at the network.')),
      timeoutMs,
    );
  });
  const found = (async () => find())().catch((error: unknown) =>
    problem(error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error), ''),
  );
  const finding = await Promise.race([found, late]);
  clearTimeout(timer);
  return { name, ...finding };
}
