import { creatorLine } from '@agent-rental/tools';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** Most faults in one message, and its longest text. */
const MOST = { faults: 5, characters: 500 };

/** One fault that the SDK found in a request. */
interface Fault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * The same handler; parameters of a wrong form are `InvalidParams`, in words. The SDK throws its list of faults as the JSON text
 * of an error, for most methods as an internal one.
 */
export function withPlainErrors<Args extends unknown[], Result>(
  method: string,
  handler: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await handler(...args);
    } catch (error) {
      const faults = faultsOf(error);
      if (faults === undefined) throw error;
      const words = faults.slice(0, MOST.faults).map(({ path, message }) => `${path.join('.')}: ${message}`);
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        creatorLine(`The parameters of ${method} have a wrong form. ${words.join('; ')}`, MOST.characters),
      );
    }
  };
}

/** The faults in an error's text; undefined for any other error. */
function faultsOf(error: unknown): Fault[] | undefined {
  if (!(error instanceof Error)) return undefined;
  try {
    const faults: unknown = JSON.parse(error.message.slice(Math.max(error.message.indexOf('['), 0)));
    return Array.isArray(faults) && faults.length > 0 && faults.every(isFault) ? faults : undefined;
  } catch {
    return undefined;
  }
}

function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'path' in value && Array.isArray(value.path);
}
