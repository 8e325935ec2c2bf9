import { once } from 'node:events';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError, UsageError } from '../errors.js';
import { servePracticeModel } from '../practice-model/serve-model.js';

/** `agent-rental model`: serves the practice model until Ctrl-C. */
export async function modelCommand({ port }: { port?: string }, environment: CliEnvironment): Promise<void> {
  const number = Number(port);
  if (!Number.isInteger(number) || number < 0 || number > 65_535) throw new UsageError('--port is no port.');
  const model = await servePracticeModel(number).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      error.code === 'EADDRINUSE'
        ? `Port ${number} is taken. If the practice model already listens there, nothing is left to do.`
        : error.message,
    );
  });
  environment.out(
    `The practice model listens at ${model.baseUrl}. It only repeats its input. Ctrl-C ends it.`,
  );
  if (!environment.signal.aborted) await once(environment.signal, 'abort');
  await model.close();
}
