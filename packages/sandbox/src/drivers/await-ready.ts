import {
  parseReadyMessage,
  PROTOCOL_VERSION,
  ProtocolViolation,
  type SandboxEntry,
} from '@agent-rental/agent-runner';
import { type Sandbox, SandboxStartError } from '../sandbox.js';
import { TookTooLongError, within } from './within.js';

async function readReadyLine(sandbox: Sandbox, entry: SandboxEntry): Promise<void> {
  const first = await sandbox.lines[Symbol.asyncIterator]().next();
  if (first.done === true) {
    const { reason, code, signal, stderrTail } = await sandbox.exited;
    const how = signal ?? (code === null ? '' : `code ${code}`);
    throw new SandboxStartError(`${reason} ${how} before it was ready: ${stderrTail.trim() || 'no message'}`);
  }
  const { protocol } = parseReadyMessage(first.value, entry);
  if (protocol !== PROTOCOL_VERSION) {
    throw new SandboxStartError(`it speaks protocol ${protocol}, this host ${PROTOCOL_VERSION}`);
  }
}

/**
 * Waits for the ready line of a new sandbox, and removes it from `lines`.
 * @throws SandboxStartError after killing the sandbox, when the line does not come in time or is another one.
 */
export async function awaitReady(
  sandbox: Sandbox,
  { entry, timeoutMs }: { entry: SandboxEntry; timeoutMs: number },
): Promise<void> {
  try {
    await within(readReadyLine(sandbox, entry), timeoutMs, 'read its ready line');
  } catch (error) {
    await sandbox.kill();
    if (error instanceof TookTooLongError) {
      throw new SandboxStartError(`it was not ready after ${timeoutMs} ms`, { cause: error });
    }
    if (error instanceof ProtocolViolation) throw new SandboxStartError(error.message, { cause: error });
    throw error;
  }
}
