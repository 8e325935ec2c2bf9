import { fileURLToPath } from 'node:url';

/**
 * Absolute path of the committed program, the bytes that `scripts/build-program.sh` gives. Node only, which is
 * why it is a subpath of its own: `@agent-rental/program-client/artifact`.
 */
export function marketplaceSoPath(): string {
  return fileURLToPath(new URL('../artifacts/marketplace.so', import.meta.url));
}
