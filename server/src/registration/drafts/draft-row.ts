import type { Selectable } from 'kysely';
import type { Database } from '../../database/schema.js';

/** A listing's row while its creator works on it, published or not. */
export type DraftRow = Selectable<Database['listings']>;
