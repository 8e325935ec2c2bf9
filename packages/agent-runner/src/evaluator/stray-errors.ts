interface GlobalEvents {
  addEventListener(
    type: 'unhandledrejection' | 'error',
    listener: (event: { preventDefault(): void; reason?: unknown; error?: unknown }) => void,
  ): void;
}

/**
 * Rejects with the first error that the code did not catch: in a timer, or in a promise without `await`. Such an error would
 * otherwise end the process before it can send the reason.
 */
export function strayError(): Promise<never> {
  return new Promise((_resolve, reject) => {
    if ('addEventListener' in globalThis) {
      const events = globalThis as unknown as GlobalEvents;
      events.addEventListener('unhandledrejection', (event) => {
        event.preventDefault();
        reject(event.reason);
      });
      events.addEventListener('error', (event) => {
        event.preventDefault();
        reject(event.error);
      });
    } else {
      process.on('unhandledRejection', reject);
      process.on('uncaughtException', reject);
    }
  });
}
