import { button, element, facts, sol, tell } from './elements.js';
import type { Host } from './host.js';

const failed = (error: Error) => tell(error.message);

/** The two answers to a payment. A page of the marketplace shows the amount again, and the wallet signs there. */
export function answers(host: Host, url: string): HTMLElement {
  const pay = async () => {
    await host.openLink(url);
    tell('The page of the marketplace shows the amount again. The wallet signs there.');
  };
  const refuse = async () => {
    await host.say('I do not pay for this.');
    tell('Not paid.');
  };
  return element('p', [button('Pay', pay, failed, 'main'), ' ', button('No', refuse, failed)], 'answers');
}

/** The text of a result. */
export const textOf = (content: readonly { text?: string }[] = []): string =>
  content.map(({ text = '' }) => text).join('\n');

/** The address where the owner of a wallet approves, if a result has one. Pages of the web alone. */
export function webAddress(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\//.test(value) ? value : undefined;
}

/** Where the money of a payment comes from. */
export const BUDGETS: Readonly<Record<string, string>> = {
  run: 'the prepaid balance of this agent',
  rental: 'the wallet',
};

/** A question to the owner of the wallet, with its agent, amount and budget. */
export function question(meta: Record<string, unknown>): HTMLElement | undefined {
  const asked = meta['agent-rental/approval'] as Record<string, unknown> | undefined;
  if (asked === undefined) return undefined;
  return facts([
    ['For', asked['listing_title']],
    ['At most', sol(asked['lamports'])],
    ['Budget', BUDGETS[String(asked['kind'])]],
    ['Asked by', asked['api_key_label']],
  ]);
}
