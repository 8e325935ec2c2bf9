import type { RentedTool, RentedToolset } from '@agent-rental/tools';
import { createHash } from 'node:crypto';

/** Watches a list of tools after it was given to a client, and tells when it is another one. */
export interface ListWatch {
  /** The client was given this list; from the first time on the list is looked at again and again. */
  given(tools: readonly RentedTool[]): void;
  stop(): void;
}

/** Makes a watch. Its timer keeps no process alive; a look that fails is made again at the next time. */
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

/** Digest of everything that clients are shown of tools. */
function digestOf(tools: readonly RentedTool[]): string {
  const shown = tools.map(({ name, title, description, inputSchema }) => [
    name,
    title,
    description,
    inputSchema,
  ]);
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64');
}
