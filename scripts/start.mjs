// `npm start`: builds what has changed, then becomes the server.
import { build } from './build.mjs';

build();
await import('../server/dist/main.js');
