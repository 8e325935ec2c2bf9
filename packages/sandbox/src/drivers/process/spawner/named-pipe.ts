import { closeSync, constants, openSync, unlinkSync } from 'node:fs';

/**
 * Opens one end of a named pipe; does not wait for the other end.
 *
 * @param end `blocks`: reads and writes wait, as programs expect of their stdio.
 * @returns the descriptor.
 */
export function openPipeEnd(
  path: string,
  end: { reads: boolean; blocks: boolean; removesName: boolean },
): number {
  const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants;
  // The open of one end waits for the other end, unless both are open.
  const both = openSync(path, O_RDWR | O_NONBLOCK);
  try {
    return openSync(path, (end.reads ? O_RDONLY : O_WRONLY) | (end.blocks ? 0 : O_NONBLOCK));
  } finally {
    closeSync(both);
    if (end.removesName) unlinkSync(path);
  }
}
