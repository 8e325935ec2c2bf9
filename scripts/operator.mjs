// `npm run operator -- <command>`: builds what has changed, then does the command.
import { build } from './build.mjs';

await build();
await import('../server/dist/operator/main.js');
