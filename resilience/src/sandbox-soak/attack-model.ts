import type { Attack } from '@agent-rental/sandbox/conformance';
import { listenNode, vendorStream } from '@agent-rental/stand-in';

export type AttackModel = Awaited<ReturnType<typeof startAttackModel>>;

/** Code that a task can name. */
export type RunCode = Pick<Attack, 'name' | 'language' | 'code'>;

const HONEST: Pick<Attack, 'language' | 'code'> = { language: 'javascript', code: 'return 6 * 7;' };

/** Task of a run with an attack, or of an honest run. */
export const taskOf = (attack?: RunCode): string => `code <${attack?.name ?? 'honest'}>`;

/**
 * Starts a model server on loopback that makes its agent run the code of the task. Its first answer calls the tool with the code,
 * and its second answer ends the run.
 */
export async function startAttackModel(attacks: readonly RunCode[]) {
  let told = 0;
  const byName = new Map(attacks.map((attack) => [attack.name, attack]));
  const { baseUrl, close } = await listenNode(async (request) => {
    const { messages } = (await request.json()) as { messages: { role: string; content: unknown }[] };
    if (messages.some(({ role }) => role === 'tool')) return vendorStream('openai', { text: ['done'] });
    const task = JSON.stringify(messages.find(({ role }) => role === 'user')?.content ?? '');
    const attack = byName.get(/code <([^>]*)>/.exec(task)?.[1] ?? '');
    if (attack) told += 1;
    const { language, code } = attack ?? HONEST;
    const call = { name: `run_${language}`, arguments: [JSON.stringify({ code })] };
    return vendorStream('openai', { toolCalls: [call] });
  });
  return {
    url: `${baseUrl}/v1`,
    get told() {
      return told;
    },
    close,
  };
}
