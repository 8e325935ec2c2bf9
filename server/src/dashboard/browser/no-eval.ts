import { config } from 'zod';

/** The policy of the pages forbids code made from text; without this, each page would try it once. */
config({ jitless: true });
