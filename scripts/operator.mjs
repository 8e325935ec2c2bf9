// `npm run operator -- <command>`: builds changed packages, then runs the command.
import { build } from './build.mjs';

await build();
await import('../server/dist/operator/main.js');
