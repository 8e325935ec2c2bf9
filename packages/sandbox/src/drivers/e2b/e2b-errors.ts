import { SandboxStartError } from '../../sandbox.js';

const MAX_DETAIL_CHARACTERS = 300;

export interface E2bAccess {
  apiKey: string;
  template: string | undefined;
}

function statusOf(error: Error): number | undefined {
  if (error.name === 'AuthenticationError') return 401;
  const { statusCode } = error as { statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : undefined;
}

/** Whether E2B refused because of too many requests or sandboxes. */
export function isTooMany(error: unknown): boolean {
  return error instanceof Error && statusOf(error) === 429;
}

function advice(error: Error, template: string | undefined): string {
  const status = statusOf(error);
  if (status === 401) return 'E2B refused the key (401): set E2B_API_KEY to a valid one';
  if (status === 403 || status === 404) {
    return `E2B refused the template "${template ?? 'base'}" (${status}): set E2B_TEMPLATE to one that the key may use`;
  }
  if (isTooMany(error)) {
    return (
      'E2B refused for its limits (429): set E2B_MAX_SANDBOXES and E2B_CREATES_PER_SECOND to the limits of the plan, ' +
      'less the other uses of the account'
    );
  }
  if (status === 503) return 'E2B has no capacity at the moment (503); it is tried again';
  if (status !== undefined && status >= 500) return `E2B failed (${status}); it is tried again`;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') {
    return 'E2B did not answer in time, or the sandbox ended meanwhile; it is tried again';
  }
  if (error instanceof TypeError)
    return 'E2B cannot be reached; look at the network, E2B_DOMAIN and E2B_API_URL';
  return 'E2B did not start a sandbox';
}

/**
 * Explains an error of E2B's SDK to the operator. The SDK has three unrelated kinds of errors. The error itself is not the
 * `cause`, because the log would then show its unknown content.
 */
export function explainE2bError(error: unknown, { apiKey, template }: E2bAccess): SandboxStartError {
  if (error instanceof SandboxStartError) return error;
  if (!(error instanceof Error)) return new SandboxStartError('E2B did not start a sandbox');
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const detail = `${error.message}${cause}`.replaceAll(apiKey, '[key]').slice(0, MAX_DETAIL_CHARACTERS);
  return new SandboxStartError(`${advice(error, template)}: ${detail}`);
}
