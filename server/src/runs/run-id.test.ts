import { expect, it } from 'vitest';
import * as z from 'zod';
import { newRunId, runIdsOf } from './run-id.js';

it("leads from a request's id to its runs, and to no others [OPS-133]", () => {
  const request = 'req_6ffe2a14-04e5-41c5-8a43-8e9a7f0d4f7e';
  const { least, greatest } = runIdsOf(request);
  const isOfRequest = (id: string) => id >= least && id <= greatest;
  const ids = Array.from({ length: 100 }, () => newRunId(request));
  expect(ids.every(isOfRequest)).toBe(true);
  // A request may begin several runs.
  expect(new Set(ids).size).toBe(100);
  for (const id of [newRunId(), newRunId('another')]) expect(isOfRequest(id)).toBe(false);
  for (const id of [...ids, newRunId()]) expect(z.uuid().parse(id)).toBe(id);
});
