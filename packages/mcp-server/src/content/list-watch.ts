import type { RentedTool, RentedToolset } from '@agent-rental/tools';
import { createHash } from 'node:crypto';

/** Watches a list of tools that a client has, and reports a change. */
export interface ListWatch {
  /** Records the client's list. The first call starts the polling. */
  given(tools: readonly RentedTool[]): void;
  stop(): void;
}

/** Makes a watch. Its timer keeps no process alive. After a failed poll, the next poll tries again. */
export function watchList({
  toolset,
  everyMs,
  onChange,
}: {
  toolset: Pick<RentedToolset, 'refresh'>;
  everyMs: number;
  onChange(): void;
}): ListWatch {
  let known: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const now = digestOf(await toolset.refresh());
    if (now === known) return;
    known = now;
    onChange();
  };
  return {
    given(tools) {
      known = digestOf(tools);
      timer ??= setInterval(() => void look().catch(() => undefined), everyMs).unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** Digest of all fields of tools that clients see. */
function digestOf(tools: readonly RentedTool[]): string {
  const shown = tools.map(({ name, title, description, inputSchema }) => [
    name,
    title,
    description,
    inputSchema,
  ]);
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64');
}
