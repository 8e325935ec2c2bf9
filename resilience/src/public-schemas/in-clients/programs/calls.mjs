import { readFileSync } from 'node:fs';

export const headers = { Authorization: `Bearer ${process.env.TOKEN}` };

/**
 * Visits the address of each group of calls.
 *
 * @param visit gets the address and a function. The function takes a caller, makes all calls of the group with it, and prints
 *   the result of each.
 */
export async function run(visit) {
  for (const { url, calls } of JSON.parse(readFileSync(process.env.GROUPS, 'utf8'))) {
    await visit(url, async (call) => {
      for (const { index, tool, args } of calls) {
        let text;
        try {
          text = JSON.stringify(await call(tool, args)) ?? '';
        } catch (error) {
          text = String(error);
        }
        process.stdout.write(`${JSON.stringify({ index, text })}\n`);
      }
    });
  }
}
