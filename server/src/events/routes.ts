import { operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { ownerOf } from '../access/owner.js';
import type { Db } from '../database/connection.js';
import { addOperation } from '../http/operation-route.js';
import { readEvents } from './read-events.js';

/** Adds the feed of events. */
export function eventRoutes(app: FastifyInstance, db: Db): void {
  addOperation(app, operations.listEvents, async ({ principal, query }) => {
    const read = await readEvents(db, ownerOf(principal), query);
    const cursor = read.at(-1)?.cursor ?? query.after;
    return { events: read.map(({ event }) => event), ...(cursor === undefined ? {} : { cursor }) };
  });
}
