/**
 * The reasons why a local chain could not start or go on.
 * - `invalid_options`: an option has the wrong form.
 * - `port_in_use`: another program listens on the RPC port or the websocket port after it.
 * - `state_in_use`: a live chain already writes to this state folder.
 * - `state_damaged`: the state folder holds something that a crash cannot have caused.
 * - `program_unusable`: a program's `.so` is missing or the runtime refuses it.
 * - `start_failed`: anything else; the message has the cause.
 */
const CODES = [
  'invalid_options',
  'port_in_use',
  'state_in_use',
  'state_damaged',
  'program_unusable',
  'start_failed',
] as const;

export type LocalChainErrorCode = (typeof CODES)[number];

/** A failure with a message of one line that names the cause. */
export class LocalChainError extends Error {
  override readonly name = 'LocalChainError';
  readonly code: LocalChainErrorCode;

  constructor(code: LocalChainErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether text that crossed a process boundary is one of the codes. */
export function isLocalChainErrorCode(value: string): value is LocalChainErrorCode {
  return (CODES as readonly string[]).includes(value);
}
