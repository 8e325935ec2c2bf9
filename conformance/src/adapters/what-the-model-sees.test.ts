import { operations, refusalMessage, REFUSAL_TEXT } from '@agent-rental/contract';
import { createStandIn, type StandInAgent, type StandInOutcome } from '@agent-rental/stand-in';
import { describe, expect, it } from 'vitest';
import { clientOver, FRAMEWORKS, isLeftOut, toolsOverMcp, type SeenResult } from './frameworks.js';

const ID = 'echo-aaaaaa';
const ANSWER = 'the total is 41.80 EUR';

const agentSaying = (outcome: StandInOutcome): StandInAgent =>
  async function* () {
    yield 'a piece that came early';
    return outcome;
  };

const LONG = `${ANSWER}\n${Array.from({ length: 6_000 }, (_, index) => `line ${index}`).join('\n')}\nthe end`;

const CASES: Readonly<Record<string, StandInOutcome>> = {
  string: { output: `After all, ${ANSWER}.` },
  object: { output: { total: ANSWER, lines: [{ id: 1, ok: true }] } },
  long: { output: LONG },
  'long object': { output: { total: ANSWER, text: LONG.slice(ANSWER.length) } },
  empty: { output: '' },
  failed: { status: 'failed', output: `No. Perhaps ${ANSWER}.` },
};

/** The full result without the middle of long texts. */
function forReview({ texts, isError, structured }: SeenResult): string {
  const shown = texts.map((text) =>
    text.length <= 1_000
      ? text
      : `${text.slice(0, 120)}\n… ${text.length - 520} characters more …\n${text.slice(-400)}`,
  );
  const beside = structured === undefined ? [] : [`beside it: ${JSON.stringify(structured)}`];
  return [isError ? 'error' : 'result', ...shown.map((text) => `"""\n${text}\n"""`), ...beside].join('\n');
}

const countOf = (seen: SeenResult, words: string) => seen.texts.join('\n').split(words).length - 1;

for (const [framework, call] of Object.entries(FRAMEWORKS)) {
  describe.skipIf(isLeftOut(framework))(`the model sees in ${framework}`, () => {
    it.each(Object.entries(CASES))(
      'of a run with a %s output exactly the reviewed text',
      async (name, outcome) => {
        const standIn = createStandIn([{ id: ID, run: agentSaying(outcome) }]);
        const seen = await call(clientOver(standIn.fetch), 'echo_aaaaaa', { agent_id: ID, task: 'Sum.' });
        expect(countOf(seen, ANSWER)).toBe(name === 'empty' ? 0 : 1);
        expect(countOf(seen, 'a piece that came early')).toBe(0);
        expect(seen.isError).toBe(outcome.status === 'failed');
        expect(forReview(seen)).toMatchSnapshot();
      },
    );

    it('every character of a long output, once, by reading on', async () => {
      const standIn = createStandIn([{ id: ID, run: agentSaying({ output: LONG }) }]);
      const client = clientOver(standIn.fetch);
      let seen = await call(client, 'echo_aaaaaa', { agent_id: ID, task: 'Sum.' });
      let text = '';
      for (;;) {
        const [, part = '', next] =
          /^([^]*?)\n{1,2}\[agent-rental\][^]*?(?:"offset": (\d+)|$)/.exec(seen.texts.join('\n')) ?? [];
        text += part;
        if (next === undefined) break;
        seen = await call(client, 'get_run', { run_id: 'run_1', offset: Number(next) });
      }
      expect(text).toBe(LONG);
      expect(standIn.charged).toBe(2_000_000);
    });

    it('of a run that goes on its id and what to do next', async () => {
      const standIn = createStandIn([{ id: ID }]);
      const running = operations.getRun.response.parse({ run_id: 'run_9', agent_id: ID, status: 'running' });
      const client = clientOver(async (input, init) => {
        const isOfRun = new Request(input, init).url.includes('/v1/runs/');
        return isOfRun ? Response.json(running) : standIn.fetch(input, init);
      });
      const seen = await call(client, 'get_run', { run_id: 'run_9' });
      expect(countOf(seen, 'run_9')).toBe(1);
      expect(forReview(seen)).toMatchSnapshot();
    });

    it('of a run that was started, and whose answer the service could not give, how to get it', async () => {
      const standIn = createStandIn([{ id: ID }]);
      const refusal = REFUSAL_TEXT.chargePending('run_9');
      const { reason } = refusal;
      const message = refusalMessage(refusal);
      const error = { code: 'service_unavailable', message, reason, status: 503, run_id: 'run_9' };
      const client = clientOver(async (input, init) => {
        const isRun = new Request(input, init).url.includes('/v1/execute');
        return isRun ? Response.json({ error }, { status: 503 }) : standIn.fetch(input, init);
      });
      const seen = await call(client, 'echo_aaaaaa', { agent_id: ID, task: 'Sum.' });
      expect(seen.isError).toBe(true);
      expect(forReview(seen)).toMatchSnapshot();
    });

    it('of a call that is refused the reason and what to do, and no stack trace', async () => {
      const standIn = createStandIn([{ id: ID, rental: 'low_balance' }]);
      const seen = await call(clientOver(standIn.fetch), 'run_agent', { agent_id: ID, task: 'Sum.' });
      expect(seen.isError).toBe(true);
      expect(forReview(seen)).not.toMatch(/\n\s+at /);
      expect(forReview(seen)).toMatchSnapshot();
    });
  });
}

it('the model is given exactly the definitions of tools that were reviewed', async () => {
  const tools = await toolsOverMcp(clientOver(createStandIn([{ id: ID }]).fetch));
  expect(tools.map(({ name }) => name)).toContain('search_listings');
  expect(tools).toMatchSnapshot();
});
