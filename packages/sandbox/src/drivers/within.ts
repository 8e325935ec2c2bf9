export class TookTooLongError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Waits for work, but not longer than `timeoutMs`. The work itself continues, and the caller has to undo its late result.
 * @throws TookTooLongError
 */
export async function within<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new TookTooLongError(`could not ${what} within ${timeoutMs} ms`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
